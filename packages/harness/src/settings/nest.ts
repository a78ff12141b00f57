import type { SettingsInput } from "./schema.ts";

/** A change of one setting by its dotted name, for `SettingsManager.update`. */
export const nestSetting = (key: string, value: unknown): SettingsInput =>
  key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as SettingsInput;
