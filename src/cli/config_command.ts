import { type Config, type SettingName, settings } from "@/config.ts";
import { type CommandContext, type ExitCode, exitCodes } from "./command_context.ts";

/** Prints every setting, its value and where it came from; secrets redacted. */
export function configCommand({ config, output }: CommandContext): ExitCode {
  const rows = (Object.keys(settings) as SettingName[]).map((name) => {
    const { text, source }: Config[SettingName] = config[name];
    return { setting: settings[name].key, value: text, source, environment: settings[name].env };
  });
  if (output.wantsJson) {
    output.json(rows);
    return exitCodes.done;
  }
  const width = Math.max(...rows.map(({ setting }) => setting.length));
  const valueWidth = Math.max(...rows.map(({ value }) => value.length));
  for (const { setting, value, source, environment } of rows) {
    const from = source === "default" || source === "none" ? source : `${source} ${environment}`;
    output.line(`${setting.padEnd(width)}  ${value.padEnd(valueWidth)}  ${output.dim(from)}`);
  }
  return exitCodes.done;
}
