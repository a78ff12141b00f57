import { cellNames } from "./javascript-cells.ts";
import { runner } from "./javascript-runner.ts";

/**
 * The programs of a JavaScript kernel, which is a Node process. The worker thread reads messages from descriptor 3, so that it can
 * interrupt the main thread however busy that is: it has a session of the inspector for `Runtime.terminateExecution`. The main
 * thread evaluates cells in a session of its own, since one that dispatches a message handles no other until it has ended, and
 * writes messages to descriptor 4. No port is opened.
 */
const worker = String.raw`
"use strict";
const { workerData } = require("node:worker_threads");
const { Session } = require("node:inspector");
const { Socket } = require("node:net");
const { port, gone } = workerData;
const session = new Session();
session.connectToMainThread();
const waiting = [];
let ping;
let isTerminating = false;
const forward = (line) => (ping ? waiting.push(line) : port.postMessage(line));
const terminate = () => {
  isTerminating = true;
  session.post("Runtime.terminateExecution", {}, () => (isTerminating = false));
};
const interrupt = (id) => {
  if (ping) return;
  terminate();
  let count = 0;
  // A termination that found nothing to end ends what comes next, which may be the handler of the ping, or nothing: so both are repeated.
  ping = setInterval(() => {
    if (++count % 25 === 0 && !isTerminating) terminate();
    port.postMessage(JSON.stringify({ type: "Ping", payload: { id } }));
  }, 20);
};
port.on("message", (message) => {
  if (message === "exit") {
    session.disconnect();
    Atomics.store(gone, 0, 1);
    return void Atomics.notify(gone, 0);
  }
  // It would end the next cell: there is another ping.
  if (isTerminating) return;
  clearInterval(ping);
  ping = undefined;
  for (const line of waiting.splice(0)) forward(line);
});
const end = () => process.kill(process.pid, "SIGKILL");
// The main thread receives nothing any more, because a cell has closed what it receives with.
port.on("close", end);
const socket = new Socket({ fd: 3, readable: true, writable: false });
let pieces = [];
socket.on("data", (chunk) => {
  let start = 0;
  for (let end; (end = chunk.indexOf(10, start)) >= 0; start = end + 1) {
    pieces.push(chunk.subarray(start, end));
    const line = Buffer.concat(pieces).toString();
    pieces = [];
    const { type, payload } = JSON.parse(line);
    if (type === "Interrupt") interrupt(payload.id);
    else forward(line);
  }
  pieces.push(chunk.subarray(start));
});
socket.on("end", end);
socket.on("error", end);
port.postMessage('{"type":"Opened"}');
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
const { MessageChannel, moveMessagePortToContext, Worker } = require("node:worker_threads");
const { Session } = require("node:inspector");
const { createContext, runInContext } = require("node:vm");
const fs = require("node:fs");
const util = require("node:util");
const { promiseHooks } = require("node:v8");
const session = new Session();
session.connect();
const realm = createContext();
const { port1, port2 } = new MessageChannel();
// Events of other ports are made of what cells may change.
const port = moveMessagePortToContext(port1, realm);
const gone = new Int32Array(new SharedArrayBuffer(4));
let isBlocking = false;
const blockOutput = () => {
  if (isBlocking) return;
  isBlocking = true;
  // Otherwise what a loop prints waits for the end of the loop. Opening the streams is left out of the start.
  for (const stream of [process.stdout, process.stderr]) stream._handle?.setBlocking?.(true);
};
${cellNames}
const node = {
  inspect: util.inspect,
  isNativeError: util.types.isNativeError,
  isTypedArray: util.types.isTypedArray,
  isUint8Array: util.types.isUint8Array,
  onInitPromise: promiseHooks.onInit,
  parse: JSON.parse,
  stringify: JSON.stringify,
  ObjectPrototype: Object.prototype,
  fstatSync: fs.fstatSync,
  writeSync: fs.writeSync,
  from: Buffer.from,
  bufferToString: Buffer.prototype.toString,
  session,
  sessionPost: Session.prototype.post,
  process,
  reallyExit: process.reallyExit,
  setInterval,
  clearInterval,
  wait: Atomics.wait,
};
const runner = runInContext(${JSON.stringify(runner)}, realm, "[eval]");
const kernel = runner({ node, port, gone, cells: { KernelError, MainError: Error, call, define }, blockOutput });
new Worker(${JSON.stringify(worker)}, { eval: true, stdin: false, workerData: { port: port2, gone }, transferList: [port2] });
process.on("uncaughtException", kernel.report);
process.on("unhandledRejection", kernel.report);
process.on("exit", kernel.disconnect);
})();
`;
