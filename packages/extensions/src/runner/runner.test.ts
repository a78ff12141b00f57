import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import type { ExtensionAPI, ExtensionFactory } from "../api/api.ts";
import { createEventBus } from "./create-api.ts";
import { createLifetime } from "./create-context.ts";
import type { ExtensionEvent, ExtensionEventName } from "../api/events.ts";
import type { Extension, ExtensionProblem } from "../api/extension.ts";
import { startExtension } from "../load/start-extension.ts";
import { defaultAnswerMs, maxHandlerMs, noticeAfterMs } from "./handler-limits.ts";
import { ExtensionRunner } from "./runner.ts";
import type { ExtensionSessionPort } from "../api/session-port.ts";
import { noUi } from "../api/ui.ts";

const answers: (() => void)[] = [];
const wait = <T>(value: T) => new Promise<T>((resolve) => answers.push(() => resolve(value)));
/** Ends all dialogs and commands. */
const answerAll = () => {
  for (const answer of answers.splice(0)) answer();
};

/** The signal of the run in progress. */
let runSignal: AbortSignal | undefined;

const port = {
  ui: { ...noUi, confirm: () => wait(true) },
  mode: "print",
  cwd: "/project",
  getSignal: () => runSignal,
  exec: () => wait({ stdout: "", stderr: "", code: 0, killed: false, truncated: false }),
} as unknown as ExtensionSessionPort;

const tooLong = (extension: string): ExtensionProblem => ({
  extension,
  message: "Its handler of agent_start failed: it took more than 10 seconds",
});

async function run(...factories: ExtensionFactory[]) {
  const clock = createFakeClock();
  const problems: ExtensionProblem[] = [];
  const lifetime = createLifetime();
  const events = createEventBus();
  const extensions = await Promise.all(
    factories.map(async (factory, index): Promise<Extension> => {
      const path = `/extensions/${index + 1}.ts`;
      const name = `extension ${index + 1}`;
      const info = { path, source: "local", scope: "user", origin: "top-level" } as const;
      const source = { id: path, name, path, origin: "user", digest: "", info } as const;
      const outcome = await startExtension(source, factory, {
        clock,
        lifetime,
        events,
        getSession: () => port,
        flagValues: new Map(),
        findFlag: () => undefined,
        listMcpServers: () => [],
        report: (message) => problems.push({ extension: name, message }),
      });
      if (outcome.kind === "failed") throw new Error(outcome.message);
      return outcome.extension;
    }),
  );
  const report = (problem: ExtensionProblem) => void problems.push(problem);
  const shown: string[] = [];
  const onWaiting = (names: readonly string[]) => void shown.push(names.join(", "));
  const runner = new ExtensionRunner({ extensions, session: port, clock, lifetime, report, onWaiting });
  return { runner, clock, problems, lifetime, shown };
}

function fail(): never {
  throw new Error("trap");
}

const toolCall = (input: Record<string, unknown>): ExtensionEvent<"tool_call"> => ({
  type: "tool_call",
  toolCallId: "1",
  toolName: "bash",
  input,
});

