/** What the box adds to `bash -c true`, at the median: `deno run --no-prompt -A scripts/bench/box_bench.ts`. Aim: under 15 ms. */
import { makeBoxSetting } from "@tests/box/box_setting.ts";

const rounds = 60;
await using box = await makeBoxSetting();
const plain: number[] = [];
const boxed: number[] = [];
for (let round = 0; round < rounds; round++) {
  plain.push(await timed(() => new Deno.Command("bash", { args: ["-c", "true"] }).output()));
  boxed.push(await timed(() => box.bash("true")));
}
const [a, b] = [median(plain), median(boxed)];
console.log(
  `plain ${a.toFixed(1)} ms, boxed ${b.toFixed(1)} ms, added ${(b - a).toFixed(1)} ms at the median of ${rounds}`,
);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1]!;
}
