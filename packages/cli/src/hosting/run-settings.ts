/** The settings of `--profile` and `--set`, which apply to this run alone. */
import { nestSetting, readProfile, type RunSettings } from "@tau/config/settings";
import { parseValue } from "../commands/config-keys.ts";
import type { Io } from "../commands/command.ts";
import { UsageError } from "../process/errors.ts";
import type { SessionOptions } from "../start/session-options.ts";
import { getAgentDir } from "./agent-dir.ts";

/** In the order in which they apply. Throws for a profile or a setting that does not exist. */
export async function readRunSettings(
  { profile, set }: Pick<SessionOptions, "profile" | "set">,
  io: Io,
): Promise<RunSettings[]> {
  const chosen = profile === undefined ? [] : [await readProfile(getAgentDir(io), profile)];
  return [...chosen, ...set.map((text) => parseAssignment(text, io.cwd))];
}

function parseAssignment(text: string, directory: string): RunSettings {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) {
    throw new UsageError(
      "arguments",
      `--set needs a setting and its value: --set KEY=VALUE, not ${JSON.stringify(text)}.`,
    );
  }
  return { source: `--set ${key}`, values: nestSetting(key, parseValue(key, value)), directory };
}
