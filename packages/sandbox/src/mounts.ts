/**
 * Plans which part of the file system commands see: from facts about a project to the arguments of bubblewrap. Pure.
 */
import { dirname } from "node:path";
import { isWithin } from "@tau/tools/platform";
import type { SandboxSettings } from "./settings.ts";

/** A path inside. A mount below another one comes later, so the most exact path applies. */
export type Mount =
  /** Can be changed. `from`: the directory outside that is shown there; default: the same path. */
  | { readonly kind: "writable"; readonly path: string; readonly from?: string }
  /** Can be read. The path itself cannot be renamed or removed, since it is a mount point. */
  | { readonly kind: "read-only"; readonly path: string }
  | { readonly kind: "hidden-directory"; readonly path: string }
  /** `from`: the file outside that is shown there; default: a device that cannot be opened. */
  | { readonly kind: "hidden-file"; readonly path: string; readonly from?: string }
  /** Can be read. Names that are created in it later do not appear to commands that run by then. For the helper only. */
  | { readonly kind: "fixed"; readonly path: string }
  /** An empty directory in memory. */
  | { readonly kind: "empty"; readonly path: string };

/** A path that exists, by its real path. */
export interface FoundPath {
  readonly path: string;
  readonly isDirectory: boolean;
  /** For what is hidden: the file that is shown instead. Default: none. */
  readonly placeholder?: string;
}

/** Everything that the plan depends on. All paths are real paths. */
export interface ProjectFacts {
  readonly workspace: string;
  /** Git directories that are outside the workspace and belong to it: a worktree's, or that of a directory above. */
  readonly gitDirectories: readonly string[];
  /** Protected names that exist. */
  readonly protected: readonly string[];
  /** Directories that commands may change, but neither rename nor replace. */
  readonly pinned: readonly string[];
  /** Credentials, our own directory, and sockets of programs outside. */
  readonly hidden: readonly FoundPath[];
  /** Directories in which credentials may appear. */
  readonly watched: readonly string[];
  /** Directories of this sandbox: its temporary files, and the package caches of the project. */
  readonly temporary: string;
  readonly cache: string;
  /** Paths that must be readable although they are below hidden ones. */
  readonly needed: readonly string[];
  /** Directories of other programs' sockets and temporary files that exist here, such as `/run` and `/var/tmp`. */
  readonly runDirectories: readonly string[];
  readonly temporaryDirectories: readonly string[];
  /** The existing paths of `/proc` that belong to the whole machine. */
  readonly machineWide: readonly string[];
}

/** In the order in which they have to be made. `isReadOnly`: nothing can be changed but temporary files. */
export function planMounts(settings: SandboxSettings, facts: ProjectFacts, { isReadOnly = false } = {}): Mount[] {
  const { workspace, temporary, cache } = facts;
  const isHidden = (path: string) => facts.hidden.some((hidden) => isWithin(hidden.path, path));
  const writable = [
    workspace,
    ...facts.gitDirectories,
    // No setting opens credentials.
    ...settings.allowedPaths.filter((path) => !isHidden(path)),
  ];
  const isOpen = (path: string) =>
    [...writable, ...facts.runDirectories, ...facts.temporaryDirectories].some((other) => isWithin(other, path));
  const fixed = [...facts.protected, ...facts.pinned];
  const parents = [...facts.pinned, ...fixed.flatMap((path) => parentsBelow(path, writable))];
  const mounts: Mount[] = [
    ...facts.runDirectories.map((path): Mount => ({ kind: "empty", path })),
    ...facts.watched.filter((path) => !isHidden(path) && !isOpen(path)).map((path): Mount => ({ kind: "fixed", path })),
    ...facts.temporaryDirectories.map((path): Mount => ({ kind: "writable", path, from: temporary })),
    ...[...writable, ...parents, cache].map((path): Mount => ({ kind: isReadOnly ? "read-only" : "writable", path })),
    ...facts.protected.map((path): Mount => ({ kind: "read-only", path })),
    ...facts.needed
      .filter((path) => isHidden(path) || !writable.some((other) => isWithin(other, path)))
      .map((path): Mount => ({ kind: "read-only", path })),
    ...facts.hidden.map(({ path, isDirectory, placeholder }): Mount =>
      isDirectory
        ? { kind: "hidden-directory", path }
        : { kind: "hidden-file", path, ...(placeholder !== undefined && { from: placeholder }) },
    ),
  ];
  return withoutCovered(inOrder(mounts));
}

/** Nothing has to be hidden in a directory that is hidden as a whole. */
function withoutCovered(ordered: readonly Mount[]): Mount[] {
  const kept: Mount[] = [];
  for (const mount of ordered) {
    const above = kept.findLast(({ path }) => isWithin(path, mount.path));
    if (above?.kind !== "hidden-directory" || !mount.kind.startsWith("hidden")) kept.push(mount);
  }
  return kept;
}

/** The directories between a writable one and a path below it: as mount points they cannot be renamed together with it. */
function parentsBelow(path: string, writable: readonly string[]): string[] {
  const parents: string[] = [];
  for (let parent = dirname(path); writable.some((root) => root !== parent && isWithin(root, parent));) {
    if (writable.includes(parent)) break;
    parents.push(parent);
    parent = dirname(parent);
  }
  return parents;
}

