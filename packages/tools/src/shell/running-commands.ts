/** Everything that is being started or runs, so that none of it outlives the session. */
import { type Clock, sleep } from "@tau/ai";
import { ToolsError } from "../errors.ts";
import type { RunningCommand } from "./command.ts";

/** A job outlives the call that started it; how many there are is limited. */
export type CommandKind = "command" | "job";

/** Starts a command, and calls `admit` as the last thing before: it throws when the session has ended meanwhile. */
export type StartWork = (admit: () => void) => Promise<RunningCommand>;

export interface RunningCommands {
  /**
   * Makes room for a command, and holds what `work` has started until it is over. Throws when the session is over, or
   * when a job more would be too many, those that are only being started included.
   */
  start(kind: CommandKind, work: StartWork): Promise<RunningCommand>;
  /** Has `work` done when the session is over and nothing runs any more. */
  atEnd(work: () => Promise<void>): void;
  /** Whether the session is over. What has not ended by then was made to. */
  isOver(): boolean;
  /** Ends all, also what is being started, within two seconds. Nothing can be started afterwards. */
  dispose(): Promise<void>;
}

/** The room of one command. */
interface HoldOptions {
  readonly kind: CommandKind;
  /** Waits for a start to come to nothing, or ends what was started. */
  end: () => Promise<unknown>;
}

export const graceMs = 500;
/** How long a start is waited for: it may hang, on a host that does not answer. */
const startMs = 1_900;

export function createRunningCommands({ clock, maxJobs }: { clock: Clock; maxJobs: number }): RunningCommands {
  const slots = new Set<HoldOptions>();
  const last: (() => Promise<void>)[] = [];
  let disposal: Promise<void> | undefined;

  const admit = () => {
    if (disposal) throw new ToolsError("unavailable", "The session is over: nothing can be started any more.");
  };
  const fill = async (slot: HoldOptions, work: StartWork) => {
    try {
      const running = await work(admit);
      if (disposal) await running.end(0);
      admit();
      slot.end = () => running.end(graceMs);
      void running.done.then(() => slots.delete(slot));
      return running;
    } catch (error) {
      slots.delete(slot);
      throw error;
    }
  };
  const endAll = async () => {
    await Promise.allSettled([...slots].map((slot) => slot.end()));
    await Promise.allSettled(last.map((work) => work()));
  };

  return {
    async start(kind, work) {
      admit();
      const jobs = [...slots].filter((slot) => slot.kind === "job").length;
      if (kind === "job" && jobs >= maxJobs) {
        throw new ToolsError("busy", `${jobs} jobs are running, which is the limit. Kill one first, with jobs.`);
      }
      const slot: HoldOptions = { kind, end: () => atMost(clock, startMs, filled) };
      slots.add(slot);
      const filled = fill(slot, work);
      return await filled;
    },
    atEnd: (work) => void last.push(work),
    isOver: () => disposal !== undefined,
    dispose: () => (disposal ??= endAll()),
  };
}

async function atMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const isOver = new AbortController();
  await Promise.allSettled([Promise.race([work, sleep(clock, ms, isOver.signal)])]);
  isOver.abort();
}