describe("ExtensionRunner", () => {
  test("calls handlers in the order in which extensions were loaded and handlers were registered", async () => {
    const calls: string[] = [];
    const { runner } = await run(
      (tau) => {
        tau.on("agent_start", () => void calls.push("first"));
        tau.on("agent_start", async () => void calls.push("second"));
      },
      (tau) => void tau.on("agent_start", () => void calls.push("third")),
    );
    await runner.emit({ type: "agent_start" });
    expect(calls).toEqual(["first", "second", "third"]);
  });

  test("knows which events are handled, also after a handler was removed", async () => {
    let stop = () => {};
    const { runner } = await run((tau) => void (stop = tau.on("context", () => {})));
    expect([runner.has("context"), runner.has("input")]).toEqual([true, false]);
    stop();
    expect(runner.has("context")).toBe(false);
  });

  test("a handler that is added or removed while an event is told counts from the next event on", async () => {
    const calls: string[] = [];
    let stop = () => {};
    const { runner } = await run(
      (tau) =>
        void tau.on("agent_start", async () => {
          calls.push("first");
          stop();
          tau.on("agent_start", () => void calls.push("added"));
        }),
      (tau) => void (stop = tau.on("agent_start", () => void calls.push("removed"))),
    );
    await runner.emit({ type: "agent_start" });
    expect(calls).toEqual(["first", "removed"]);
    await runner.notify({ type: "agent_start" });
    expect(calls).toEqual(["first", "removed", "first", "added"]);
  });

  test("passes messages, results, payloads and input from handler to handler", async () => {
    const { runner } = await run(
      (tau) => {
        tau.on("input", ({ text }) => ({ action: "transform", text: `${text} b` }));
        tau.on("tool_result", ({ content }) => ({ content: [...content, { type: "text", text: "b" }] }));
        tau.on("before_provider_request", ({ payload }) => [payload, "b"]);
      },
      (tau) => {
        tau.on("input", ({ text }) => ({ action: "transform", text: `${text} c` }));
        tau.on("tool_result", ({ content }) => ({ isError: content.length === 2 }));
        tau.on("before_provider_request", ({ payload }) => [payload, "c"]);
      },
    );
    expect(await runner.emit({ type: "input", text: "a", source: "rpc" })).toEqual({
      action: "transform",
      text: "a b c",
    });
    const result = { type: "tool_result", toolCallId: "1", toolName: "ls", input: {}, details: 1 } as const;
    const content = [{ type: "text" as const, text: "a" }];
    expect(await runner.emit({ ...result, content, isError: false })).toEqual({
      content: [...content, { type: "text", text: "b" }],
      isError: true,
    });
    expect(await runner.emit({ type: "before_provider_request", payload: "a" })).toEqual({
      payload: [["a", "b"], "c"],
    });
  });

  test("asks no further handler after one that blocks, handles or cancels", async () => {
    let asked = 0;
    const names: ExtensionEventName[] = ["tool_call", "input", "session_before_fork"];
    const { runner } = await run(
      (tau) => {
        tau.on("tool_call", ({ input }) => {
          input["command"] = "changed";
          return { block: true, reason: "no" };
        });
        tau.on("input", () => ({ action: "handled" }));
        tau.on("session_before_fork", () => ({ cancel: true }));
      },
      (tau) => names.forEach((name) => tau.on(name as "input", () => void asked++)),
    );
    const event = toolCall({ command: "ls" });
    expect(await runner.emit(event)).toEqual({ block: true, reason: "no" });
    expect(event.input).toEqual({ command: "changed" });
    expect(await runner.emit({ type: "input", text: "", source: "rpc" })).toEqual({ action: "handled" });
    expect(await runner.emit({ type: "session_before_fork", entryId: "1", position: "at" })).toEqual({ cancel: true });
    expect(asked).toBe(0);
  });

  test("reports a handler that throws and goes on with the next, but a guard that throws denies", async () => {
    const calls: string[] = [];
    const broken = () => {
      throw new Error("broken");
    };
    const { runner, problems } = await run(
      (tau) => {
        tau.on("agent_end", broken);
        tau.on("tool_call", broken);
      },
      (tau) => void tau.on("agent_end", () => void calls.push("called")),
    );
    await runner.emit({ type: "agent_end", messages: [] });
    expect(calls).toEqual(["called"]);
    expect(problems).toEqual([{ extension: "extension 1", message: "Its handler of agent_end failed: broken" }]);
    await expect(runner.emit(toolCall({}))).rejects.toThrow("extension 1");
  });

  test("gives up on a handler after ten seconds", async () => {
    const { runner, clock, problems } = await run((tau) => {
      tau.on("agent_start", () => new Promise(() => {}));
    });
    const started = runner.emit({ type: "agent_start" });
    await clock.advance(maxHandlerMs);
    await started;
    expect(problems).toEqual([tooLong("extension 1")]);
  });

  test("what a handler waits for does not count: dialogs, commands and other tools", async () => {
    const { runner, clock, problems } = await run((tau) => {
      tau.on("agent_start", async (_event, { ui }) => {
        await ui.confirm("Sure?", "");
        await tau.exec("sleep", []);
      });
    });
    for (const waitMs of [1, maxHandlerMs, maxHandlerMs * 100]) {
      const started = runner.emit({ type: "agent_start" });
      for (let step = 0; step < 2; step++) {
        await clock.advance(waitMs);
        answerAll();
      }
      await started;
    }
    expect(problems).toEqual([]);
  });

  test("a handler has ten seconds of its own, however often it waits for something", async () => {
    let turns = 0;
    const { runner, clock, problems } = await run((tau) => {
      tau.on("agent_start", async () => {
        for (;;) {
          await tau.exec("true", []);
          turns++;
          await new Promise<void>((resolve) => clock.setTimer(4_000, resolve));
        }
      });
    });
    const started = runner.emit({ type: "agent_start" });
    let isOver = false;
    void started.then(() => (isOver = true));
    for (let step = 0; step < 10 && !isOver; step++) {
      await clock.advance(60_000);
      answerAll();
      await clock.advance(4_000);
    }
    await started;
    expect(turns).toBe(3);
    expect(problems).toEqual([tooLong("extension 1")]);
  });

  test("what one extension waits for gives no time to another", async () => {
    const { runner, clock, problems } = await run(
      (tau) => void tau.on("turn_start", async (_event, { ui }) => void (await ui.confirm("Sure?", ""))),
      (tau) => void tau.on("agent_start", () => new Promise(() => {})),
    );
    const asking = runner.emit({ type: "turn_start", turnIndex: 0, timestamp: 0 });
    const started = runner.emit({ type: "agent_start" });
    await clock.advance(maxHandlerMs);
    await started;
    expect(problems).toEqual([tooLong("extension 2")]);
    await clock.advance(maxHandlerMs * 10);
    answerAll();
    await asking;
    expect(problems).toHaveLength(1);
  });

  test("an answer that is used may take a minute, and after five seconds people are shown who is waited for", async () => {
    const { runner, clock, problems, shown } = await run((tau) => {
      tau.on("tool_result", async () => {
        await new Promise<void>((resolve) => clock.setTimer(defaultAnswerMs - 1, resolve));
        return { content: [{ type: "text", text: "late" }] };
      });
    });
    const result = { toolCallId: "1", toolName: "ls", input: {}, content: [], details: {}, isError: false };
    const asked = runner.emit({ type: "tool_result", ...result });
    await clock.advance(noticeAfterMs - 1);
    expect(shown).toEqual([]);
    await clock.advance(1);
    expect(shown).toEqual(["extension 1"]);
    for (let step = 0; step < 11; step++) await clock.advance(noticeAfterMs);
    expect(await asked).toMatchObject({ content: [{ text: "late" }] });
    expect(shown).toEqual(["extension 1", ""]);
    expect(problems).toEqual([]);
  });

  test.each(["before_agent_start", "context", "turn_end", "tool_call", "agent_end"] as const)(
    "gives up on a handler of %s after a minute; a guard denies then",
    async (type) => {
      const { runner, clock, problems } = await run((tau) => {
        tau.on(type as "context", () => new Promise(() => {}));
      });
      const asked = runner.emit({ type } as ExtensionEvent).then(
        () => "skipped",
        () => "denied",
      );
      for (let step = 0; step < 11; step++) await clock.advance(noticeAfterMs);
      expect(problems).toEqual([]);
      await clock.advance(noticeAfterMs);
      expect(await asked).toBe(type === "tool_call" ? "denied" : "skipped");
      expect(problems[0]?.message).toBe(`Its handler of ${type} failed: it took more than 60 seconds`);
    },
  );

  test("the time in which an extension waits for a person is not shown as waiting for the extension", async () => {
    const { runner, clock, shown } = await run((tau) => {
      tau.on("context", async (_event, { ui }) => void (await ui.confirm("Sure?", "")));
    });
    const asked = runner.emit({ type: "context", messages: [] });
    for (let step = 0; step < 4; step++) await clock.advance(noticeAfterMs);
    answerAll();
    await asked;
    expect(shown).toEqual([]);
  });

  test.each(["context", "tool_call"] as const)("stopping the run ends the wait for a handler of %s", async (type) => {
    const stop = new AbortController();
    runSignal = stop.signal;
    const { runner } = await run((tau) => void tau.on(type as "context", () => new Promise(() => {})));
    const asked = runner.emit({ type } as ExtensionEvent).then(
      () => "skipped",
      (error: Error) => error.message,
    );
    stop.abort();
    expect(await asked).toContain(type === "tool_call" ? "the run was stopped before it answered" : "skipped");
    runSignal = undefined;
  });

  test.each(["session_before_switch", "session_before_fork"] as const)(
    "stopping the run is no answer of a handler of %s: it is waited for, also if the run was stopped before",
    async (type) => {
      const stop = new AbortController();
      runSignal = stop.signal;
      const { runner } = await run((tau) => {
        tau.on(type as "session_before_switch", async (_event, { ui }) => ({ cancel: await ui.confirm("Stay?", "") }));
      });
      const first = runner.emit({ type } as ExtensionEvent<"session_before_switch">);
      stop.abort();
      const second = runner.emit({ type } as ExtensionEvent<"session_before_switch">);
      // What a stop decides, it decides before this.
      await new Promise((resolve) => setImmediate(resolve));
      answerAll();
      expect(await Promise.all([first, second])).toEqual([{ cancel: true }, { cancel: true }]);
      runSignal = undefined;
    },
  );

  test("gives up on a handler that never settles when the session ends", async () => {
    const { runner, clock, problems } = await run(
      (tau) => void tau.on("session_shutdown", () => new Promise(() => {})),
    );
    const ended = runner.emit({ type: "session_shutdown", reason: "quit" });
    clock.advance(maxHandlerMs);
    await ended;
    expect(problems[0]?.message).toContain("it took more than 10 seconds");
  });

  test("a handler that was told to stop by its signal is not waited for any more", async () => {
    const { runner, clock } = await run(
      (tau) => void tau.on("session_before_compact", () => new Promise(() => {})),
      (tau) => void tau.on("session_before_compact", () => ({ cancel: true })),
    );
    const abort = new AbortController();
    const event = { type: "session_before_compact", signal: abort.signal } as ExtensionEvent<"session_before_compact">;
    const asked = runner.emit(event);
    clock.advance(maxHandlerMs * 10);
    abort.abort();
    expect(await asked).toEqual({ cancel: true });
  });

  const throwing = new Proxy({}, { get: (_target, key) => (key === "then" ? undefined : fail()), has: () => false });
  const garbage: readonly [ExtensionEventName, unknown][] = [
    ["project_trust", { trusted: true }],
    ["resources_discover", { skillPaths: 5 }],
    ["context", { messages: 5 }],
    ["context", { messages: [null] }],
    ["context_with_system", { messages: [{ role: "user", content: null }] }],
    ["before_agent_start", { systemPrompt: 5 }],
    ["before_agent_start", { message: { customType: "x" } }],
    ["message_end", { message: { role: "assistant", content: null } }],
    ["turn_end", { entries: [{ type: "custom_message" }] }],
    ["agent_before_settle", { entries: 5 }],
    ["tool_result", { content: [null] }],
    ["session_before_compact", { compaction: {} }],
    ["input", { action: "transform" }],
    ["input", throwing],
    ["tool_result", Promise.resolve({ content: 5 })],
  ];

  test.each(garbage)("an answer to %s that is none is reported and counts as no answer", async (name, answer) => {
    const { runner, problems } = await run((tau) => void tau.on(name as "input", () => answer as never));
    expect(await runner.emit({ type: name } as ExtensionEvent)).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ extension: "extension 1", message: expect.stringContaining(name) });
  });

  test.each([{ block: "yes" }, throwing])("a guard whose answer is none denies", async (answer) => {
    const { runner } = await run((tau) => void tau.on("tool_call", () => answer as never));
    await expect(runner.emit(toolCall({}))).rejects.toThrow("extension 1");
  });

  test("makes every context and API throw once it is closed", async () => {
    let api: ExtensionAPI | undefined;
    let read = () => "";
    const { runner } = await run((tau) => {
      api = tau;
      tau.on("agent_start", (_event, context) => void (read = () => context.cwd));
    });
    await runner.emit({ type: "agent_start" });
    expect(read()).toBe("/project");
    await runner.close("The session was replaced.");
    expect(read).toThrow("The session was replaced.");
    expect(() => api?.registerTool({} as never)).toThrow("stale after session replacement");
    expect(() => api?.registerTool({} as never)).toThrow(
      expect.objectContaining({ name: "ExtensionError", code: "closed" }),
    );
  });
});
