/** The actions of the debugger, with an adapter that behaves. */
import { createFakeClock } from "@tau/ai/testing";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idleMs } from "../../src/debug/debugger.ts";
import { Breakpoints, DapClient, DapSession, type DebugFailure } from "../../src/debug/index.ts";
import { systemClock } from "@tau/ai";
import { openScripted } from "./scripted.ts";

describe.each(["stdio", "socket"] as const)("over %s", (connectMode) => {
  test("the order is the same for all adapters", async () => {
    const scripted = await openScripted("good", { connectMode });
    await scripted.run({ action: "set_breakpoint", function: "five" });
    await scripted.launch();
    expect(scripted.listReceived().slice(0, 6)).toEqual([
      "initialize",
      "launch",
      "setBreakpoints",
      "setFunctionBreakpoints",
      "setExceptionBreakpoints",
      "configurationDone",
    ]);
  });

  test("a step is one call: the place, three lines around it, variables and new output", async () => {
    const scripted = await openScripted("good", { connectMode });
    const launched = await scripted.launch();
    expect(launched.text).toBe(
      [
        "Started ./program.x with scripted.",
        "Stopped: breakpoint at program.x:3:1 in main",
        "  1 line 1",
        "  2 line 2",
        "> 3 line 3",
        "  4 line 4",
        "  5 line 5",
        "  6 line 6",
        "Variables:",
        "  line: int = 3",
        "Called by:",
        "  caller at program.x:1",
      ].join("\n"),
    );
    expect(launched.stop).toMatchObject({
      reason: "breakpoint",
      place: { path: "program.x", line: 3, excerpt: { firstLine: 1, current: 3 } },
      frames: [{ name: "main" }, { name: "caller" }],
      variables: [{ name: "line", value: "3", type: "int" }],
    });
    for (const [action, line] of [
      ["step_over", 4],
      ["step_in", 5],
      ["step_out", 6],
    ] as const) {
      expect((await scripted.run({ action })).text).toContain(`Stopped: step at program.x:${line}:1 in main`);
    }
    const ended = await scripted.run({ action: "continue" });
    expect(ended.text).toBe("The program has ended with code 3.\nNew output:\nlast words\n");
    expect((await scripted.run({ action: "output" })).text).toBe("last words\n");
    await expect.poll(scripted.listRunning).toEqual([]);
  });

  test("a child session that stops is the one that calls are about from the next answer on, and ends with the program", async () => {
    const scripted = await openScripted("one-child", { connectMode });
    await scripted.launch();
    await expect.poll(() => scripted.inSession.sessions[1]?.status, { timeout: 10_000 }).toBe("stopped");
    expect((await scripted.run({ action: "sessions" })).text).toBe(
      "1: ./program.x (scripted, stopped)\n2: child (scripted, stopped)",
    );
    expect(scripted.inSession.current!.id).toBe("1");
    // The first session continues, and the stop of the second is the first news.
    const continued = await scripted.run({ action: "continue" });
    expect(continued.text).toMatch(/^Sessions of the program: 1 \w+, 2 stopped \(this one\)\nStopped: breakpoint/);
    expect(scripted.inSession.current!.id).toBe("2");
    expect(scripted.started()).toBe(connectMode === "socket" ? 1 : 2);
    await scripted.run({ action: "terminate" });
    await expect.poll(scripted.listRunning).toEqual([]);
  });

  test("the number of a breakpoint belongs to its session", async () => {
    const scripted = await openScripted("one-child", { connectMode });
    await scripted.run({ action: "set_breakpoint", file: "program.x", line: 8 });
    await scripted.launch();
    await expect.poll(() => scripted.inSession.sessions[1]?.status, { timeout: 10_000 }).toBe("stopped");
    const [own, child] = scripted.inSession.sessions;
    const list = (session = own!) =>
      session.breakpoints
        .get(join(scripted.cwd, "program.x"))!
        .map(({ id, line, actualLine }) => [id, line, actualLine]);
    await expect
      .poll(() => [list(own), list(child)])
      .toEqual([
        [
          [1, 3, 3],
          [2, 8, 8],
        ],
        [
          [2, 3, 3],
          [1, 8, 8],
        ],
      ]);
    await own!.client.request("moveBreakpoint", { id: 2, line: 9 });
    await child!.client.request("moveBreakpoint", { id: 2, line: 4 });
    await expect
      .poll(() => [list(own), list(child)])
      .toEqual([
        [
          [1, 3, 3],
          [2, 8, 9],
        ],
        [
          [2, 3, 4],
          [1, 8, 8],
        ],
      ]);
  });
});

