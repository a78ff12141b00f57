/** Runs scripts in QuickJS, each in a worker thread of its own, which ends with it. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { type Clock, systemClock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { createGuest, type GuestSetup } from "./guest.ts";
import { Slots } from "./slots.ts";
import {
  type CallAnswer,
  type OutputItem,
  runWorker,
  type ScriptEnd,
  type ScriptLimits,
  type WorkerData,
  type WorkerMessage,
} from "./worker.ts";

export interface Script {
  readonly code: string;
  readonly setup: Omit<GuestSetup, "maxErrorLength">;
  /** Answers a call of the script. The value is sent as JSON; a rejection becomes an `Error` with its message. */
  readonly call: (method: string, args: unknown, signal: AbortSignal) => Promise<unknown>;
  /** Called with what the script has output since the last call. */
  readonly onOutput?: (items: readonly OutputItem[]) => void;
  /** A limit of everything, in milliseconds, with the wait for a worker. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Returns how long a person has been waited for, of all time, which the default limit leaves out. */
  readonly getPersonWaitMs?: () => number;
  readonly signal?: AbortSignal | undefined;
}

export interface ScriptResult {
  readonly end: ScriptEnd;
  readonly items: readonly OutputItem[];
  readonly durationMs: number;
}

export const scriptLimits: ScriptLimits = {
  memoryBytes: 256 * 1024 * 1024,
  outputLength: 16_777_216,
  outputItems: 100_000,
  calls: 1_000,
  argumentsLength: 16_777_216,
  storedValueLength: 262_144,
  storeLength: 1_048_576,
  errorLength: 10_000,
};

const defaultLimitMs = 10 * 60 * 1_000;
const maxWaitForSlotMs = 60_000;
/** How long a script that is stopped may take to hand over its output. */
const stopGraceMs = 100;
const maxWorkers = 2;
/**
 * The heap of the thread itself, since the memory of the script lies outside of it, and its stack. QuickJS limits the depth of a script
 * with a stack of its own, and throws an error that the script can catch. Until that limit V8 needs up to 8 MB, depending on which of its
 * compilers has compiled the engine; with Node's default of 4 MB, V8 would sometimes end the engine first.
 */
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16, stackSizeMb: 32 };

interface Environment {
  readonly clock?: Clock;
  readonly slots?: Slots;
  readonly limits?: ScriptLimits;
}

const processSlots = new Slots(maxWorkers);

/** Never rejects: what is wrong with the script is its end. */
export async function runScript(
  script: Script,
  { clock = systemClock, slots = processSlots, limits = scriptLimits }: Environment = {},
): Promise<ScriptResult> {
  const startMs = clock.monotonic();
  const stop = new AbortController();
  const fail = (message: string): ScriptResult => ({
    end: { kind: "failed", message },
    items: [],
    durationMs: clock.monotonic() - startMs,
  });
  const follow = (): void => stop.abort("aborted");
  if (script.signal?.aborted) follow();
  script.signal?.addEventListener("abort", follow, { once: true });
  const timer = new Deadline(script, clock, (message) => stop.abort(message));
  try {
    const free = await slots.take(stop.signal, { timeoutMs: maxWaitForSlotMs, clock });
    if (!free)
      return fail(describeStop(stop.signal) ?? "No worker was free within 60 seconds. The script did not run.");
    try {
      timer.begin();
      const { end, items } = await runInWorker(script, { stop: stop.signal, clock, limits });
      return { end, items, durationMs: clock.monotonic() - startMs };
    } catch (error) {
      return fail(`The engine could not be started: ${getErrorMessage(error)}`);
    } finally {
      free();
    }
  } finally {
    timer.close();
    script.signal?.removeEventListener("abort", follow);
  }
}

const describeStop = ({ aborted, reason }: AbortSignal): string | undefined =>
  !aborted ? undefined : reason === "aborted" ? "The script was aborted." : String(reason);

/** Stops a script that takes too long. */
class Deadline {
  readonly #script: Script;
  readonly #clock: Clock;
  readonly #stop: (message: string) => void;
  readonly #cancel: (() => void)[] = [];

