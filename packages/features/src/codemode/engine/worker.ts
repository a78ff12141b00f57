/** The worker thread of one script: QuickJS, its limits, and the messages between the script and its host. */
import type * as Threads from "node:worker_threads";
import type * as Engine from "quickjs-wasi";
import type { GuestMessage, GuestSetup } from "./guest.ts";

/** A piece of output, in the order in which the script made it. */
export type OutputItem =
  | { readonly kind: "text" | "console"; readonly text: string }
  | { readonly kind: "image"; readonly data: string; readonly mimeType: string };

/** The last change of a stored value; null removes it. */
export interface StoreChange {
  readonly key: string;
  readonly json: string | null;
}

export type ScriptEnd =
  | { readonly kind: "completed"; readonly changes: readonly StoreChange[] }
  | { readonly kind: "failed"; readonly message: string };

/** Messages of the worker. */
export type WorkerMessage =
  | { readonly type: "output"; readonly items: readonly OutputItem[] }
  | { readonly type: "call"; readonly id: string; readonly json: string }
  | { readonly type: "end"; readonly end: ScriptEnd };

/** Answers of the host: the result of a call as JSON, or the text of its error as JSON. An empty text is `undefined`. */
export interface CallAnswer {
  readonly id: string;
  readonly isValue: boolean;
  readonly json: string;
}

export interface ScriptLimits {
  readonly memoryBytes: number;
  /** In characters: of text and of base64 data together. */
  readonly outputLength: number;
  /** Calls of `text`, `image` and `console`. */
  readonly outputItems: number;
  readonly calls: number;
  /** In characters of JSON, for the arguments of all calls together that have not been answered. */
  readonly argumentsLength: number;
  /** In characters of JSON. */
  readonly storedValueLength: number;
  /** In characters of all keys and values together. */
  readonly storeLength: number;
  /** In characters, for the text of an error. */
  readonly errorLength: number;
}

export interface WorkerData {
  /** A compiled `WebAssembly.Module`. */
  readonly wasm: unknown;
  /** The text of `createGuest`. */
  readonly guest: string;
  /** `GuestSetup` as JSON. */
  readonly setup: string;
  readonly code: string;
  readonly limits: ScriptLimits;
  /** An `Int32Array` of one element: 1 stops the script. */
  readonly stop: SharedArrayBuffer;
}

/**
 * Runs a script. The thread gets this function as text, so it must not use anything from outside of it: neither sources nor a
 * bundle have a file that a thread could load.
 */
