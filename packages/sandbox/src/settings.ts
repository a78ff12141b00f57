/** The user's choices about the sandbox, with all defaults filled in. */

/** `off`: commands run as they are. `auto`: inside the sandbox where it works. `required`: inside, or not at all. */
export type SandboxMode = "off" | "auto" | "required";

/** `none`: only loopback, which the commands of a session share. `allow`: these hosts, through a proxy. `all`: as outside. */
export type SandboxNetwork = "none" | "all" | { readonly allow: readonly string[] };

export interface SandboxSettings {
  readonly mode: SandboxMode;
  /** Directories and files besides the workspace that commands may change: absolute paths. */
  readonly allowedPaths: readonly string[];
  /** How long a command inside may take whose call sets no timeout. Absent: no limit of the sandbox's own. */
  readonly timeoutMs?: number;
  /** Ports on which servers inside can be reached from outside. */
  readonly ports: readonly number[];
  readonly network: SandboxNetwork;
  /** Memory of all processes of a command together, in megabytes. Absent: what the tool allows by default. */
  readonly maxMemoryMb?: number;
  /** The size of each file system in memory, in megabytes. */
  readonly maxMemoryFilesMb: number;
  /** Whether the sandbox of macOS is used there. Default false: nobody has run it yet. */
  readonly seatbelt?: boolean;
}

export const defaultSandboxSettings: SandboxSettings = {
  mode: "auto",
  allowedPaths: [],
  ports: [],
  network: "none",
  maxMemoryFilesMb: 256,
};
