/** Where the settings of a person and of a project are. */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { systemCode } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { fileSource, type FileSourceOptions, type SettingsSource } from "./source.ts";
import type { SettingsScope } from "./standing.ts";

export interface LocatedSettings {
  readonly sources: Readonly<Record<SettingsScope, SettingsSource>>;
  /** To be watched. */
  readonly files: readonly string[];
}

/** `<agentDir>/settings.json`, and `.tau/settings.json` in the working directory. */
export function locateSettings(
  cwd: string,
  agentDir: string,
  ports: Pick<FileSourceOptions, "fileSystem" | "clock" | "ids">,
): LocatedSettings {
  const own = resolve(agentDir);
  const ofProject = join(resolve(cwd), ".tau");
  const source = (directory: string, rest: { mode: number; within?: string }) => {
    const place = { directory, cwd: resolve(cwd), home: homedir() };
    return fileSource({ path: join(directory, "settings.json"), place, ...ports, ...rest });
  };
  const global = source(own, { mode: 0o600 });
  // In a person's home both are the same file, which then has that person's authority.
  if (realOr(own) === realOr(ofProject))
    return { sources: { global, project: noSource(global) }, files: [global.file] };
  const project = source(ofProject, { mode: 0o644, within: resolve(cwd) });
  return { sources: { global, project }, files: [global.file, project.file] };
}

const noSource = ({ file, place }: SettingsSource): SettingsSource => ({
  file,
  place,
  read: () => Promise.resolve({ kind: "absent" }),
  rewrite: () => Promise.reject(new HarnessError("invalid_input", `${file} holds your own settings: change those.`)),
});

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return path;
  }
}