/** Shorter paths first. Of several mounts of one path the strictest one applies. */
function inOrder(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) {
    const other = byPath.get(mount.path);
    if (!other || strictness[mount.kind] >= strictness[other.kind]) byPath.set(mount.path, mount);
  }
  const depth = ({ path }: Mount) => (path === "/" ? 0 : path.split("/").length);
  return [...byPath.values()].sort((a, b) => depth(a) - depth(b));
}

const strictness: Readonly<Record<Mount["kind"], number>> = {
  fixed: 0,
  empty: 0,
  writable: 1,
  "read-only": 2,
  "hidden-file": 3,
  "hidden-directory": 3,
};

/** Every sandbox has its own. */
export const sharedMemory = "/dev/shm";

/** The file systems in memory that commands can write to. */
export const listMemoryFiles = (mounts: readonly Mount[]): string[] => [
  ...mounts.flatMap(({ kind, path }) => (kind === "empty" ? [path] : [])),
  sharedMemory,
];

/**
 * The directories in which commands may connect to sockets: the sandbox's own, without what a person has opened besides.
 * `own`: the workspace, and the cache of the project.
 */
export const listSocketDirectories = (mounts: readonly Mount[], own: readonly string[]): string[] => [
  ...own,
  sharedMemory,
  ...mounts.flatMap((mount) =>
    mount.kind === "empty" || (mount.kind === "writable" && mount.from !== undefined) ? [mount.path] : [],
  ),
];

/** Capabilities that root keeps inside, by their numbers: to own and change files of any user in the workspace. */
const rootCapabilities = {
  CAP_CHOWN: 0,
  CAP_DAC_OVERRIDE: 1,
  CAP_FOWNER: 3,
  CAP_FSETID: 4,
  CAP_KILL: 5,
  CAP_SETGID: 6,
  CAP_SETUID: 7,
  CAP_NET_BIND_SERVICE: 10,
};

/** The capabilities of commands as a mask in hexadecimal digits, as the helper takes it. */
export const getCapabilityMask = (isRoot: boolean): string =>
  (isRoot ? Object.values(rootCapabilities).reduce((mask, number) => mask | (1 << number), 0) : 0).toString(16);

interface BwrapOptions {
  readonly mounts: readonly Mount[];
  readonly machineWide: readonly string[];
  readonly network: SandboxSettings["network"];
  readonly isRoot: boolean;
  /** The first process makes mounts and namespaces for commands; it drops the rights to that for each of them. */
  readonly forHelper: boolean;
  /** The size of each file system in memory. Undefined: bubblewrap cannot limit it. */
  readonly memoryFilesBytes: number | undefined;
  /** Whether we may give the helper the right to take a socket of a process that cannot be traced, or has another user. */
  readonly mayTrace: boolean;
  /** The network of the process that starts bubblewrap is used as it is. */
  readonly keepsNetwork?: boolean;
  /** The descriptor from which bubblewrap reads the filter of system calls. */
  readonly filterDescriptor: number;
}

/** All but the command. They go through a descriptor: arguments can be read by every user of the machine. */
export function toBwrapArguments(options: BwrapOptions): string[] {
  const { mounts, machineWide, network, isRoot, forHelper, mayTrace, memoryFilesBytes, keepsNetwork = false } = options;
  const size = memoryFilesBytes === undefined ? [] : ["--size", String(memoryFilesBytes)];
  const capabilities = [
    ...(isRoot ? Object.keys(rootCapabilities) : []),
    ...(forHelper ? ["CAP_SYS_ADMIN", "CAP_SETPCAP"] : []),
    ...(forHelper && mayTrace ? ["CAP_SYS_PTRACE"] : []),
  ];
  return [
    ..."--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --die-with-parent --as-pid-1 --cap-drop ALL".split(
      " ",
    ),
    // The helper gives each command a session itself. A signal to the session of a command does not reach bubblewrap.
    ...(forHelper ? [] : ["--new-session"]),
    ...(network === "all" || keepsNetwork ? [] : ["--unshare-net"]),
    // Root needs none: it could own files of no other user then.
    ...(isRoot ? [] : ["--unshare-user"]),
    ...capabilities.flatMap((name) => ["--cap-add", name]),
    ...`--seccomp ${options.filterDescriptor} --ro-bind / / --dev /dev --proc /proc`.split(" "),
    // Only shared memory can be written to in /dev, which is a file system in memory too.
    "--perms",
    "1777",
    ...size,
    "--tmpfs",
    sharedMemory,
    "--remount-ro",
    "/dev",
    // The helper mounts a /proc for each command, and then does the same in it.
    ...(forHelper ? [] : machineWide.flatMap((path) => ["--ro-bind", path, path])),
    ...mounts.flatMap((mount) => toArguments(mount, size)),
    // Last: what is shown below a hidden directory needs a place in it.
    ...mounts.flatMap(({ kind, path }) => (kind === "hidden-directory" ? ["--remount-ro", path] : [])),
  ];
}

function toArguments(mount: Mount, size: readonly string[]): string[] {
  const { path } = mount;
  switch (mount.kind) {
    case "writable":
      return ["--bind", mount.from ?? path, path];
    case "read-only":
      return ["--ro-bind", path, path];
    case "hidden-file":
      return ["--ro-bind", mount.from ?? "/dev/null", path];
    case "hidden-directory":
      return ["--perms", "0555", "--tmpfs", path];
    case "fixed":
      return [];
    case "empty":
      return [...size, "--tmpfs", path];
  }
}
