/** Gives tasks to children that work side by side. */
import { type Clock, systemClock } from "@tau/ai";
import { followSignal, parseOutput, withoutUndefined } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { checkAgent, type FanoutAgent, followAgent, isAgent } from "./child.ts";
import type { Executor, FanoutOptions, FanoutOutput, FanoutResult, FanoutTask, Validator } from "./contract.ts";
import type { ChildPlace, IsolatedOutcome, TaskIsolation } from "./isolate-task.ts";
import { getStopError, mergeResults, type TaskOutcome, toResult } from "./results.ts";
import { runTask } from "./run-task.ts";
import { createSessionExecutor } from "./session-executor.ts";

export interface TaskFanoutParts {
  /** Default: that of the machine. */
  clock?: Clock;
}

export class TaskFanout {
  readonly #agent: FanoutAgent;
  readonly #executor: Executor | undefined;
  readonly #validator: Validator;
  readonly #clock: Clock;

  /**
   * Without an executor each task is a child session of the agent, which gets an answer that does not fit its schema back at
   * most twice. If the agent works in a git repository, a task that names no directory gets an isolated copy, also with an
   * executor. Without a validator the JSON in an answer is checked against the schema.
   */
  constructor(
    agent: FanoutAgent,
    executor?: Executor,
    validator: Validator = { parse: parseOutput },
    { clock = systemClock }: TaskFanoutParts = {},
  ) {
    if (!executor) checkAgent(agent);
    this.#agent = agent;
    this.#executor = executor;
    this.#validator = validator;
    this.#clock = clock;
  }

  /**
   * Runs the tasks, and resolves with their results in the order of the tasks when all have ended and nothing of them is
   * running any more. Failed tasks do not reject, unless `stopOnError` is set: then the first failure does, once the other
   * tasks have been ended.
   */
  fanout<Schema extends object>(
    tasks: readonly (FanoutTask & { schema: Schema })[],
    options?: FanoutOptions,
  ): Promise<FanoutResult<FanoutOutput<Schema>>[]>;
  fanout<T = string>(tasks: readonly FanoutTask<T>[], options?: FanoutOptions): Promise<FanoutResult<T>[]>;
  async fanout(tasks: readonly FanoutTask[], options: FanoutOptions = {}): Promise<FanoutResult[]> {
    const { parallelism = 4, stopOnError = false, merge = "successful", signal, onTask } = options;
    checkFanout(tasks, { parallelism, merge });
    const pending = [...tasks.entries()];
    const outcomes = new Map<number, TaskOutcome>();
    const branches = new Map<number, string>();
    const ending = new AbortController();
    const run = this.#createRunner(ending.signal);
    const end = (reason: unknown) => ending.abort(reason);
    const stops = [followSignal(signal, end), followAgent(this.#agent, end)];
    let stopError: Error | undefined;
    let isWon = false;
    const getResult = (index: number): FanoutResult => {
      const branch = branches.get(index);
      return { ...toResult(tasks[index]!.id, outcomes.get(index)!), ...(branch !== undefined && { branch }) };
    };
    const settle = (index: number, outcome: TaskOutcome) => {
      // Only the first success is one.
      const settled: TaskOutcome = isWon ? { kind: "aborted", reason: ending.signal.reason } : outcome;
      outcomes.set(index, settled);
      onTask?.({ kind: "ended", result: getResult(index) });
      if (isWon || stopError) return;
      if (stopOnError) stopError = getStopError(index, outcome);
      isWon = merge === "first" && outcome.kind === "answered";
      if (stopError || isWon) ending.abort();
    };
    const work = async () => {
      for (let next = pending.shift(); next; next = pending.shift()) {
        const [index, task] = next;
        const isOver = ending.signal.aborted;
        if (!isOver) onTask?.({ kind: "started", taskId: task.id });
        const { outcome, branch }: IsolatedOutcome = isOver
          ? { outcome: { kind: "aborted", reason: ending.signal.reason } }
          : await run(task);
        if (branch !== undefined) branches.set(index, branch);
        settle(index, outcome);
      }
    };
    await Promise.all(Array.from({ length: Math.min(parallelism, tasks.length) }, work));
    for (const stop of stops) stop();
    if (stopError) throw stopError;
    return mergeResults(
      tasks.map((_task, index) => getResult(index)),
      merge,
    );
  }

  /** Chooses how the tasks of one fan-out are run, which share what is the same for all of them. */
  #createRunner(signal: AbortSignal): (task: FanoutTask) => Promise<IsolatedOutcome> {
    const parts = { validator: this.#validator, clock: this.#clock, signal };
    const executor = this.#executor;
    const runIn = (task: FanoutTask, place: ChildPlace = {}) =>
      executor
        ? runTask({ ...task, ...withoutUndefined({ worktree: place.cwd }) }, { ...parts, executor })
        : runTask(task, { ...parts, executor: createSessionExecutor(this.#agent, task, place) });
    let isolation: Promise<TaskIsolation> | undefined;
    return async (task) => {
      if (task.worktree !== undefined || !isAgent(this.#agent)) return { outcome: await runIn(task) };
      isolation ??= this.#openIsolation(signal);
      return await (await isolation).run(task, (place) => runIn(task, place));
    };
  }

  async #openIsolation(signal: AbortSignal): Promise<TaskIsolation> {
    // Late, because it needs git, and most programs that use this have an executor or name directories.
    const { TaskIsolation } = await import("./isolate-task.ts");
    return new TaskIsolation(this.#agent, signal);
  }
}

const merges: readonly unknown[] = ["all", "successful", "first"];

function checkFanout(
  tasks: readonly FanoutTask[],
  { parallelism, merge }: Required<Pick<FanoutOptions, "parallelism" | "merge">>,
): void {
  if (!(parallelism >= 1)) throw invalid(`The parallelism is ${parallelism}, but must be at least 1.`);
  if (!merges.includes(merge)) throw invalid(`The merge is ${merge}, but must be one of ${merges.join(", ")}.`);
  const timeless = tasks.find(({ timeout = 0 }) => !(timeout >= 0));
  if (timeless)
    throw invalid(`The timeout of the task ${timeless.id} is ${timeless.timeout}, but must not be negative.`);
}

const invalid = (message: string) => new HarnessError("invalid_input", message);