test("a child that has the program is waited for, paused, and says how it ended", async () => {
  const scripted = await openScripted("child-has-program", { connectMode: "socket" });
  const launched = await scripted.launch();
  expect(launched.text).toContain("Sessions of the program: 1 running, 2 stopped (this one)\nStopped: breakpoint");
  // Its first session cannot set any.
  expect(launched.text).not.toContain("not set yet");
  const added = await scripted.run({ action: "set_breakpoint", file: "program.x", line: 6 });
  expect(added.text).toBe("The program stops at program.x:6.");
  expect((await scripted.run({ action: "continue" })).text).toContain("program.x:6:1");
  const ended = await scripted.run({ action: "continue" });
  expect(ended.text).toBe("The program has ended with code 3.\nNew output:\nlast words\n");
  expect((await scripted.run({ action: "sessions" })).text).toBe("1: ./program.x (scripted, ended with code 3)");
});

test("a stop between two calls is the answer to the next one, and not passed over", async () => {
  const scripted = await openScripted("runs-for-ever");
  await scripted.launch();
  await scripted.run({ action: "continue", timeoutMs: 1 });
  const { current } = scripted.inSession;
  await current!.client.request("stopNow", {});
  for (const action of ["continue", "step_over"] as const) {
    expect((await scripted.run({ action })).text).toContain(
      action === "continue" ? "Stopped: breakpoint" : "Stopped: step",
    );
  }
  expect(scripted.listReceived().filter((command) => command === "continue")).toHaveLength(1);
});

test("breakpoints are kept as they are wanted, and sent again", async () => {
  const scripted = await openScripted("good");
  expect((await scripted.run({ action: "set_breakpoint", file: "program.x", line: 8 })).text).toBe(
    "The next launch stops at program.x:8.",
  );
  await scripted.run({ action: "set_breakpoint", function: "five" });
  await scripted.launch();
  expect((await scripted.run({ action: "continue" })).text).toContain("function breakpoint at program.x:5");
  const added = await scripted.run({ action: "set_breakpoint", file: "program.x", line: 6, condition: "false" });
  expect(added.text).toBe("The program stops at program.x:6.");
  expect((await scripted.run({ action: "continue" })).text).toContain("program.x:8");
  expect((await scripted.run({ action: "remove_breakpoint", file: "program.x", line: 3 })).text).toBe("Removed 1.");
  expect((await scripted.run({ action: "remove_breakpoint", file: "program.x", line: 3 })).text).toBe(
    "There was no such breakpoint.",
  );
  await scripted.run({ action: "terminate" });
  // A new program gets those that are left.
  const again = await scripted.run({ action: "launch", program: "program.x" });
  expect(again.text).toContain("function breakpoint at program.x:5");
});

test("a condition that the adapter ignores is reported, before and after the launch", async () => {
  const scripted = await openScripted("good");
  await scripted.run({ action: "set_breakpoint", file: "program.x", line: 3, hitCondition: "2" });
  const launched = await scripted.run({ action: "launch", program: "program.x" });
  expect(launched.text).toContain("Breakpoints that are set: program.x:3: This adapter ignores hitCondition.");
  const added = await scripted.run({ action: "set_breakpoint", function: "five", condition: "a", hitCondition: "2" });
  expect(added.text).toBe("The program stops at the function five. This adapter ignores hitCondition.");
});

test("a program that runs is said to, can be paused, and refuses looks meanwhile", async () => {
  const scripted = await openScripted("runs-for-ever");
  await scripted.launch();
  expect((await scripted.run({ action: "continue", timeoutMs: 1 })).text).toBe("The program is still running.");
  for (const action of ["step_over", "evaluate", "stack_trace", "scopes", "variables"] as const) {
    await expect(scripted.run({ action, expression: "1" })).rejects.toMatchObject({ kind: "invalid" });
  }
  expect((await scripted.run({ action: "pause" })).text).toContain("Stopped: pause");
});

// Whether the adapter has answered when the call is stopped, or not.
test.each(["runs-for-ever", "hangs-in-continue"])(
  "a call that is stopped leaves the program running (%s)",
  async (behaviour) => {
    const scripted = await openScripted(behaviour);
    await scripted.launch();
    const abort = new AbortController();
    const waiting = scripted.run({ action: "continue" }, abort.signal);
    await expect.poll(scripted.listReceived).toContain("continue");
    abort.abort();
    await waiting.catch(() => undefined);
    expect(scripted.inSession.current!.status).toBe("running");
  },
);

test("looks answer with texts that lead on", async () => {
  const scripted = await openScripted("good");
  await scripted.launch();
  const ask = async (args: Parameters<typeof scripted.run>[0]) => (await scripted.run(args)).text;
  expect(await ask({ action: "evaluate", expression: "1 + 1" })).toBe(
    "= 1 + 1 (watch)\nType: text\nIts members: variables with variablesReference 3.",
  );
  expect(await ask({ action: "stack_trace", levels: 1 })).toBe("Frames by their frameId:\n1: main at program.x:3:1");
  expect(await ask({ action: "threads" })).toBe("7: main (stopped here)");
  expect(await ask({ action: "scopes" })).toBe("Locals: variablesReference 1000\nRegisters: variablesReference 2000");
  expect(await ask({ action: "variables", variablesReference: 1000 })).toBe("Variables:\n  line: int = 3");
  expect(await ask({ action: "custom_request", function: "threads", expression: "{}" })).toContain('"name": "main"');
  await expect(scripted.run({ action: "custom_request", function: "disconnect" })).rejects.toMatchObject({
    kind: "invalid",
  });
  await expect(scripted.run({ action: "custom_request", function: "x" })).rejects.toMatchObject({ kind: "refused" });
  await expect(scripted.run({ action: "launch", program: "program.x" })).rejects.toThrow(/Terminate it first/);
});

