export function main(_args: readonly string[]): Promise<number> {
  return Promise.resolve(0);
}
