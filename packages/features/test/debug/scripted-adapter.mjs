/**
 * A debug adapter for tests. It "debugs" ten lines of a program and stops at breakpoints. The first argument is how it behaves,
 * the second a file to which it appends its process id, the third (for sockets) where it listens, or the port to which it connects.
 */
import { appendFileSync, symlinkSync } from "node:fs";
import { connect, createServer } from "node:net";

const [behaviour = "good", pids, path] = process.argv.slice(2);
if (pids) appendFileSync(pids, `${process.pid}\n`);
if (behaviour === "exits-at-once") {
  process.stderr.write("No module named adapter\n");
  process.exitCode = 1;
} else if (path && behaviour === "refuses-socket") {
  process.stdout.write("cannot listen at a socket\n");
  process.exitCode = 1;
} else if (path && behaviour === "links-socket") {
  const own = `${path}.own`;
  createServer(() => appendFileSync(`${pids}.received`, "connection\n")).listen(own, () => symlinkSync(own, path));
} else if (/^\d+$/.test(path)) {
  const socket = connect(Number(path), "127.0.0.1", () => serve(socket, socket));
} else if (path) {
  createServer((socket) => serve(socket, socket)).listen(path);
} else {
  serve(process.stdin, process.stdout);
}
/** Ends the session whose child has the program. */
let endRoot = () => {};
if (behaviour === "ignores-end") process.on("SIGTERM", () => {});

