/** Gathers the facts that decide what commands see. */
import type { NamedCredential } from "./credentials/named-credentials.ts";
import { isWithin } from "@tau/tools/platform";
import { findHiddenPaths, type HiddenPaths } from "./hidden-paths.ts";
import { findRealPath, lookAtPath } from "./look.ts";
import { type ProjectFacts, sharedMemory } from "./mounts.ts";
import type { ProtectedPaths } from "./protected-files.ts";
import type { SandboxSettings } from "./settings.ts";

export interface SandboxPlace {
  /** All real paths. */
  readonly workspace: string;
  readonly home: string;
  readonly agentDir: string;
  readonly named: readonly NamedCredential[];
  /** The paths in our own directory and among temporary files that commands may read, such as skills. */
  readonly readable: readonly string[];
  /** The directories of the machine that are hidden as a whole, and the programs in them that are needed. Undefined: none are. */
  readonly outside: { readonly directories: readonly string[]; readonly needed: readonly string[] } | undefined;
  readonly temporary: string;
  readonly cache: string;
}

/** Root can change these by their permissions alone. */
const machineWide = ["sys", "irq", "bus", "fs", "sysrq-trigger", "acpi", "scsi"].map((name) => `/proc/${name}`);
const neededInRun = ["/run/current-system", "/run/opengl-driver", "/run/wrappers"];
const resolverInRun = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf"];

const existing = (paths: readonly string[]): string[] => [
  ...new Set(paths.map(findRealPath).filter((path) => path !== undefined)),
];

/** Does not change while a session runs. */
export function findSystemFacts({ network }: SandboxSettings, temporaryDirectories: readonly string[]) {
  return {
    runDirectories: existing(["/run", "/var/run"]),
    temporaryDirectories: existing(temporaryDirectories),
    machineWide: machineWide.filter((path) => lookAtPath(path)),
    neededInRun: existing([...neededInRun, ...(network === "none" ? [] : resolverInRun)]),
  };
}

export type SystemFacts = ReturnType<typeof findSystemFacts>;

export function findHidden(
  { workspace, home, agentDir, named }: SandboxPlace,
  system: SystemFacts,
  hidesSockets: boolean,
): HiddenPaths {
  const replaced = [...system.runDirectories, ...system.temporaryDirectories];
  return findHiddenPaths({ home, agentDir, named, replaced, workspace, hidesSockets });
}

/** Puts the facts together. Pure. */
export function toProjectFacts(
  { workspace, agentDir, readable, outside, temporary, cache }: SandboxPlace,
  { neededInRun: inRun, ...system }: SystemFacts,
  { hidden, watched, paths }: Pick<ProjectFacts, "hidden" | "watched"> & { paths: ProtectedPaths },
): ProjectFacts {
  const outsideDirectories = outside?.directories ?? [];
  const covered = [agentDir, sharedMemory, ...system.temporaryDirectories, ...outsideDirectories];
  const isShown = (path: string) => !outside || isWithin(workspace, path);
  const isCovered = (path: string) => covered.some((directory) => isWithin(directory, path));
  const isCredential = (path: string) =>
    hidden.some((secret) => secret.path !== agentDir && isWithin(secret.path, path));
  return {
    ...system,
    workspace,
    temporary,
    cache,
    // A repository around the workspace belongs to everybody who has a part of it.
    gitDirectories: outside ? [] : paths.outside,
    protected: paths.readOnly.filter(isShown),
    pinned: paths.pinned.filter(isShown),
    hidden: [...hidden, ...outsideDirectories.map((path) => ({ path, isDirectory: true }))],
    watched,
    needed: [
      ...inRun,
      ...(outside?.needed ?? []).filter((path) => outsideDirectories.some((directory) => isWithin(directory, path))),
      ...readable.filter((path) => isCovered(path) && !isCredential(path) && !isWithin(path, agentDir)),
    ],
  };
}
