import { HarnessError } from "@tau/protocol";
import type { SettingsInput } from "./schema.ts";

/** More than any setting has. What checks and writes settings calls itself for each level. */
const maxDepth = 32;

/** A change of one setting by its dotted name, for `SettingsManager.update`. Throws `invalid_input` for too many dots. */
export function nestSetting(key: string, value: unknown): SettingsInput {
  const names = key.split(".");
  if (names.length > maxDepth)
    throw new HarnessError("invalid_input", `There is no setting with ${names.length} names between dots.`);
  return names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as SettingsInput;
}
