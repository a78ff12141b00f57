import { maxMessageBytes } from "../messages.ts";

/**
 * The programs of a JavaScript kernel, which is a Node process. The worker thread reads messages from descriptor 3, so that it can
 * interrupt the main thread however busy that is: it has a session of the inspector for `Runtime.terminateExecution`. The main
 * thread evaluates cells in a session of its own, since one that dispatches a message handles no other until it has ended, and
 * writes messages to descriptor 4. No port is opened.
 */
const worker = String.raw`
"use strict";
const { parentPort, workerData: gone } = require("node:worker_threads");
const { Session } = require("node:inspector");
const { Socket } = require("node:net");
const session = new Session();
session.connectToMainThread();
const waiting = [];
let ping;
const forward = (message) => (ping ? waiting.push(message) : parentPort.postMessage(message));
const interrupt = (id) => {
  if (ping) return;
  session.post("Runtime.terminateExecution", {}, () => {});
  // A termination that found nothing to end ends what comes next, which may be the handler of the ping: so it is repeated.
  ping = setInterval(() => parentPort.postMessage({ type: "Ping", payload: { id } }), 20);
};
parentPort.on("message", (message) => {
  if (message === "exit") {
    session.disconnect();
    Atomics.store(gone, 0, 1);
    return void Atomics.notify(gone, 0);
  }
  clearInterval(ping);
  ping = undefined;
  for (const message of waiting.splice(0)) forward(message);
});
const socket = new Socket({ fd: 3, readable: true, writable: false });
let pieces = [];
socket.on("data", (chunk) => {
  let start = 0;
  for (let end; (end = chunk.indexOf(10, start)) >= 0; start = end + 1) {
    pieces.push(chunk.subarray(start, end));
    const message = JSON.parse(Buffer.concat(pieces).toString());
    pieces = [];
    if (message.type === "Interrupt") interrupt(message.payload.id);
    else forward(message);
  }
  pieces.push(chunk.subarray(start));
});
const end = () => process.kill(process.pid, "SIGKILL");
socket.on("end", end);
socket.on("error", end);
parentPort.postMessage({ type: "Opened", payload: {} });
`;

/**
 * The options of the Node of a kernel. An interrupt in the callback of a timer would end the process: the stack of such callbacks is
 * checked. With `AsyncLocalStorage` it is checked again, unless that is kept in frames, which Node 24 does by itself.
 */
export const nodeOptions: readonly string[] = [
  "--no-force-async-hooks-checks",
  ...["--experimental-async-context-frame"].filter((option) => process.allowedNodeEnvironmentFlags.has(option)),
];

