/** Runs one task to its end: an answer, an error, its time limit, or an abort. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@tau/ai";
import { followSignal, untilAborted, untilTimeout } from "@tau/ai/internal";
import { askUntilFits } from "../kit/ask-until-fits.ts";
import { checkAnswer } from "./check-answer.ts";
import type { Executor, FanoutTask, Subagent, TextStream, Validator } from "./contract.ts";
import type { TaskOutcome } from "./results.ts";
import { buildSystemPrompt } from "./task-prompt.ts";

const defaultTimeoutMs = 5 * 60_000;
/** How long a subagent has for its `close`. */
const closeMs = 5_000;
/** Longer answers are errors. */
const maxAnswerLength = 10_000_000;
/** After so many pieces, timers get a turn: a stream that always has the next piece ready would keep them from firing. */
const piecesPerTurn = 1_000;

interface TaskParts {
  executor: Executor;
  validator: Validator;
  clock: Clock;
  /** Ends the task. */
  signal: AbortSignal;
}

/** Resolves when the task has ended and its subagent is closed. Never rejects. */
export async function runTask(task: FanoutTask, parts: TaskParts): Promise<TaskOutcome> {
  const { executor, clock, signal } = parts;
  const { timeout: timeoutMs = defaultTimeoutMs, worktree, tools, model } = task;
  const ending = new AbortController();
  const startMs = clock.monotonic();
  let isTimeout = false;
  const cancelTimer = clock.setTimer(timeoutMs, () => {
    isTimeout = true;
    ending.abort();
  });
  const stopFollowing = followSignal(signal, (reason) => ending.abort(reason));
  // In an async function, because it may throw at once.
  const creating = (async () =>
    await executor.createSubagent({ worktree, tools, model, systemPrompt: buildSystemPrompt(task) }))();
  try {
    const work = new AbortableWork(ending.signal);
    return await answerTask(task, await work.wait(creating), { ...parts, work, startMs });
  } catch (error) {
    if (!ending.signal.aborted || error !== ending.signal.reason) return { kind: "threw", error };
    return isTimeout ? { kind: "timeout", timeoutMs } : { kind: "aborted", reason: error };
  } finally {
    cancelTimer();
    stopFollowing();
    await closeSubagent(creating, clock);
  }
}

/** Waits for what may never settle: rejects with the reason of the signal when that aborts. */
class AbortableWork {
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async wait<T>(work: T | Promise<T>): Promise<T> {
    const outcome = await untilAborted(Promise.resolve(work), this.#signal);
    if (outcome.kind === "aborted") throw this.#signal.reason;
    return outcome.value;
  }
}

interface AnswerParts extends TaskParts {
  work: AbortableWork;
  startMs: number;
}

async function answerTask(
  { prompt, schema }: FanoutTask,
  subagent: Subagent,
  { validator, clock, work, startMs }: AnswerParts,
): Promise<TaskOutcome> {
  const getFigures = () => {
    const tokensUsed = subagent.lastUsage?.total_tokens;
    const durationMs = Math.round(clock.monotonic() - startMs);
    return { durationMs, ...(tokensUsed !== undefined && { tokensUsed }) };
  };
  const { answer, check } = await work.wait(
    askUntilFits(prompt, {
      ask: async (text) => await readText(await work.wait(subagent.run(text)), work),
      check: (text) => checkAnswer(text, schema, validator),
      maxCorrections: subagent.maxCorrections ?? 0,
    }),
  );
  if (check.kind === "unfit") return { kind: "unfit", error: check.error, ...getFigures() };
  return { kind: "answered", value: check.kind === "fits" ? check.value : answer, ...getFigures() };
}

async function readText(stream: TextStream, work: AbortableWork): Promise<string> {
  const iterator =
    Symbol.asyncIterator in Object(stream)
      ? (stream as AsyncIterable<string>)[Symbol.asyncIterator]()
      : (stream as Iterable<string>)[Symbol.iterator]();
  const pieces: string[] = [];
  let length = 0;
  let isOver = false;
  try {
    for (;;) {
      const { done = false, value } = await work.wait(iterator.next());
      isOver = done;
      if (done) return pieces.join("");
      pieces.push(String(value));
      length += pieces.at(-1)!.length;
      if (length > maxAnswerLength) throw new Error(`The answer is longer than ${maxAnswerLength} characters.`);
      if (pieces.length % piecesPerTurn === 0) await work.wait(nextTurn());
    }
  } finally {
    // Not waited for: a generator that hangs does not return either.
    if (!isOver) void (async () => await iterator.return?.())().catch(() => undefined);
  }
}

/** Closes a subagent, also one that is created later. Its result is known, so what goes wrong here changes nothing. */
async function closeSubagent(creating: Promise<Subagent>, clock: Clock): Promise<void> {
  const closing = creating.then(async (subagent) => await subagent.close?.()).catch(() => undefined);
  await untilTimeout(closing, closeMs, clock);
}
