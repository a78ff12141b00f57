/** Decides what the process of an isolated extension sees: from facts to the arguments of bubblewrap. Pure. */
import type { FoundPath } from "@tau/sandbox/internal";

/** All real paths. */
export interface ProcessSandboxFacts {
  /** Directories and files of the system that exist, such as `/usr`. */
  readonly system: readonly string[];
  /** Node itself, and tau's code for this process. */
  readonly program: readonly string[];
  /** The extension's own code. */
  readonly extension: readonly string[];
  /** Absent: the extension may not read it. */
  readonly workspace?: string;
  /** Credentials and tau's own directory; only what is below the workspace is used. */
  readonly hidden: readonly FoundPath[];
  /** The existing paths of `/proc` that belong to the whole machine. */
  readonly machineWide: readonly string[];
  readonly isRoot: boolean;
}

/** A file system in memory, of this size: it does not count as memory of the process. */
const temporaryBytes = 64 * 1024 * 1024;
export const temporaryDirectory = "/tmp";
const privateHome = `${temporaryDirectory}/home`;
/** Where the extension finds tau's directory; it has nothing of the user's. */
const privateAgentDir = `${privateHome}/.tau`;

interface ProcessMount {
  readonly path: string;
  readonly args: readonly string[];
}

/** All but the program. The descriptors are those from which bubblewrap reads and to which it writes. */
export function toBwrapArguments(facts: ProcessSandboxFacts, descriptors: { filter: number; info: number }): string[] {
  const { workspace } = facts;
  const readOnly = (path: string): ProcessMount => ({ path, args: ["--ro-bind", path, path] });
  const hidden = facts.hidden.filter(({ path }) => workspace !== undefined && isBelow(workspace, path));
  const mounts = [
    ...(workspace === undefined ? [] : [readOnly(workspace)]),
    ...hidden.map(({ path, isDirectory }): ProcessMount => ({
      path,
      args: isDirectory ? ["--perms", "0555", "--tmpfs", path] : ["--ro-bind", "/dev/null", path],
    })),
    ...[...facts.program, ...facts.extension].map(readOnly),
  ];
  const directories = hidden.flatMap(({ path, isDirectory }) => (isDirectory ? ["--remount-ro", path] : []));
  return [
    ..."--unshare-pid --unshare-ipc --unshare-uts --unshare-net --unshare-cgroup-try".split(" "),
    ..."--die-with-parent --as-pid-1 --new-session --cap-drop ALL".split(" "),
    // Root owns no files of other users without it; what is mounted read-only stays so.
    ...(facts.isRoot ? ["--cap-add", "CAP_DAC_OVERRIDE"] : ["--unshare-user"]),
    "--seccomp",
    String(descriptors.filter),
    "--info-fd",
    String(descriptors.info),
    ...facts.system.flatMap((path) => ["--ro-bind", path, path]),
    ..."--proc /proc --dev /dev".split(" "),
    ...facts.machineWide.flatMap((path) => ["--ro-bind", path, path]),
    ...`--size ${temporaryBytes} --tmpfs ${temporaryDirectory} --dir ${privateAgentDir}`.split(" "),
    ...inOrder(mounts).flatMap(({ args }) => args),
    // What is mounted needs places, so the directories for them are closed last.
    ...directories,
    ..."--remount-ro /dev --remount-ro /".split(" "),
    "--chdir",
    workspace ?? temporaryDirectory,
  ];
}

/** Shorter paths first; of mounts of one path the last one applies. */
function inOrder(mounts: readonly ProcessMount[]): ProcessMount[] {
  const depth = ({ path }: ProcessMount) => path.split("/").length;
  return [...new Map(mounts.map((mount) => [mount.path, mount])).values()].sort((a, b) => depth(a) - depth(b));
}

const isBelow = (directory: string, path: string): boolean => path.startsWith(`${directory}/`);

/** Variables that say how to write text, and nothing about the user. */
const harmless = /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|NODE_ENV)$/;

export function toProcessEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    harmless.test(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return {
    ...Object.fromEntries(kept),
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: privateHome,
    TAU_DIR: privateAgentDir,
    TMPDIR: temporaryDirectory,
  };
}

/** Node's own limits, as far as this version has them: no processes, threads or native code. Files are up to the mounts. */
export function toNodeOptions(flags: ReadonlySet<string>, maxMemoryMb: number): string[] {
  const permission = ["--permission", "--experimental-permission"].find((flag) => flags.has(flag));
  return [
    `--max-old-space-size=${maxMemoryMb}`,
    "--no-warnings",
    ...(permission === undefined ? [] : [permission, "--allow-fs-read=*", "--allow-fs-write=*"]),
    // Where the network is a permission too, our own connection needs it; there is no other.
    ...(flags.has("--allow-net") ? ["--allow-net"] : []),
  ];
}
