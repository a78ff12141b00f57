/** Settings that a person gives for one run: they apply over those of all files, and are never written. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { HarnessError } from "@tau/protocol";
import { checkSettings } from "./check.ts";
import type { SettingsLayer } from "./resolve.ts";
import type { SettingsTable } from "./schema.ts";

export interface RunSettings {
  /** Where the person wrote them, for messages: a flag or the path of a file. */
  readonly source: string;
  /** The content of a settings file. They may have settings that a project may not set. */
  readonly values: unknown;
  /** Relative paths in them are relative to this directory. */
  readonly directory: string;
}

/**
 * Turns settings of a run into layers, in their order. Throws `HarnessError` `invalid_input` for one that is not valid:
 * what a person asks for now must not be left out in silence.
 */
export function toRunLayers(
  runSettings: readonly RunSettings[],
  { table, cwd }: { table: SettingsTable; cwd: string },
): SettingsLayer[] {
  return runSettings.map(({ source, values, directory }) => {
    const checked = checkSettings(values, { trusted: true, table });
    const [error] = checked.errors;
    if (error) throw new HarnessError("invalid_input", `${source}: ${error.message}`);
    const location = { directory: resolve(directory), cwd: resolve(cwd), home: homedir() };
    return { values: checked.values, location, isProject: false };
  });
}
