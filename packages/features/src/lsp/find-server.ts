/** Finds the programs of servers, and the directory of the project that a file belongs to. */
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { isWithin } from "@tau/tools/platform";
import { isProgram, listPathDirectories } from "../kit/programs.ts";
import { isForFile, type ServerDefinition } from "./server-table.ts";

export interface FindOptions {
  /** The directory of the session. */
  cwd: string;
  /** Whether programs of the project may be used. */
  isProjectTrusted: boolean;
  env: Readonly<Record<string, string | undefined>>;
}

/** Directories with programs, relative to that of a project. */
const projectDirectories = ["node_modules/.bin", ".venv/bin", "venv/bin", "env/bin", "bin"];

/** The absolute path of a program; undefined if there is none. */
export function findProgram(command: string, root: string, options: FindOptions): string | undefined {
  const { cwd, env } = options;
  // A file elsewhere belongs to another project, which nobody has trusted.
  const isProjectTrusted = options.isProjectTrusted && isWithin(cwd, root);
  const isAllowed = (path: string) => isProjectTrusted || !isWithin(cwd, path);
  if (command.includes("/")) {
    if (!isAbsolute(command) && !isWithin(cwd, root)) return undefined;
    const path = resolve(root, command);
    return isAllowed(path) && isProgram(path) ? path : undefined;
  }
  const ofProject = listUpwards(root, cwd).flatMap((directory) =>
    projectDirectories.map((name) => join(directory, name)),
  );
  const virtual = env["VIRTUAL_ENV"] ? [join(env["VIRTUAL_ENV"], "bin")] : [];
  const ofPath = listPathDirectories(env["PATH"]);
  return [...(isProjectTrusted ? ofProject : []), ...virtual, ...ofPath]
    .map((directory) => join(directory, command))
    .find((path) => isAllowed(path) && isProgram(path));
}

/** The directories from one up to one that contains it, the former first. */
function listUpwards(from: string, to: string): string[] {
  if (!isWithin(to, from)) return [from];
  const directories = [from];
  for (let directory = from; directory !== to && directory !== dirname(directory);) {
    directory = dirname(directory);
    directories.push(directory);
  }
  return directories;
}

export function hasMarker(directory: string, markers: readonly string[]): boolean {
  try {
    const names = readdirSync(directory);
    return markers.some((marker) =>
      marker.startsWith("*") ? names.some((name) => name.endsWith(marker.slice(1))) : names.includes(marker),
    );
  } catch {
    // A directory that cannot be listed has no markers that we could use.
    return false;
  }
}

/**
 * Finds the directory of the project that a file belongs to: the working directory if it has a marker or nothing else has one,
 * else the nearest directory above the file that has one.
 */
function findRoot({ rootMarkers }: ServerDefinition, file: string | undefined, cwd: string): string {
  if (hasMarker(cwd, rootMarkers) || file === undefined) return cwd;
  const isInside = isWithin(cwd, file);
  const directories = listUpwards(dirname(file), isInside ? cwd : "/");
  return directories.find((directory) => hasMarker(directory, rootMarkers)) ?? (isInside ? cwd : dirname(file));
}

/** Whether a program belongs to a package of at least this version. */
function isOfPackage(program: string, { name, major }: { name: string; major: number }): boolean {
  try {
    for (
      let directory = dirname(realpathSync(program));
      directory !== dirname(directory);
      directory = dirname(directory)
    ) {
      const manifest = tryParseJson(readText(join(directory, "package.json")));
      if (!isRecord(manifest) || manifest["name"] === undefined) continue;
      return manifest["name"] === name && Number.parseInt(String(manifest["version"]), 10) >= major;
    }
  } catch {
    // It has just been removed.
  }
  return false;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not every directory on the way has a manifest.
    return "";
  }
}

export interface FoundServer {
  readonly definition: ServerDefinition;
  readonly root: string;
  /** Absolute. */
  readonly program: string;
}

/** A server that fits, with its program if that is installed. */
interface FittingServer extends Omit<FoundServer, "program"> {
  readonly program: string | undefined;
}

/** Lists the servers for a file, or for the whole project, whether they are installed or not. */
export function listFitting(
  servers: readonly ServerDefinition[],
  file: string | undefined,
  options: FindOptions,
): FittingServer[] {
  return servers.flatMap((definition) => {
    if (file !== undefined && !isForFile(definition, file)) return [];
    const { rootMarkers, isLinter = false, needsMarker = isLinter, needsPackage } = definition;
    const root = findRoot(definition, file, options.cwd);
    if ((needsMarker || file === undefined) && !hasMarker(root, rootMarkers)) return [];
    const program = findProgram(definition.command, root, options);
    const isRight = program !== undefined && (!needsPackage || isOfPackage(program, needsPackage));
    return [{ definition, root, program: isRight ? program : undefined }];
  });
}

/** The servers to ask about a file: the first that is installed, and all linters. */
export function chooseServers(fitting: readonly FittingServer[]): { main?: FoundServer; linters: FoundServer[] } {
  const installed = fitting.flatMap(({ program, ...rest }) => (program === undefined ? [] : [{ ...rest, program }]));
  const main = installed.find(({ definition }) => !definition.isLinter);
  return { ...(main && { main }), linters: installed.filter(({ definition }) => definition.isLinter) };
}