export async function runWorker(
  { QuickJS, MAX_STACK_SIZE }: typeof Engine,
  load: (name: string) => unknown,
): Promise<void> {
  const { parentPort, workerData } = load("node:worker_threads") as typeof Threads;
  const { wasm, guest, setup, code, limits, stop } = workerData as WorkerData;
  const stopped = new Int32Array(stop);
  const tell = (message: WorkerMessage): void => parentPort!.postMessage(message, []);

  let end: ScriptEnd | undefined;
  let items: OutputItem[] = [];
  let outputLength = 0;
  let outputItems = 0;
  let calls = 0;
  /** How long the arguments of the calls are that have not been answered, by their ids. */
  const open = new Map<string, number>();
  let openLength = 0;
  const stored = new Map(Object.entries((JSON.parse(setup) as GuestSetup).store));
  let storeLength = [...stored].reduce((length, [key, json]) => length + key.length + json.length, 0);
  const kept: ReadonlySet<string> = new Set(stored.keys());
  const changed = new Set<string>();

  const flush = (): void => {
    if (items.length > 0) tell({ type: "output", items });
    items = [];
  };
  const fail = (message: string): void => {
    const cut = message.length > limits.errorLength ? `${message.slice(0, limits.errorLength)}…` : message;
    end ??= { kind: "failed", message: cut.toWellFormed() };
  };
  const add = (item: OutputItem): string => {
    outputLength += item.kind === "image" ? item.data.length : item.text.length;
    outputItems++;
    if (outputItems > limits.outputItems || outputLength > limits.outputLength) {
      const message = `The output passes ${limits.outputLength} characters or ${limits.outputItems} items. Write large data to a file with a tool.`;
      fail(message);
      return message;
    }
    items.push(item);
    return "";
  };
  const checkImage = (data: string, mimeType: string): string => {
    if (!/^image\/(?:png|jpeg|gif|webp)$/.test(mimeType)) return "image() shows PNG, JPEG, GIF and WebP images.";
    if (data === "" || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) return "The data of the image is not base64.";
    return "";
  };
  const beginCall = (json: string): string => {
    if (calls >= limits.calls) return `!A script may make ${limits.calls} calls at most.`;
    if (openLength + json.length > limits.argumentsLength)
      return `!The arguments of calls that run at once may have ${limits.argumentsLength} characters of JSON at most.`;
    const id = String(++calls);
    open.set(id, json.length);
    openLength += json.length;
    tell({ type: "call", id, json });
    return id;
  };
  const store = ({ key, json }: StoreChange): string => {
    const before = stored.get(key);
    if (json === null) {
      if (before === undefined) return "";
      stored.delete(key);
    } else {
      // The guest checks the types for the script; what it sends is checked again here.
      if (typeof key !== "string" || typeof json !== "string") return "store() takes a key and a JSON value.";
      JSON.parse(json);
      if (json.length > limits.storedValueLength)
        return `A stored value may have ${limits.storedValueLength} characters of JSON at most.`;
      const length = storeLength + key.length + json.length;
      if (length - (before === undefined ? 0 : key.length + before.length) > limits.storeLength)
        return `All stored values together may have ${limits.storeLength} characters of JSON at most.`;
      stored.set(key, json);
      storeLength = length;
    }
    if (before !== undefined) storeLength -= key.length + before.length;
    if (json === null && !kept.has(key)) changed.delete(key);
    else changed.add(key);
    return "";
  };
  const listChanges = (): StoreChange[] => [...changed].map((key) => ({ key, json: stored.get(key) ?? null }));
  const receive = (kind: GuestMessage, json: string): string => {
    if (end) return kind === "call" ? "!The script has ended." : "The script has ended.";
    switch (kind) {
      case "call":
        return beginCall(json);
      case "text":
      case "console":
        return add({ kind, text: (JSON.parse(json) as string).toWellFormed() });
      case "image": {
        const { data, mimeType } = JSON.parse(json) as { data: string; mimeType: string };
        return checkImage(data, mimeType) || add({ kind, data, mimeType });
      }
      case "store":
        return store(JSON.parse(json) as StoreChange);
      case "exit":
      case "completed":
        end = { kind: "completed", changes: listChanges() };
        return "";
      case "failed": {
        const { message, line } = JSON.parse(json) as { message: string; line: string | null };
        fail(line === null ? message : `${message.slice(0, limits.errorLength)} (line ${line})`);
        return "";
      }
    }
  };
  const describe = (error: unknown): string => {
    const { name, message } = error as Error;
    // QuickJS says only that it was interrupted.
    if (Atomics.load(stopped, 0) === 1) return "The script was stopped.";
    return name === "SyntaxError" || name === "InternalError" || name === "RangeError"
      ? `${name}: ${message}`
      : `The script ended the engine: ${message}`;
  };

  const vm = await QuickJS.create({
    wasm: wasm as Uint8Array<ArrayBuffer>,
    memoryLimit: limits.memoryBytes,
    // Without it, deep recursion would end the engine instead of throwing an error.
    maxStackSize: MAX_STACK_SIZE,
    // An interruption cannot be caught by the script.
    interruptHandler: () => end !== undefined || Atomics.load(stopped, 0) === 1,
  });
  const send = vm.newFunction("send", (kind, json) =>
    vm.newString(receive(kind!.toString() as GuestMessage, json!.toString())),
  );
  const create = vm.evalCode(`(${guest})`, "<guest>");
  const handles = vm.callFunction(create, vm.undefined, send, vm.newString(setup));
  const settle = handles.getProp("settle");
  const follow = handles.getProp("follow");

  /** Runs something of the script, and what becomes due by it. */
  const run = (work: () => void): void => {
    try {
      work();
      vm.executePendingJobs();
    } catch (error) {
      fail(describe(error));
    }
    if (Atomics.load(stopped, 0) === 1) fail("The script was stopped.");
    if (open.size === 0) fail("The script waits for a promise that nothing will ever settle.");
    flush();
    if (end) tell({ type: "end", end });
  };
  parentPort!.on("message", ({ id, isValue, json }: CallAnswer) => {
    const length = open.get(id);
    if (end || length === undefined) return;
    open.delete(id);
    openLength -= length;
    run(() => {
      vm.callFunction(
        settle,
        vm.undefined,
        vm.newString(id),
        isValue ? vm.true : vm.false,
        vm.newString(json),
      ).dispose();
    });
  });
  run(() => {
    // The code begins in the first line, so that lines are counted as the model counts them.
    const result = vm.evalCode(`(async () => {${code}\n})()`, "<script>");
    vm.callFunction(follow, vm.undefined, result).dispose();
  });
}
