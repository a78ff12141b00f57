/** The port of a session's sandbox, which is another one on each system. */
import type { Clock, Ids } from "@tau/ai";
import type { CommandSandbox } from "@tau/tools";
import type { NamedCredential } from "./credentials/named-credentials.ts";
import type { PortPolicy } from "./network/asked-ports.ts";
import type { ProgramHosts } from "./network/session-network.ts";
import type { SandboxSettings } from "./settings.ts";
import type { SandboxState } from "./state.ts";

export interface SessionSandboxOptions {
  /** The workspace. */
  readonly cwd: string;
  readonly settings: SandboxSettings;
  readonly home: string;
  /** Our own directory. Commands cannot read it, except for `readable`. */
  readonly agentDir: string;
  /** Credentials that environment variables lead to. Default: none. */
  readonly named?: readonly NamedCredential[];
  /** Default: none. */
  readonly readable?: readonly string[];
  /** Directories in whose place commands see their own temporary files. Default: those of the system. */
  readonly temporaryDirectories?: readonly string[];
  /** Whether commands can change nothing but temporary files of their own. Default false. */
  readonly isReadOnly?: boolean;
  /**
   * Whether commands see only the workspace, `readable`, and the system's programs, such as those below `/usr`: no homes, and nothing
   * of other projects. Default false.
   */
  readonly hidesMachine?: boolean;
  /** The environment whose variables name the proxy that allowed hosts are reached through. Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** The program that starts the commands of a session; false for none. Default: the one that is installed, if any. */
  readonly helper?: string | false;
}

/** The access that a person allowed beyond the settings, for one command or for the rest of the session. */
export interface SandboxGrant {
  readonly hosts: readonly string[];
  /** Real paths that exist. Credentials stay hidden, and protected names as they are. */
  readonly paths: readonly string[];
  readonly term: "command" | "session";
}

export interface SessionSandbox extends CommandSandbox {
  /** The sandbox for a command that is allowed more. */
  widen(grant: SandboxGrant): Promise<CommandSandbox>;
  /** The sandbox for a program that runs beside the commands, with hosts of its own. It ends with the session. */
  join(hosts: ProgramHosts): CommandSandbox;
  /** The access that a person allowed for the rest of the session. */
  readonly granted: Pick<SandboxGrant, "hosts" | "paths">;
  /** Decides which servers inside can be reached from this machine, besides `settings.ports`. Default: none. */
  usePortPolicy(policy: PortPolicy): void;
  /** Whether commands run inside. Starts no sandbox, but tries once whether one can be started. */
  getState(): Promise<SandboxState>;
  /** Finds the directory that commands see for temporary files; undefined where they run outside. */
  findTemporary(): Promise<string | undefined>;
  /** Ends everything that runs inside. */
  close(): Promise<void>;
}
