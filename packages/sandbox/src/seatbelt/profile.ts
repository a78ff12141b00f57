/**
 * Writes the rules of Seatbelt, the sandbox of macOS, for what commands see and may change. Of several rules that match, the
 * last one applies. Paths go into parameters, so that no name can end a rule; patterns have wildcards instead. Pure.
 */
import type { Mount } from "../mounts.ts";

/** The protected names of a directory that commands may change. */
export interface ProtectedRoot {
  /** A real path. */
  readonly root: string;
  /** Relative to the root: files and directories, whether they exist or not. */
  readonly names: readonly string[];
  /** The directories between the root and those names, relative to it, and whether they exist. */
  readonly parents: readonly { readonly name: string; readonly exists: boolean }[];
}

export interface SeatbeltAccess {
  /** In the order of `planMounts`: the most exact path comes last. */
  readonly mounts: readonly Mount[];
  /** The sandbox's own temporary files. */
  readonly temporary: string;
  readonly protected: readonly ProtectedRoot[];
  /** `ports`: of loopback, to which commands may connect. `reachesHosts`: whether the proxy leads to any host. */
  readonly network: "all" | { readonly ports: readonly number[]; readonly reachesHosts: boolean };
}

export interface SeatbeltProfile {
  readonly rules: string;
  /** The values of the parameters that the rules name. */
  readonly parameters: Readonly<Record<string, string>>;
}

export function createSeatbeltProfile({
  mounts,
  temporary,
  protected: roots,
  network,
}: SeatbeltAccess): SeatbeltProfile {
  const parameters: Record<string, string> = {};
  const path = (filter: "literal" | "subpath", value: string) => {
    const name = `PATH_${Object.keys(parameters).length}`;
    parameters[name] = value;
    return `(${filter} (param "${name}"))`;
  };
  const rules = [
    ...basicRules,
    ...mounts.flatMap((mount) => toRules(mount, path)),
    `(allow file-read* file-write* ${path("subpath", temporary)})`,
    ...roots.flatMap((root) => protect(root, path)),
    ...toNetworkRules(network, [...mounts.flatMap(getWritable), temporary], path),
  ];
  return { rules: `${rules.join("\n")}\n`, parameters };
}

type WritePath = (filter: "literal" | "subpath", value: string) => string;

/**
 * Programs can be started, and all files be read, unless a later rule says otherwise. What is not named is denied: hard links,
 * with which a hidden file would get another name, services of the system that act outside, and shared memory.
 */
const basicRules = [
  "(version 1)",
  "(deny default)",
  '(import "system.sb")',
  "(allow process-fork)",
  "(allow process-exec)",
  "(allow process-info* (target same-sandbox))",
  "(allow signal (target same-sandbox))",
  "(allow sysctl-read)",
  "(allow ipc-posix-sem)",
  "(allow file-read*)",
  '(allow file-write-data (literal "/dev/null") (literal "/dev/zero"))',
  // Terminals that were opened inside; never the one in which the person sits.
  "(allow pseudo-tty)",
  '(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))',
  '(deny file-read* file-write* (regex #"^/dev/tty"))',
  '(allow file-read* file-write* file-ioctl (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))',
];

const getWritable = (mount: Mount): string[] =>
  mount.kind === "writable" && mount.from === undefined ? [mount.path] : [];

function toRules(mount: Mount, path: WritePath): string[] {
  switch (mount.kind) {
    case "writable":
      return mount.from === undefined
        ? [
            `(allow file-read* file-write* ${path("subpath", mount.path)})`,
            // Renamed, it would be beside the rules that name what is in it.
            `(deny file-write-unlink ${path("literal", mount.path)})`,
          ]
        : hide(mount.path, path);
    case "read-only":
      return [`(allow file-read* ${path("subpath", mount.path)})`, `(deny file-write* ${path("subpath", mount.path)})`];
    case "hidden-file":
      return [`(deny file-read* file-write* ${path("literal", mount.path)})`];
    case "hidden-directory":
      return [`(deny file-read* file-write* ${path("subpath", mount.path)})`];
    case "empty":
      return hide(mount.path, path);
    case "fixed":
      return [];
  }
}

/** Hides the files of other programs. What is in the directory can be named, since programs look at each directory of a path. */
const hide = (directory: string, path: WritePath): string[] => [
  `(deny file-read* file-write* ${path("subpath", directory)})`,
  `(allow file-read-metadata ${path("subpath", directory)})`,
];

/**
 * Names can be protected before they exist. A directory on the way to them could be made elsewhere, with all its contents, and
 * then be renamed: so one that is missing cannot be made, and one that is there cannot be renamed.
 */
function protect({ root, names, parents }: ProtectedRoot, path: WritePath): string[] {
  const below = toPattern(root);
  const existing = parents.filter(({ exists }) => exists);
  const missing = parents.filter(({ exists }) => !exists);
  const denied = [...names, ...missing.map(({ name }) => name)].map((name) => `#"^${below}/${toAnyCase(name)}(/|$)"`);
  return [
    ...denied.map((pattern) => `(deny file-write* (regex ${pattern}))`),
    ...existing.map(({ name }) => `(deny file-write-unlink ${path("literal", `${root}/${name}`)})`),
  ];
}

/** Matches the path. Characters that a pattern cannot hold stand for any, which protects a little more. */
const toPattern = (path: string): string =>
  path.replaceAll(/[^\w/-]/gu, (character) => (/[ .,:;@+=~#%&!(){}$*?|'<>]/.test(character) ? `[${character}]` : ".+"));

/** The disks of macOS take names in any case. */
const toAnyCase = (name: string): string =>
  toPattern(name).replaceAll(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);

function toNetworkRules(
  network: SeatbeltAccess["network"],
  socketDirectories: readonly string[],
  path: WritePath,
): string[] {
  // Programs of Apple and of Go check certificates through it. It asks servers that a certificate names.
  const checksCertificates =
    '(allow mach-lookup (global-name "com.apple.trustd") (global-name "com.apple.trustd.agent"))';
  const findsNames =
    '(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.dnssd.service"))';
  if (network === "all") return ["(allow network*)", "(allow system-socket)", checksCertificates, findsNames];
  const sockets = socketDirectories.map((directory) => path("subpath", directory));
  return [
    // Servers of commands can be reached from this machine. Commands reach none but those with these ports.
    '(allow network-bind network-inbound (local ip "localhost:*"))',
    ...network.ports.map((port) => `(allow network-outbound (remote ip "localhost:${port}"))`),
    ...sockets.map((directory) => `(allow network-bind network-inbound network-outbound ${directory})`),
    ...(network.reachesHosts ? [checksCertificates] : []),
  ];
}