  constructor(script: Script, clock: Clock, stop: (message: string) => void) {
    this.#script = script;
    this.#clock = clock;
    this.#stop = stop;
    const { timeoutMs } = script;
    if (timeoutMs === undefined) return;
    this.#cancel.push(
      clock.setTimer(timeoutMs, () => stop(`The script took longer than its timeout_ms of ${timeoutMs} milliseconds.`)),
    );
  }

  /** Called when the script starts. */
  begin(): void {
    if (this.#script.timeoutMs === undefined) this.#watch(this.#clock.monotonic(), this.#getWaitMs(), defaultLimitMs);
  }

  close(): void {
    for (const cancel of this.#cancel) cancel();
  }

  #getWaitMs(): number {
    return this.#script.getPersonWaitMs?.() ?? 0;
  }

  #watch(startMs: number, waitedBeforeMs: number, leftMs: number): void {
    const cancel = this.#clock.setTimer(leftMs, () => {
      const workedMs = this.#clock.monotonic() - startMs - (this.#getWaitMs() - waitedBeforeMs);
      if (workedMs >= defaultLimitMs) this.#stop(`The script took longer than ${defaultLimitMs / 60_000} minutes.`);
      // While a person is asked nothing is counted, so that the rest may take any time.
      else this.#watch(startMs, waitedBeforeMs, Math.max(1_000, defaultLimitMs - workedMs));
    });
    this.#cancel.splice(0, this.#cancel.length, cancel);
  }
}

interface RunningScript {
  readonly stop: AbortSignal;
  readonly clock: Clock;
  readonly limits: ScriptLimits;
}

async function runInWorker(
  { code, setup, call, onOutput }: Script,
  { stop, clock, limits }: RunningScript,
): Promise<Pick<ScriptResult, "end" | "items">> {
  const items: OutputItem[] = [];
  const flag = new SharedArrayBuffer(4);
  const calls = new AbortController();
  const worker = await startWorker({
    wasm: await compileEngine(),
    guest: createGuest.toString(),
    setup: JSON.stringify({ ...setup, maxErrorLength: limits.errorLength } satisfies GuestSetup),
    code,
    limits,
    stop: flag,
  });
  let cancelGrace = () => {};
  let giveUp = () => {};
  try {
    const end = await new Promise<ScriptEnd>((resolve) => {
      const fail = (message: string): void => resolve({ kind: "failed", message: describeStop(stop) ?? message });
      const answer = async (id: string, json: string): Promise<void> => {
        worker.postMessage(await answerCall(call, id, json, calls.signal), []);
      };
      worker.on("message", (message: WorkerMessage) => {
        switch (message.type) {
          case "output":
            items.push(...message.items);
            onOutput?.(message.items);
            return;
          case "call":
            void answer(message.id, message.json);
            return;
          case "end":
            if (message.end.kind === "failed") fail(message.end.message);
            else resolve(message.end);
        }
      });
      worker.once("error", (error) => fail(describeWorkerError(error)));
      worker.once("exit", () => fail("The worker of the script ended."));
      giveUp = () => {
        // A script that computes hands over what it has; one that only waits cannot hear this.
        Atomics.store(new Int32Array(flag), 0, 1);
        cancelGrace = clock.setTimer(stopGraceMs, () => fail("The script was stopped."));
      };
      if (stop.aborted) giveUp();
      else stop.addEventListener("abort", giveUp, { once: true });
    });
    return { end, items };
  } finally {
    stop.removeEventListener("abort", giveUp);
    cancelGrace();
    calls.abort(new Error("The script that made this call has ended."));
    await worker.terminate();
  }
}

/** Never rejects. */
async function answerCall(call: Script["call"], id: string, json: string, signal: AbortSignal): Promise<CallAnswer> {
  try {
    const { method, args } = JSON.parse(json) as { method: string; args: unknown };
    const value = await call(method, args, signal);
    return { id, isValue: true, json: JSON.stringify(value) ?? "" };
  } catch (error) {
    return { id, isValue: false, json: JSON.stringify(getErrorMessage(error)) };
  }
}

const describeWorkerError = (error: unknown): string =>
  (error as { code?: unknown }).code === "ERR_WORKER_OUT_OF_MEMORY"
    ? "The script needs more memory than a worker has."
    : `The worker of the script failed: ${getErrorMessage(error)}`;

/** A global of Node that its types do not have. */
interface WithWebAssembly {
  WebAssembly: { compile(bytes: Uint8Array): Promise<object> };
}

let engine: Promise<object> | undefined;

/** Compiles the engine once for all workers of the process. */
function compileEngine(): Promise<object> {
  const { WebAssembly } = globalThis as unknown as WithWebAssembly;
  const path = createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm");
  engine ??= readFile(path).then((bytes) => WebAssembly.compile(bytes));
  engine.catch(() => (engine = undefined));
  return engine;
}

async function startWorker(workerData: WorkerData): Promise<Worker> {
  const library = pathToFileURL(createRequire(import.meta.url).resolve("quickjs-wasi")).href;
  const source = `import(${JSON.stringify(library)}).then((engine) => (${runWorker.toString()})(engine, require))`;
  return new Worker(source, { eval: true, workerData, resourceLimits, env: {}, stdin: false });
}
