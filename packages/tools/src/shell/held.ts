/** Everything that is being started or runs, so that none of it outlives the session. */
import type { Clock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import { ToolsError } from "../errors.ts";
import type { RunningCommand } from "./command.ts";

/** A job outlives the call that started it; how many there are is limited. */
export type CommandKind = "command" | "job";

/** Starts a command, and calls `admit` as the last thing before: it throws when the session has ended meanwhile. */
export type StartWork = (admit: () => void) => Promise<RunningCommand>;

export interface Held {
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

export function createHeld({ clock, maxJobs }: { clock: Clock; maxJobs: number }): Held {
  const places = new Set<HoldOptions>();
  const last: (() => Promise<void>)[] = [];
  let disposal: Promise<void> | undefined;

  const admit = () => {
    if (disposal) throw new ToolsError("unavailable", "The session is over: nothing can be started any more.");
  };
  const fill = async (place: HoldOptions, work: StartWork) => {
    try {
      const running = await work(admit);
      if (disposal) await running.end(0);
      admit();
      place.end = () => running.end(graceMs);
      void running.done.then(() => places.delete(place));
      return running;
    } catch (error) {
      places.delete(place);
      throw error;
    }
  };
  const endAll = async () => {
    await Promise.allSettled([...places].map((place) => place.end()));
    await Promise.allSettled(last.map((work) => work()));
  };

  return {
    async start(kind, work) {
      admit();
      const jobs = [...places].filter((place) => place.kind === "job").length;
      if (kind === "job" && jobs >= maxJobs) {
        throw new ToolsError("busy", `${jobs} jobs are running, which is the limit. Kill one first, with jobs.`);
      }
      const place: HoldOptions = { kind, end: () => atMost(clock, startMs, filled) };
      places.add(place);
      const filled = fill(place, work);
      return await filled;
    },
    atEnd: (work) => void last.push(work),
    isOver: () => disposal !== undefined,
    dispose: () => (disposal ??= endAll()),
  };
}

async function atMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.allSettled([untilTimeout(work, ms, clock)]);
}
