/** A schedule: what is to be done, when, and with which rights. */
import type { ChannelAddress, Peer } from "@tau/extensions";

/** When a schedule is due. Times are milliseconds since the epoch. */
export type ScheduleTime =
  | { readonly kind: "at"; readonly atMs: number }
  | { readonly kind: "every"; readonly everyMs: number; readonly anchorMs: number }
  /** Five or six fields; the first of six is the second. `timeZone` is a name such as `Europe/Berlin`. */
  | { readonly kind: "cron"; readonly expression: string; readonly timeZone: string };

/** A conversation of a channel that answers are sent to. */
export interface ScheduleConversation {
  readonly accountId: string;
  readonly address: ChannelAddress;
  readonly peer: Peer;
}

/** The rights of its runs. They are fixed when it is added: those of whoever added it. */
export interface ScheduleRights {
  /** A profile that makes the policy of its sessions stricter. */
  readonly policy?: string;
  readonly permissionMode?: "plan" | "ask" | "edit" | "free";
  /** Only these tools, by name or pattern. */
  readonly tools?: readonly string[];
  /** Whether its prompt may come from text of others; see `customTypes.tainted`. */
  readonly isTainted?: boolean;
}

/** Limits of each run. A missing number means no limit. */
interface ScheduleBudget {
  readonly tokens?: number;
  /** US dollars. */
  readonly cost?: number;
}

export interface Schedule {
  readonly id: string;
  readonly name: string;
  readonly time: ScheduleTime;
  readonly prompt: string;
  /** Where its sessions work. */
  readonly cwd: string;
  readonly agent?: string;
  readonly model?: string;
  readonly rights: ScheduleRights;
  readonly budget?: ScheduleBudget;
  readonly conversation?: ScheduleConversation;
  /** The session whose agent added it. */
  readonly sessionId?: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Sessions see no context files and no skills, and few tools. */
  readonly isLight?: boolean;
  /** A run that was missed is left out. Otherwise one of those that were missed is made up. */
  readonly leavesOutMissed?: boolean;
}

/** `missed`: how many due times had no run, and between when. `isAtLeast`: there were more than are counted. */
export interface MissedRuns {
  readonly count: number;
  readonly isAtLeast?: boolean;
  readonly fromMs: number;
  readonly toMs: number;
  /** `stopped`: the gateway did not run, or the machine slept. `busy`: the run before was not over. */
  readonly reason: "stopped" | "busy";
}

/**
 * `begun`: recorded, before anything is done. `cut`: the gateway ended during the run, which is not repeated. `missed`: it stands for
 * due times that had no run.
 */
type RunState = "begun" | "done" | "failed" | "cut" | "missed";

export interface ScheduleRun {
  readonly id: string;
  readonly scheduleId: string;
  /** The due time that it is for. */
  readonly dueMs: number;
  /** `late`: it is made up. `person`: somebody asked for it. */
  readonly cause: "due" | "late" | "person";
  readonly state: RunState;
  /** The process that began it. */
  readonly owner: string;
  readonly beganAt: number;
  readonly endedAt?: number;
  readonly sessionId?: string;
  readonly missed?: MissedRuns;
  /** The beginning of the answer, or why it failed. */
  readonly text?: string;
  readonly tokens?: number;
  readonly cost?: number;
}