function serve(input, output) {
  let seq = 0;
  let line = 1;
  let breakpoints = [];
  let functions = [];
  let program = "/program";
  let configuration = {};
  /** Whether this session has no program: its child has. */
  const isRootAlone = () => behaviour === "child-has-program" && !configuration.isChild;
  const write = (text) => output.write(text);
  const frame = (message) => {
    const body = JSON.stringify(message);
    return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
  const send = (message) => write(frame({ seq: behaviour === "seq-zero" ? 0 : ++seq, ...message }));
  const event = (name, body) => send({ type: "event", event: name, body });
  const respond = (request, body, more = {}) =>
    send({ type: "response", request_seq: request.seq, success: true, command: request.command, body, ...more });
  const refuse = (request, message) => respond(request, undefined, { success: false, message });
  const die = (code) => {
    process.stderr.write("Segmentation fault in the adapter\n");
    process.exit(code);
  };
  const stop = (reason) => {
    const noThread = behaviour === "no-threads";
    event("stopped", noThread ? { reason } : { reason, threadId: 7, allThreadsStopped: true });
  };
  const end = () => {
    event("output", { category: "stdout", output: "last words\n" });
    event("exited", { exitCode: 3 });
    if (behaviour !== "exited-only") event("terminated", {});
    if (behaviour === "stops-after-terminate") {
      stop("breakpoint");
      event("continued", { threadId: 7 });
      stop("exception");
    }
    if (behaviour === "child-has-program") endRoot();
  };
  const run = () => {
    for (line++; line <= 10; line++) {
      if (line === 5 && functions.some(({ name }) => name === "five")) return stop("function breakpoint");
      if (breakpoints.some((breakpoint) => breakpoint.line === line && breakpoint.condition !== "false"))
        return stop("breakpoint");
    }
    end();
  };
  const frames = () => {
    if (behaviour === "negative-lines")
      return [
        { id: 1, name: "a", line: -3, column: -1, source: { path: program } },
        { id: 2, name: "b", line: 1e300, column: 0, source: { path: 5 } },
        { id: "x", name: "c" },
        null,
        7,
      ];
    if (behaviour === "foreign-source")
      return [{ id: 1, name: "a", line: 1, column: 1, source: { path: "/etc/passwd" } }];
    if (behaviour === "climbing-source")
      return [{ id: 1, name: "a", line: 1, column: 1, source: { path: `${configuration.cwd}/link` } }];
    const name = behaviour === "escape-codes" ? "\u001b]52;c;ZXZpbA==\u0007main" : "main";
    const path = program;
    if (behaviour === "many-frames")
      return Array.from({ length: 20_000 }, (_, index) => ({
        id: index + 1,
        name: "f",
        line,
        column: 1,
        source: { path },
      }));
    return [
      { id: 1, name, line, column: 1, source: { path } },
      { id: 2, name: "caller", line: 1, column: 1, source: { path } },
    ];
  };
  const variables = (reference) => {
    if (behaviour === "recursive-variables") return [{ name: "self", value: "{…}", variablesReference: reference }];
    if (behaviour === "huge-variables")
      return Array.from({ length: 20_000 }, (_, index) => ({
        name: `v${index}`,
        value: index === 0 ? "x".repeat(5_000_000) : "x".repeat(100),
        variablesReference: 0,
      }));
    if (behaviour === "odd-types")
      return [{ name: 5, value: null, variablesReference: "1" }, "text", null, { value: "x" }];
    const value = behaviour === "escape-codes" ? "\u001b[2J\u202egone" : String(line);
    return [{ name: "line", value, type: "int", variablesReference: 0 }];
  };

  const handlers = {
    initialize(request) {
      if (behaviour === "hangs-in-initialize") return;
      if (behaviour === "crashes-in-initialize") return die(3);
      if (behaviour === "bad-header") return write("Content-Length: many\r\n\r\n{}");
      if (behaviour === "negative-header") return write("Content-Length: -5\r\n\r\n{}");
      if (behaviour === "huge-header") return write(`Content-Length: ${2 ** 40}\r\n\r\n{`);
      if (behaviour === "no-header") return write("x".repeat(300_000));
      if (behaviour === "closes-output") return output.end();
      if (behaviour === "bad-json") write("Content-Length: 7\r\n\r\n{no js}Content-Length: 4\r\n\r\nnull");
      if (behaviour === "greets") write("Adapter 1.0 is ready.\nplease: be nice\n\n");
      if (behaviour === "garbage")
        for (let n = 0; n < 5_000; n++) write('Content-Length: 6\r\n\r\n{"a":1}'.replace("6", "7"));
      if (behaviour === "wrong-seq")
        for (const wrong of [0, -1, 99, "1", null])
          send({ type: "response", request_seq: wrong, success: true, body: {} });
      const body = {
        supportsConfigurationDoneRequest: true,
        supportsFunctionBreakpoints: true,
        supportsConditionalBreakpoints: true,
        exceptionBreakpointFilters:
          behaviour === "odd-types" ? "all" : [{ filter: "uncaught", label: "Uncaught", default: true }],
      };
      respond(request, behaviour === "odd-types" ? { ...body, supportsFunctionBreakpoints: "yes" } : body);
      if (behaviour === "answers-twice") refuse(request, "no");
      if (behaviour === "early-initialized") event("initialized");
    },
    launch(request) {
      configuration = request.arguments;
      program = configuration.program ?? "/program";
      if (behaviour === "hangs-in-launch") return;
      if (behaviour === "crashes-in-launch") return die(3);
      if (behaviour === "refuses-launch")
        return respond(
          request,
          { error: { format: "no program at {path}", variables: { path: program } } },
          { success: false },
        );
      if (behaviour === "never-initialized") return respond(request, {});
      if (behaviour === "terminated-in-launch") {
        event("terminated");
        return;
      }
      if (behaviour !== "early-initialized") event("initialized");
      handlers.pendingLaunch = request;
      if (behaviour === "launch-first") respond(request, {});
    },
    attach(request) {
      handlers.launch(request);
    },
    setBreakpoints(request) {
      if (behaviour === "crashes-in-breakpoints") return die(3);
      if (behaviour === "hangs-in-breakpoints") return;
      if (behaviour === "refuses-breakpoints") return refuse(request, "no breakpoints here");
      breakpoints = request.arguments.breakpoints;
      if (isRootAlone())
        return respond(request, { breakpoints: breakpoints.map(() => ({ verified: false, message: "no program" })) });
      // Each session counts in its own way.
      const toId = (index) => (configuration.isChild ? breakpoints.length - index : index + 1);
      if (behaviour === "odd-types") return respond(request, { breakpoints: "all" });
      respond(request, {
        breakpoints: breakpoints.map((each, index) => ({ id: toId(index), verified: true, line: each.line })),
      });
    },
    setFunctionBreakpoints(request) {
      functions = request.arguments.breakpoints;
      respond(request, { breakpoints: functions.map(() => ({ verified: true })) });
    },
    setExceptionBreakpoints: (request) => respond(request, {}),
    configurationDone(request) {
      if (behaviour === "crashes-in-configuration") return die(3);
      if (behaviour === "hangs-in-configuration") return;
      respond(request, {});
      if (behaviour !== "launch-first") respond(handlers.pendingLaunch, {});
      if (behaviour === "unknown-reverse-requests")
        for (const command of ["openWindow", "", "__proto__", "runInTerminal\0"])
          send({ type: "request", command, arguments: { a: 1 } });
      if (behaviour === "start-debugging-loop")
        for (let n = 0; n < 50; n++)
          send({ type: "request", command: "startDebugging", arguments: { request: "launch", configuration } });
      if (behaviour === "odd-start-debugging")
        for (const args of [null, {}, { request: "rm" }, { request: "launch" }, "x"])
          send({ type: "request", command: "startDebugging", arguments: args });
      if (["one-child", "child-has-program"].includes(behaviour) && !configuration.isChild)
        send({
          type: "request",
          command: "startDebugging",
          arguments: { request: "launch", configuration: { ...configuration, isChild: true } },
        });
      if (behaviour === "odd-terminal")
        for (const args of [
          null,
          {},
          { args: [] },
          { args: "ls" },
          { args: [1] },
          { args: ["a\nb"] },
          { args: ["x".repeat(100_000)] },
        ])
          send({ type: "request", command: "runInTerminal", arguments: args });
      if (behaviour === "terminal")
        send({
          type: "request",
          command: "runInTerminal",
          arguments: {
            args: ["/bin/sh", "-c", `echo "it's $A in $(pwd)"`],
            cwd: configuration.cwd,
            env: { A: "an $HOME", "B;C": "x" },
          },
        });
      if (behaviour === "flood-of-requests") {
        input.pause();
        const pour = () => {
          let isFree = true;
          while (isFree)
            isFree = write(frame({ seq: ++seq, type: "request", command: "x".repeat(1_000), arguments: {} }));
          output.once("drain", pour);
        };
        return pour();
      }
      if (behaviour === "terminal-twice")
        for (const word of ["first", "second"])
          send({ type: "request", command: "runInTerminal", arguments: { args: ["/bin/echo", word] } });
      if (behaviour === "flood-of-output") {
        const text = "y".repeat(100_000);
        for (let n = 0; n < 200; n++) event("output", { category: "stdout", output: text });
        event("output", { category: "stdout", output: "the end\n" });
      }
      if (behaviour === "flood-of-events")
        for (let n = 0; n < 50_000; n++) event("loadedSource", { reason: "new", source: {} });
      if (behaviour === "flood-of-threads")
        for (let n = 0; n < 50_000; n++) event("thread", { reason: "started", threadId: n });
      if (behaviour === "escape-codes") event("output", { category: "stdout", output: "\u001b[2Jcleared\n" });
      if (behaviour === "odd-types")
        for (const body of [null, 5, "x", [], { output: {} }])
          for (const name of ["output", "stopped", "thread", "breakpoint", "exited-not"])
            if (name !== "stopped") event(name, body);
      if (isRootAlone()) {
        endRoot = () => event("terminated", {});
        return;
      }
      run();
    },
    continue(request) {
      if (behaviour === "crashes-in-continue") return die(3);
      if (behaviour === "hangs-in-continue") return;
      if (behaviour === "refuses-continue") return refuse(request, "not now");
      if (behaviour === "runs-for-ever") return respond(request, {});
      if (behaviour === "answers-late") {
        run();
        return respond(request, {});
      }
      respond(request, { allThreadsContinued: true });
      run();
      if (behaviour === "late-continued") event("continued", { threadId: 7 });
    },
    next(request) {
      respond(request, {});
      line++;
      if (line > 10) end();
      else stop("step");
    },
    moveBreakpoint(request) {
      respond(request, {});
      event("breakpoint", { reason: "changed", breakpoint: { verified: true, ...request.arguments } });
    },
    stopNow(request) {
      respond(request, {});
      stop("breakpoint");
    },
    stepIn: (request) => handlers.next(request),
    stepOut: (request) => handlers.next(request),
    pause(request) {
      respond(request, {});
      stop("pause");
    },
    threads(request) {
      respond(request, { threads: behaviour === "no-threads" || isRootAlone() ? [] : [{ id: 7, name: "main" }] });
    },
    stackTrace(request) {
      if (behaviour === "crashes-in-stack-trace") return die(3);
      if (behaviour === "hangs-in-stack-trace") return;
      if (behaviour === "no-body") return respond(request);
      respond(request, { stackFrames: frames() });
    },
    scopes: (request) =>
      respond(request, {
        scopes: [
          { name: "Locals", variablesReference: 1000, expensive: false },
          { name: "Registers", variablesReference: 2000, expensive: true },
        ],
      }),
    variables(request) {
      if (behaviour === "hangs-in-variables") return;
      respond(request, { variables: variables(request.arguments.variablesReference) });
    },
    evaluate(request) {
      if (behaviour === "hangs-in-evaluate") return;
      if (behaviour === "deep-value") {
        const deep = `${"[".repeat(2_000)}${"1,".repeat(500_000)}1${"]".repeat(2_000)}`;
        return respond(request, { result: JSON.parse(deep) });
      }
      if (behaviour === "huge-value")
        return respond(request, { result: "z".repeat(10_000_000), variablesReference: 0 });
      respond(request, {
        result: `= ${request.arguments.expression} (${request.arguments.context})`,
        type: "text",
        variablesReference: 3,
      });
    },
    disconnect(request) {
      if (behaviour === "ignores-end") return;
      respond(request, {});
      if (!path) output.write("", () => process.exit(0));
    },
  };

  let buffer = Buffer.alloc(0);
  input.on("data", (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const start = buffer.indexOf("\r\n\r\n");
      if (start < 0) return;
      const length = Number(/Content-Length: (\d+)/.exec(buffer.subarray(0, start).toString())[1]);
      if (buffer.length < start + 4 + length) return;
      const message = JSON.parse(buffer.subarray(start + 4, start + 4 + length).toString("utf8"));
      buffer = buffer.subarray(start + 4 + length);
      if (pids) appendFileSync(`${pids}.received`, `${message.command}\n`);
      if (message.type === "response") {
        event("output", { category: "console", output: `${message.command} ${message.success ? "ok" : "refused"}\n` });
      } else if (Object.hasOwn(handlers, message.command)) {
        handlers[message.command](message);
      } else {
        refuse(message, `unknown request ${message.command}`);
      }
    }
  });
  input.on("error", () => {});
  output.on("error", () => {});
}
