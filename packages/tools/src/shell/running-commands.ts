/** Keeps track of the commands that are starting or running, so that none outlives the session. */
import { type Clock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { ToolsError } from "../errors.ts";
import type { RunningCommand } from "./command.ts";

/** A job outlives the call that started it; the number of jobs is limited. */
export type CommandKind = "command" | "job";

/** Starts a command. Must call `admit` right before: it throws when the session has ended meanwhile. */
export type StartWork = (admit: () => void) => Promise<RunningCommand>;

export interface RunningCommands {
  /**
   * Starts a command with `work`, and keeps track of it until it ends. Throws when the session is over, or when there are
   * too many jobs, including those that are only starting.
   */
  start(kind: CommandKind, work: StartWork): Promise<RunningCommand>;
  /** Calls `work` when the session is over and nothing runs any more. */
  atEnd(work: () => Promise<void>): void;
  /** Whether the session is over. */
  isOver(): boolean;
  /** Ends all commands, also those that are starting, within two seconds. Nothing can be started afterwards. */
  dispose(): Promise<void>;
}

/** A command, from before it is started until it has ended. */
interface CommandSlot {
  readonly kind: CommandKind;
  /** Ends the command, or waits for its start to fail. */
  end: () => Promise<unknown>;
}

export const graceMs = 500;
/** How long `dispose` waits for a start: it may hang, on a host that does not answer. */
const startMs = 1_900;

export function createRunningCommands({ clock, maxJobs }: { clock: Clock; maxJobs: number }): RunningCommands {
  const slots = new Set<CommandSlot>();
  const cleanUps: (() => Promise<void>)[] = [];
  let disposal: Promise<void> | undefined;

  const admit = () => {
    if (disposal) throw new ToolsError("unavailable", "The session is over: nothing can be started any more.");
  };
  const run = async (slot: CommandSlot, work: StartWork) => {
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
    await Promise.allSettled(cleanUps.map((work) => work()));
  };

  return {
    async start(kind, work) {
      admit();
      const jobs = [...slots].filter((slot) => slot.kind === "job").length;
      if (kind === "job" && jobs >= maxJobs) {
        throw new ToolsError("busy", `${jobs} jobs are running, which is the limit. Kill one first, with jobs.`);
      }
      const slot: CommandSlot = { kind, end: () => atMost(clock, startMs, started) };
      slots.add(slot);
      const started = run(slot, work);
      return await started;
    },
    atEnd: (work) => void cleanUps.push(work),
    isOver: () => disposal !== undefined,
    dispose: () => (disposal ??= endAll()),
  };
}

async function atMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const isOver = new AbortController();
  await Promise.allSettled([Promise.race([work, sleep(clock, ms, isOver.signal)])]);
  isOver.abort();
}
