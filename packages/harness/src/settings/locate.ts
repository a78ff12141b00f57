/** Finds the settings files of the user and of the project. */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { systemCode } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { createFileSource, type FileSourceOptions, type SettingsSource } from "./source.ts";
import type { SettingsScope } from "./file-state.ts";

export interface LocatedSettings {
  readonly sources: Readonly<Record<SettingsScope, SettingsSource>>;
  /** The files to watch. */
  readonly files: readonly string[];
}

/** `<agentDir>/settings.json`, and `.tau/settings.json` in the working directory. */
export function locateSettings(
  cwd: string,
  agentDir: string,
  ports: Pick<FileSourceOptions, "fileSystem" | "clock" | "ids">,
): LocatedSettings {
  const userDirectory = resolve(agentDir);
  const projectDirectory = join(resolve(cwd), ".tau");
  const createSource = (directory: string, rest: { mode: number; within?: string }) => {
    const location = { directory, cwd: resolve(cwd), home: homedir() };
    return createFileSource({ path: join(directory, "settings.json"), location, ...ports, ...rest });
  };
  const global = createSource(userDirectory, { mode: 0o600 });
  // In the home directory both are the same file, which counts as the user's.
  if (getRealPath(userDirectory) === getRealPath(projectDirectory))
    return { sources: { global, project: createNoSource(global) }, files: [global.file] };
  const project = createSource(projectDirectory, { mode: 0o644, within: resolve(cwd) });
  return { sources: { global, project }, files: [global.file, project.file] };
}

/** For a project without settings of its own. */
const createNoSource = ({ file, location }: SettingsSource): SettingsSource => ({
  file,
  location,
  read: () => Promise.resolve({ kind: "absent" }),
  rewrite: () =>
    Promise.reject(
      new HarnessError("invalid_input", `${file} holds your own settings. Change the scope "global" instead.`),
    ),
});

/** The path itself if it does not exist. */
export function getRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return path;
  }
}
