import { maxMessageBytes } from "../messages.ts";

/**
 * Runs cells. It has a realm of its own: what cells change of `Array`, `Promise` and the like is not what this program uses. Of
 * Node it uses what it was given before the first cell. It awaits nothing, because that would call `then` of values of cells.
 */
export const runner = String.raw`"use strict";
({ node, port, gone, cells: { KernelError, MainError, call, define }, blockOutput }) => {
const { inspect: inspectValue, isNativeError, isTypedArray, isUint8Array, onInitPromise, parse, stringify, ObjectPrototype } = node;
const { fstatSync, writeSync, from, bufferToString, session, sessionPost, reallyExit, setInterval, clearInterval, wait } = node;
const { apply, deleteProperty } = Reflect;
const { hasOwn } = Object;
const maxText = 200000, maxValue = 4000000, maxPng = 5000000, maxRows = 100, maxMessage = ${maxMessageBytes}, watchMs = 100;
// The cells and calls in progress, the newest last. Node cannot follow them through promises and be interrupted as well.
const scopes = [];
const getScope = () => scopes.at(-1) ?? null;
const enter = (id) => scopes.push(id);
const leave = (id) => {
  const index = scopes.lastIndexOf(id);
  if (index >= 0) scopes.splice(index, 1);
};
const requests = new Map();
const running = new Set();
const registered = new Map();
let nextId = 0;
let isReady = false;

const print = (text) => {
  try {
    writeSync(2, text);
  } catch {
    // Nobody can be told.
  }
};
// Otherwise Node prints that it waits for the session of the worker.
const disconnect = () => {
  port.postMessage("exit");
  wait(gone, 0, 0, 200);
};
const fail = (why) => {
  print("[The kernel cannot continue: " + why + ".]\n");
  try {
    disconnect();
  } finally {
    apply(reallyExit, node.process, [1]);
  }
};
const tooMuch = "a cell has changed too much of what it needs";
const identify = (descriptor) => {
  const { dev, ino } = fstatSync(descriptor);
  return dev + ":" + ino;
};
const files = [identify(3), identify(4)];
const checkDescriptors = () => {
  try {
    // What another file gets never arrives, and what it sends is no message: the host would wait for ever.
    if (identify(3) === files[0] && identify(4) === files[1]) return;
  } catch {
    // Closed.
  }
  fail("a cell has closed or replaced the descriptors of its messages");
};
// An interrupt may end a write: then the rest is written with the next one.
const unsent = [];
const flush = () => {
  if (unsent.length > 0) checkDescriptors();
  for (; unsent.length > 0; unsent.shift()) {
    const message = unsent[0];
    while (message.start < message.bytes.length) {
      try {
        message.start += writeSync(4, message.bytes, message.start);
      } catch (error) {
        if (error.code !== "EAGAIN") fail("its messages cannot be written");
      }
    }
  }
};
const write = (bytes) => {
  unsent.push({ bytes, start: 0 });
  flush();
};
const encode = (type, payload) => from(stringify({ type, payload }) + "\n");
const send = (type, payload) => write(encode(type, payload));

// Node and V8 exchange these as plain objects. With such a property no message of the inspector is understood, or no promise settled.
const unusable = ["toJSON", "error", "params", "then"];
const repair = () => {
  for (let index = 0; index < unusable.length; index++) {
    const name = unusable[index];
    if (!hasOwn(ObjectPrototype, name)) continue;
    const problem = "Object.prototype." + name + " was set, with which cells cannot run";
    if (!deleteProperty(ObjectPrototype, name)) fail(problem);
    print("[" + problem + ". It was removed.]\n");
    // The promise of the cell may have been given to it, and not be settled.
    if (name === "then") for (const id of running) finish(id, { status: "error", error: { name: "KernelError", message: problem, traceback: problem + "." } });
  }
};
const post = (method, params, callback = () => {}) => {
  repair();
  apply(sessionPost, session, [method, params, callback]);
};

const toValue = (value) => {
  try {
    // Writing a value as JSON that is too long anyway may take minutes.
    if ((typeof value === "string" || Array.isArray(value) || isTypedArray(value)) && value.length > maxValue) return undefined;
    const text = stringify(value, (key, part) => (typeof part === "bigint" ? String(part) : part));
    return text === undefined || text.length > maxValue ? undefined : parse(text);
  } catch {
    return undefined;
  }
};
const inspect = (value) => {
  try {
    const text = inspectValue(value, { depth: 4, maxArrayLength: 200, maxStringLength: 20000, breakLength: 120 });
    return removeRunner(text.slice(0, maxText));
  } catch {
    return "[This value cannot be shown.]";
  }
};
// Stacks of errors have the functions of this program below those of the cell.
const runnerFrames = /(?:\n *at [^\n]*(?:\bSession\.post\b|node:inspector|\[eval\]|per_context\/messageport)[^\n]*)+/g;
const removeRunner = (text) => text.replace(runnerFrames, "");
const pngStart = [137, 80, 78, 71, 13, 10, 26, 10];
const isPng = (value) => isUint8Array(value) && pngStart.every((byte, index) => value[index] === byte);
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const toTable = (value) => {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const columns = new Set();
  const shown = [];
  for (let index = 0; index < value.length; index++) {
    const row = value[index];
    if (!isRecord(row)) return undefined;
    if (index >= maxRows) continue;
    shown.push(row);
    for (const name of Object.keys(row)) columns.add(name);
  }
  const names = [...columns];
  const isFlat = shown.every((row) => names.every((name) => typeof row[name] !== "object" || row[name] === null));
  if (names.length === 0 || names.length > 50 || !isFlat) return undefined;
  const rows = shown.map((row) => names.map((name) => String(row[name] ?? "").slice(0, 200)));
  return { columns: names, rows, total: value.length };
};
const show = (value) => {
  if (!isPng(value)) return false;
  if (value.length > maxPng) print("[An image of " + value.length + " bytes is too large to be shown.]\n");
  else send("Display", { id: getScope(), png: apply(bufferToString, from(value), ["base64"]) });
  return true;
};
const display = (value) => {
  if (show(value)) return;
  const id = getScope();
  const table = toTable(value);
  const json = table || typeof value !== "object" || value === null ? undefined : toValue(value);
  if (table) send("Display", { id, table });
  else if (json !== undefined) send("Display", { id, json });
  else send("Display", { id, text: (typeof value === "string" ? value : inspect(value)).slice(0, maxText) });
};
const ask = (type, payload, settle) => {
  const id = ++nextId;
  const bytes = encode(type, { id, scope: getScope(), ...payload });
  if (bytes.length > maxMessage)
    throw new KernelError("A call has at most 16 MB. Write large values to a file, and pass its path.", "invalid_arguments");
  requests.set(id, settle);
  write(bytes);
};
const register = (name, handler, { description, parameters }) => {
  registered.set(name, handler);
  send("Register", { name, description: String(description ?? "").slice(0, 2000), parameters: toValue(parameters) ?? null });
};

let watch;
const finish = (id, answer) => {
  if (!running.has(id)) return flush();
  clearInterval(watch);
  // The console of the inspector keeps what was printed.
  post("Runtime.discardConsoleEntries", {});
  post("Runtime.releaseObjectGroup", { objectGroup: "cell" });
  // An interrupt may come between any two of these: then the cell is answered twice, and the first answer applies.
  unsent.push({ bytes: encode("Done", { id, ...answer }), start: 0 });
  running.delete(id);
  leave(id);
  flush();
};
// A cell that awaits a promise which nothing else holds would be collected with it, and the inspector of Node 22 ends the process then. It stays
// here until it is settled, also after an interrupt.
const held = new Map();
const hold = (id, evaluate) => {
  let stop = onInitPromise((promise) => {
    stop?.();
    stop = undefined;
    // The first one is that of the cell itself.
    held.set(id, promise);
  });
  evaluate();
  stop?.();
};
let result;
let takeId;
define({ __take: (value) => void (result = value) });
const takeOnce = "(() => { const take = __take; delete globalThis.__take; return take; })()";
post("Runtime.evaluate", { expression: takeOnce, objectGroup: "own" }, (_, answer) => {
  takeId = answer.result.objectId;
});
const runCell = ({ id, code }) => {
  running.add(id);
  enter(id);
  blockOutput();
  watch = setInterval(repair, watchMs);
  const options = { expression: code, replMode: true, awaitPromise: true, silent: true, objectGroup: "cell" };
  hold(id, () => post("Runtime.evaluate", options, (problem, answer) => {
    held.delete(id);
    if (problem) return finish(id, { status: "interrupted" });
    const argument = toArgument(answer.result);
    const call = { objectId: takeId, functionDeclaration: "function (value) { this(value); }", arguments: [argument] };
    post("Runtime.callFunctionOn", call, () => {
      const value = result;
      result = undefined;
      try {
        if (hasOwn(answer, "exceptionDetails")) return finish(id, { status: "error", error: describeError(value, answer.exceptionDetails) });
        const isShown = show(value);
        const text = value === undefined || isShown ? {} : { result: inspect(value) };
        finish(id, { status: "ok", ...text, value: isShown ? null : (toValue(value) ?? null) });
      } catch {
        fail(tooMuch);
      }
    });
  }));
  repair();
};
const toArgument = (remote) => {
  for (const name of ["objectId", "unserializableValue", "value"]) if (hasOwn(remote, name)) return { [name]: remote[name] };
  return {};
};
const describeError = (error, details) => {
  try {
    if (!isNativeError(error) && !(error instanceof MainError)) throw error;
    const place = error.name === "SyntaxError" ? " (line " + (details.lineNumber + 1) + ")" : "";
    const traceback = removeRunner(String(error.stack ?? error)) + place;
    return { name: String(error.name), message: String(error.message).slice(0, maxText), traceback: traceback.slice(0, 20000) };
  } catch {
    return { name: "Error", message: inspect(error), traceback: "Uncaught " + inspect(error) };
  }
};
const getMessage = (error) => {
  try {
    return String(error?.message ?? error).slice(0, maxText);
  } catch {
    return inspect(error);
  }
};
const invoke = ({ id, name, params }) => {
  const end = (answer) => {
    leave(id);
    send("Invoked", { id, ...answer });
  };
  const handler = registered.get(name);
  if (!handler) return end({ error: { message: "Tool not found: " + name, kind: "failed" } });
  enter(id);
  call(
    handler,
    params ?? {},
    (value) => end({ value: toValue(value) ?? null }),
    (error) => end({ error: { message: getMessage(error), kind: "failed" } }),
  );
};
const receive = ({ type, payload }) => {
  if (type === "Cell") return runCell(payload);
  if (type === "Invoke") return invoke(payload);
  if (type === "Ping") {
    port.postMessage("pong");
    // The interrupt may have ended what would have begun the cell: then it never runs. A second answer has no effect.
    if (!running.has(payload.id)) {
      leave(payload.id);
      return send("Done", { id: payload.id, status: "interrupted" });
    }
    return finish(payload.id, { status: "interrupted" });
  }
  if (type === "Opened") {
    if (isReady) return;
    isReady = true;
    return send("Ready", {});
  }
  const settle = requests.get(payload.id);
  requests.delete(payload.id);
  if (!settle) return;
  const { result } = payload;
  if (hasOwn(result, "error")) settle(new KernelError(result.error.message, result.error.kind));
  else settle(undefined, result.value);
};
port.onmessage = ({ data }) => {
  try {
    receive(parse(data));
  } catch {
    fail(tooMuch);
  }
};
port.start();
return { ask, disconnect, display, registered, register, report: (error) => print("Uncaught " + inspect(error) + "\n") };
}`;
