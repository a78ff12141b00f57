/** Which extensions a session may have, and whether there is any. Cheap: it is asked at every start. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findGlobalPackages } from "@tau/config/installs";
import { hasPackages, type SettingsManager } from "@tau/config/settings";
import type { ExtensionFactory } from "../api/api.ts";
import type { ExtensionEvent } from "../api/events.ts";
import type { LoadSharedModule, LocateSharedModule } from "./loaded-module.ts";

/** An extension that the embedding program passes as a function. */
export type InlineExtension = ExtensionFactory | { name: string; factory: ExtensionFactory };

/** A JavaScript file, and what it reads besides. */
export interface ChildProgram {
  path: string;
  readable: readonly string[];
}

/** A package that the user named for this run alone. */
export interface NamedPackage {
  /** Stays equal over time, see `ExtensionSource.id`. */
  readonly id: string;
  readonly root: string;
  /** The source as the user wrote it. */
  readonly source: string;
  /** Absolute paths of files or directories. */
  readonly extensions: readonly string[];
  /** The trust that the user gave it. */
  readonly state: "acknowledged" | "trusted";
}

export interface ExtensionsParams {
  /** Files or directories that the user named. */
  paths?: readonly string[];
  /** They come after `paths`. */
  packages?: readonly NamedPackage[];
  /** Whether those of the user, of a trusted project and of installed packages are found. Default false. */
  discovers?: boolean;
  factories?: readonly InlineExtension[];
  /** The values of their flags on the command line. */
  flags?: ReadonlyMap<string, boolean | string>;
  /** Whether providers of extensions may ask servers for their models. Default true. */
  allowNetwork?: boolean;
  /** Modules that extensions import by a name of ours. Default: none. */
  loadShared?: LoadSharedModule;
  /** Paths of such modules, for extensions that give them to a program of theirs. Default: none. */
  locateShared?: LocateSharedModule;
  /** Finds the program that the process of an isolated extension runs. Default, also for undefined: none runs. */
  findChild?: () => ChildProgram | undefined;
  /** Why the session begins, as it is reported to extensions. Default: the program started. */
  start?: Omit<ExtensionEvent<"session_start">, "type">;
}

export interface ExtensionPlace {
  cwd: string;
  agentDir: string;
  settings: SettingsManager;
}

export function hasExtensions(
  { paths = [], packages = [], factories = [], discovers = false }: ExtensionsParams,
  { cwd, agentDir, settings }: ExtensionPlace,
): boolean {
  const { extensions, contextSources } = settings.get();
  if ([paths, packages, factories, contextSources].some((list) => list.length > 0)) return true;
  if (!discovers) return false;
  if (extensions.length > 0 || hasPackages(settings)) return true;
  if ([agentDir, join(cwd, ".tau"), join(cwd, ".pi")].some((parent) => existsSync(join(parent, "extensions"))))
    return true;
  return findGlobalPackages(agentDir).length > 0;
}