test("a command for a terminal runs beside the adapter, with its variables", async () => {
  const scripted = await openScripted("terminal");
  await scripted.launch();
  await expect
    .poll(() => scripted.inSession.sessions[0]!.output, { timeout: 10_000 })
    .toContain(`it's an $HOME in ${scripted.cwd}`);
});

test("a program that nobody uses for 10 minutes is ended, and not one that is used", async () => {
  const clock = createFakeClock();
  const scripted = await openScripted("good", { clock });
  await scripted.launch();
  await clock.advance(idleMs - 1);
  await scripted.run({ action: "threads" });
  await clock.advance(idleMs - 1);
  expect(scripted.inSession.isActive).toBe(true);
  await clock.advance(1);
  await expect.poll(scripted.listRunning).toEqual([]);
  await expect(scripted.run({ action: "continue" })).rejects.toMatchObject({ kind: "invalid" });
});

test("of two launches at once one is refused, and nothing is left of either", async () => {
  const scripted = await openScripted("good");
  const launches = await Promise.allSettled([scripted.launch(), scripted.launch()]);
  expect(launches.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(launches.find(({ status }) => status === "rejected")).toMatchObject({ reason: { kind: "invalid" } });
  expect(scripted.started()).toBe(1);
  await scripted.run({ action: "terminate" });
  await expect.poll(scripted.listRunning).toEqual([]);
});

test("a second terminate, and a launch after it, wait until the first program is gone", async () => {
  const scripted = await openScripted("ignores-end");
  await scripted.launch();
  const order: string[] = [];
  const note = async (name: string, work: Promise<{ text: string }>) => {
    const { text } = await work;
    order.push(name);
    return text;
  };
  const texts = await Promise.all([
    note("first", scripted.run({ action: "terminate" })),
    note("second", scripted.run({ action: "terminate" })),
    note("launch", scripted.run({ action: "launch", program: "program.x" })),
  ]);
  expect(order).toEqual(["first", "second", "launch"]);
  expect(texts).toEqual([
    expect.stringContaining("Ended ./program.x."),
    "No program is being debugged.",
    expect.stringContaining("Stopped: breakpoint"),
  ]);
  await expect.poll(scripted.listRunning).toHaveLength(1);
});

test.each(["before it runs", "while it is asked"])(
  "a program can be terminated while it starts: %s",
  async (moment) => {
    const scripted = await openScripted("hangs-in-initialize");
    const { inSession, adapter, cwd } = scripted;
    const target = { adapter, cwd, command: "launch" as const, arguments: {}, label: "it" };
    const started = inSession.start(target, { timeoutMs: 60_000 });
    const kind = started.then(
      () => "started",
      (error: DebugFailure) => error.kind,
    );
    if (moment === "while it is asked")
      await expect.poll(scripted.listReceived, { timeout: 10_000 }).toContain("initialize");
    expect(await inSession.end()).toBe("it");
    expect(await kind).toBe("ended");
    expect(inSession.isActive).toBe(false);
    await expect.poll(scripted.listRunning).toEqual([]);
  },
);

// On macOS an adapter with a socket connects to us.
test.each(["stdio", "listens", "connects"])(
  "the client and the session work without tau around them (%s)",
  async (mode) => {
    const { adapter: scripted, cwd } = await openScripted("good", {
      connectMode: mode === "stdio" ? "stdio" : "socket",
    });
    const adapter = { ...scripted, socket: { listen: ["$path"], dial: ["$port"] } };
    const client = await DapClient.spawn({ adapter, cwd, platform: mode === "connects" ? "darwin" : "linux" });
    const session = new DapSession({ id: "a", adapter, cwd, client, clock: systemClock, wanted: new Breakpoints() });
    expect(session).toMatchObject({ status: "launching", threads: [], lastStackFrames: [], output: "", stop: {} });
    expect(session.breakpoints).toEqual(new Map());
    await session.start({ command: "launch", arguments: { program: join(cwd, "program.x"), cwd }, timeoutMs: 10_000 });
    expect(await session.wait(10_000)).toBe("terminated");
    await session.terminate();
    expect(session).toMatchObject({ status: "terminated", exitCode: 3, output: "last words\n" });
    expect(readFileSync(join(cwd, "pids"), "utf8").trim().split("\n")).toHaveLength(1);
  },
);