/** In a function of its own: names of the script itself are those of cells too. */
export const javascriptRunner = String.raw`(() => {
"use strict";
const { Worker } = require("node:worker_threads");
const { Session } = require("node:inspector");
const fs = require("node:fs");
const util = require("node:util");
const { promiseHooks } = require("node:v8");
const maxText = 200000, maxValue = 4000000, maxPng = 5000000, maxRows = 100, maxMessage = ${maxMessageBytes};
const session = new Session();
session.connect();
// The cells and calls in progress, the newest last. Node cannot follow them through promises and be interrupted as well.
const scopes = [];
const getScope = () => scopes.at(-1);
const enter = (id) => scopes.push(id);
const leave = (id) => {
  const index = scopes.lastIndexOf(id);
  if (index >= 0) scopes.splice(index, 1);
};
const calls = new Map();
const cells = new Set();
const registered = new Map();
let nextId = 0;
let isReady = false;
let isPrinting = false;
// Cells may change what is global.
const { parse, stringify } = JSON;
const { from } = Buffer;
const { fstatSync, writeSync } = fs;
const { reallyExit } = process;
// The kernel cannot answer any more, because a cell has changed too much of it.
const fail = () => {
  try {
    disconnect();
  } finally {
    reallyExit.call(process, 1);
  }
};
const identifyOutput = () => {
  const { dev, ino } = fstatSync(4);
  return dev + ":" + ino;
};
const output = identifyOutput();
const write = (bytes) => {
  try {
    // What another file gets in its place never arrives, and the host would wait for ever.
    if (identifyOutput() !== output) fail();
  } catch {
    fail();
  }
  for (let start = 0; start < bytes.length; ) {
    try {
      start += writeSync(4, bytes, start);
    } catch (error) {
      if (error.code === "EAGAIN") continue;
      fail();
    }
  }
};
const encode = (type, payload) => from(stringify({ type, payload }) + "\n");
const send = (type, payload) => write(encode(type, payload));
const toValue = (value) => {
  try {
    // Writing a value as JSON that is too long anyway may take minutes.
    if ((typeof value === "string" || Array.isArray(value) || util.types.isTypedArray(value)) && value.length > maxValue) return undefined;
    const text = stringify(value, (key, part) => (typeof part === "bigint" ? String(part) : part));
    return text === undefined || text.length > maxValue ? undefined : parse(text);
  } catch {
    return undefined;
  }
};
const inspect = (value) => {
  try {
    const text = util.inspect(value, { depth: 4, maxArrayLength: 200, maxStringLength: 20000, breakLength: 120 });
    return removeRunner(text.slice(0, maxText));
  } catch {
    return "[This value cannot be shown.]";
  }
};
// Stacks of errors have the functions of this program below those of the cell.
const runnerFrames = /(?:\n *at [^\n]*(?:\bSession\.post\b|node:inspector|\[eval\])[^\n]*)+/g;
const removeRunner = (text) => text.replace(runnerFrames, "");
const pngStart = [137, 80, 78, 71, 13, 10, 26, 10];
const isPng = (value) => util.types.isUint8Array(value) && pngStart.every((byte, index) => value[index] === byte);
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const toTable = (value) => {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord)) return undefined;
  const columns = [...new Set(value.slice(0, maxRows).flatMap((row) => Object.keys(row)))];
  const isFlat = value.slice(0, maxRows).every((row) => columns.every((name) => typeof row[name] !== "object" || row[name] === null));
  if (columns.length === 0 || columns.length > 50 || !isFlat) return undefined;
  const rows = value.slice(0, maxRows).map((row) => columns.map((name) => String(row[name] ?? "").slice(0, 200)));
  return { columns, rows, total: value.length };
};
const show = (value) => {
  if (!isPng(value)) return false;
  const id = getScope();
  if (value.length > maxPng) console.log("[An image of " + value.length + " bytes is too large to be shown.]");
  else send("Display", { id, png: Buffer.from(value).toString("base64") });
  return true;
};
const display = (...values) => {
  for (const value of values) {
    const id = getScope();
    if (show(value)) continue;
    const table = toTable(value);
    const json = table || typeof value !== "object" || value === null ? undefined : toValue(value);
    if (table) send("Display", { id, table });
    else if (json !== undefined) send("Display", { id, json });
    else send("Display", { id, text: (typeof value === "string" ? value : inspect(value)).slice(0, maxText) });
  }
};
class KernelError extends Error {
  constructor(message, kind = "failed") {
    super(message);
    this.name = "KernelError";
    this.kind = kind;
  }
}
const ask = (type, payload) =>
  new Promise((resolve, reject) => {
    const id = ++nextId;
    const bytes = encode(type, { id, scope: getScope() ?? null, ...payload });
    if (bytes.length > maxMessage)
      throw new KernelError("A call has at most 16 MB. Write large values to a file, and pass its path.", "invalid_arguments");
    calls.set(id, { resolve, reject });
    write(bytes);
  });
const callTool = (tool, params = {}) => ask("ToolCall", { from: "Bun", tool, params });
const tool = new Proxy(
  {},
  { get: (_, name) => (typeof name !== "string" || name === "then" ? undefined : (args) => callTool(name, args)) },
);
let instance;
class AgentBridge {
  static getInstance() {
    return (instance ??= new AgentBridge());
  }
  registerTool(name, handler, options = {}) {
    if (typeof name !== "string" || !/^[A-Za-z_]\w{0,50}$/.test(name))
      throw new TypeError("The name of a tool is at most 51 letters, digits and underscores.");
    if (typeof handler !== "function") throw new TypeError("The handler of a tool is a function.");
    registered.set(name, handler);
    send("Register", { name, description: String(options.description ?? "").slice(0, 2000), parameters: toValue(options.parameters) ?? null });
  }
  async invokeTool(toolName, params = {}) {
    const handler = registered.get(toolName);
    if (handler) return await handler(params);
    try {
      return await callTool(toolName, params);
    } catch (error) {
      if (error.kind === "unknown_tool") throw new Error("Tool not found: " + toolName);
      throw error;
    }
  }
  async glob(pattern, cwd = process.cwd()) {
    return await ask("Glob", { pattern, cwd });
  }
  async readFile(path) {
    // In parts, since a whole file may be too large for a message.
    const parts = [];
    for (let offset = 1; offset !== null; ) {
      const { text, next } = await ask("ReadFile", { path, offset });
      parts.push(text);
      offset = next;
    }
    return parts.join("\n");
  }
  async writeFile(path, content) {
    await callTool("write", { path, content });
  }
}
const define = (names) => {
  for (const [name, value] of Object.entries(names))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
};
define({
  tool,
  display,
  AgentBridge,
  KernelError,
  agentBridge: AgentBridge.getInstance(),
  invokeTool: callTool,
  invoke_tool: callTool,
  py: (code) => ask("PythonExec", { code }),
  completion: (prompt, options = {}) => ask("Completion", { prompt, options }),
  agent: (prompt, options = {}) => ask("Agent", { prompt, options }),
  __import: (specifier, options) => import(specifier, options),
  require,
});
const finish = (id, answer) => {
  if (!cells.delete(id)) return;
  leave(id);
  // The console of the inspector keeps what was printed.
  session.post("Runtime.discardConsoleEntries", {}, () => {});
  session.post("Runtime.releaseObjectGroup", { objectGroup: "cell" }, () => {});
  send("Done", { id, ...answer });
};
// A cell that awaits a promise which nothing else holds would be collected with it, and the inspector of Node 22 ends the process then. It stays
// here until it is settled, also after an interrupt.
const held = new Map();
const hold = (id, evaluate) => {
  let stop = promiseHooks.onInit((promise) => {
    stop?.();
    stop = undefined;
    // The first one is that of the cell itself.
    held.set(id, promise);
  });
  evaluate();
  stop?.();
};
let result;
define({ __take: (value) => void (result = value) });
const takeId = new Promise((resolve) =>
  session.post("Runtime.evaluate", { expression: "globalThis.__take", objectGroup: "own" }, (_, { result: { objectId } }) => {
    delete globalThis.__take;
    resolve(objectId);
  }),
);
const start = async (work, payload) => {
  try {
    await work(payload);
  } catch {
    fail();
  }
};
const runCell = async ({ id, code }) => {
  cells.add(id);
  if (!isPrinting) {
    isPrinting = true;
    // Otherwise what a loop prints waits for the end of the loop.
    for (const stream of [process.stdout, process.stderr]) stream._handle?.setBlocking?.(true);
  }
  const take = await takeId;
  enter(id);
  hold(id, () => session.post("Runtime.evaluate", { expression: code, replMode: true, awaitPromise: true, silent: true, objectGroup: "cell" }, (problem, answer) => {
      held.delete(id);
      if (problem) return finish(id, { status: "interrupted" });
      const argument = answer.result.objectId ? { objectId: answer.result.objectId } : toArgument(answer.result);
      session.post("Runtime.callFunctionOn", { objectId: take, functionDeclaration: "function (value) { this(value); }", arguments: [argument] }, () => {
        const value = result;
        result = undefined;
        try {
          if (answer.exceptionDetails) return finish(id, { status: "error", error: describeError(value, answer.exceptionDetails) });
          const isShown = show(value);
          const text = value === undefined || isShown ? {} : { result: inspect(value) };
          finish(id, { status: "ok", ...text, value: isShown ? null : (toValue(value) ?? null) });
        } catch {
          fail();
        }
      });
    }));
};
const toArgument = ({ value, unserializableValue }) => (unserializableValue ? { unserializableValue } : { value });
const describeError = (error, details) => {
  try {
    if (!util.types.isNativeError(error) && !(error instanceof Error)) throw error;
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
const invoke = async ({ id, name, params }) => {
  try {
    const handler = registered.get(name);
    if (!handler) throw new Error("Tool not found: " + name);
    enter(id);
    const value = await handler(params ?? {});
    leave(id);
    send("Invoked", { id, value: toValue(value) ?? null });
  } catch (error) {
    leave(id);
    send("Invoked", { id, error: { message: getMessage(error), kind: "failed" } });
  }
};
const gone = new Int32Array(new SharedArrayBuffer(4));
const thread = new Worker(${JSON.stringify(worker)}, { eval: true, stdin: false, workerData: gone });
thread.on("message", ({ type, payload }) => {
  if (type === "Cell") return void start(runCell, payload);
  if (type === "Invoke") return void start(invoke, payload);
  if (type === "Ping") {
    thread.postMessage("pong");
    return finish(payload.id, { status: "interrupted" });
  }
  if (type === "Opened") {
    if (isReady) return;
    isReady = true;
    return send("Ready", {});
  }
  const call = calls.get(payload.id);
  calls.delete(payload.id);
  if (!call) return;
  const { error, value } = payload.result;
  if (!error) return call.resolve(value);
  const failure = new KernelError(error.message, error.kind);
  // Its stack would be that of this program.
  failure.stack = failure.name + ": " + failure.message;
  call.reject(failure);
});
// Not with the console: if its stream fails, that is an uncaught error too.
const report = (error) => {
  try {
    writeSync(2, "Uncaught " + inspect(error) + "\n");
  } catch {
    // Nobody can be told.
  }
};
process.on("uncaughtException", report);
process.on("unhandledRejection", report);
// Otherwise Node prints that it waits for the session of the worker.
const disconnect = () => {
  thread.postMessage("exit");
  Atomics.wait(gone, 0, 0, 200);
};
process.on("exit", disconnect);
})();
`;
