/** Finds the settings files of the user and of the project. */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { systemCode } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import { createFileSource, createMemorySource, type FileSourceOptions, type SettingsSource } from "./source.ts";
import type { SettingsScope } from "./file-state.ts";

/** The files, each over the ones before it. `pi` is a project's file for pi: it is read, and never written. */
export const settingsLayers = ["global", "pi", "project"] as const;
export type SettingsLayerName = (typeof settingsLayers)[number];

export const settingsScopes: readonly SettingsScope[] = ["global", "project"];

export const getScope = (layer: SettingsLayerName): SettingsScope => (layer === "global" ? "global" : "project");

export interface LocatedSettings {
  readonly sources: Readonly<Record<SettingsLayerName, SettingsSource>>;
  /** The files to watch. */
  readonly files: readonly string[];
}

/** `<agentDir>/settings.json`, and `.pi/settings.json` and `.tau/settings.json` in the working directory, of these scopes. */
export function locateSettings(
  { cwd, agentDir, scopes }: { cwd: string; agentDir: string; scopes: readonly SettingsScope[] },
  ports: Pick<FileSourceOptions, "fileSystem" | "clock" | "ids">,
): LocatedSettings {
  const userDirectory = resolve(agentDir);
  const realUserDirectory = getRealPath(userDirectory);
  const projectDirectory = resolve(cwd);
  const createSource = (scope: SettingsScope, directory: string, rest: { mode: number; within?: string }) => {
    const location = { directory, cwd: projectDirectory, home: homedir() };
    if (!scopes.includes(scope)) return createMemorySource(location);
    return createFileSource({ path: join(directory, "settings.json"), location, ...ports, ...rest });
  };
  const global = createSource("global", userDirectory, { mode: 0o600 });
  const createProjectSource = (name: string) => {
    const directory = join(projectDirectory, name);
    // In the home directory both are the same file, which counts as the user's.
    if (scopes.includes("global") && realUserDirectory === getRealPath(directory)) return createNoSource(global);
    return createSource("project", directory, { mode: 0o644, within: projectDirectory });
  };
  const sources = { global, pi: createProjectSource(".pi"), project: createProjectSource(".tau") };
  const files = settingsLayers.filter((layer) => scopes.includes(getScope(layer))).map((layer) => sources[layer].file);
  return { sources, files: [...new Set(files)] };
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
    return realpathSync.native(path);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return path;
  }
}
