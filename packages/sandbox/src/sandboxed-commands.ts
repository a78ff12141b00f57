/** The two ways to run commands inside: one sandbox for the session, or one for each command. */
import type { SandboxEntry, SpawnRequest } from "@tau/tools";
import type { Mount } from "./mounts.ts";
import type { InnerSockets } from "./network/inner-sockets.ts";
import type { SandboxSettings } from "./settings.ts";

export interface SandboxedCommands {
  /** Whether what is read-only stays so for later commands, as in one sandbox for the session. */
  readonly isFixed: boolean;
  /** Rejects when the sandbox cannot be started. */
  enter(createRequest: CreateRequest, plan: MountPlan): Promise<EntryWay>;
  close(): Promise<void>;
}

/**
 * Creates the request of a program, in a network that stays as long as it is there. Undefined: it is the machine's own, or
 * each command has one for itself. Called again for a sandbox that had to be started again.
 */
export type CreateRequest = (sockets: InnerSockets | undefined) => Promise<SpawnRequest>;

/** The mounts that the command is to see. */
export interface MountPlan {
  readonly mounts: readonly Mount[];
  /** Looks again, because something of it has vanished meanwhile. */
  renew(): void;
}

/** An entry without what is done after the command, which is the same for both. */
export type EntryWay = Omit<SandboxEntry, "finish">;

/** The parts that both need to start bubblewrap. */
export interface BwrapParts {
  readonly bwrap: string;
  readonly workspace: string;
  readonly network: SandboxSettings["network"];
  readonly machineWide: readonly string[];
  readonly isRoot: boolean;
  readonly mayTrace: boolean;
  readonly memoryFilesBytes: number | undefined;
}
