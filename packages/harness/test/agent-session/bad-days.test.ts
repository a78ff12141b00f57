/** Disks that fill up, moments that are badly chosen, and tools that do not keep to the rules. */
import { mkdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentTool } from "@tau/agent";
import { call, createFakeClock, type ScriptedTurn, text } from "@tau/ai/testing";
import type { SessionEvent } from "@tau/protocol";
import { nodeFileSystem } from "@tau/tools";
import { type Fault, faultyFileSystem } from "@tau/tools/testing";
import { describe, expect, test } from "vitest";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { type Desk, never, openDesk, sayTool, temporaryDirectory, getTypes, until } from "./desk.ts";

const hang: AgentTool = { ...sayTool("hang"), execute: () => never() };

/** Every start has its end, and the last thing that is told of a run is its end. */
function expectLaws(events: readonly SessionEvent[]): void {
  const count = (type: SessionEvent["type"]) => events.filter((event) => event.type === type).length;
  for (const kind of ["agent", "turn", "message", "tool_execution"] as const) {
    expect(count(`${kind}_end`), kind).toBe(count(`${kind}_start`));
  }
}

const isDone = (desk: Desk) => desk.events.some(({ type }) => type === "agent_end");

describe("a log that refuses", () => {
  /** A session whose log fails from the entry on that `isIt` knows. */
  async function refusing(
    turns: readonly ScriptedTurn[],
    isIt: (entry: string) => boolean,
    times = Number.POSITIVE_INFINITY,
  ) {
    const directory = await temporaryDirectory();
    let left = times;
    let hasBegun = false;
    const fileSystem: typeof nodeFileSystem = {
      ...nodeFileSystem,
      async open(...request) {
        const handle = await nodeFileSystem.open(...request);
        const write = handle.write.bind(handle);
        return Object.assign(Object.create(handle) as typeof handle, {
          async write(bytes: Uint8Array, ...more: []) {
            hasBegun ||= isIt(Buffer.from(bytes).toString());
            if (hasBegun && left-- > 0) throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
            return await write(bytes, ...more);
          },
          close: () => handle.close(),
          stat: () => handle.stat(),
          sync: () => handle.sync(),
          datasync: () => (handle as unknown as { datasync(): Promise<void> }).datasync(),
          read: handle.read.bind(handle),
        });
      },
    };
    const sessionManager = await SessionManager.create(directory, directory, { fileSystem });
    const desk = await openDesk(turns, { sessionManager, customTools: [sayTool("look")] });
    const heal = () => {
      left = 0;
    };
    return { ...desk, heal };
  }

  test("the answer: the model is asked once, the run says why it ended, and every start has its end", async () => {
    const desk = await refusing([[text("An answer.")], [text("again")]], (line) => line.includes("An answer."));
    const outcome = await desk.session.prompt("Hi");
    expect(outcome).toMatchObject({ terminationReason: "error", detail: "write_failed" });
    expect(desk.model.asked).toHaveLength(1);
    expectLaws(desk.events);
    expect(getTypes(desk.events)).toContain("error");
  });

  test("a result: the same", async () => {
    const turns = [[call("look")], [text("never")]];
    const desk = await refusing(turns, (line) => line.includes('"toolResult"'));
    expect(await desk.session.prompt("Look")).toMatchObject({ terminationReason: "error", detail: "write_failed" });
    expect(desk.model.asked).toHaveLength(1);
    expectLaws(desk.events);
  });

  test("steering that could not be written is not lost: it waits again, and is said later", async () => {
    const desk = await refusing(
      [[call("look")], [text("said")]],
      (line) => line.includes('"role":"user"') && line.includes("Turn left."),
      1,
    );
    const { session } = desk;
    session.onEvent(({ type }) => type === "tool_execution_start" && void session.steer("Turn left."));
    expect(await session.prompt("Go.")).toMatchObject({ terminationReason: "error", detail: "write_failed" });
    expect(session.queue.steering).toHaveLength(1);
    await session.prompt("Go on.");
    const entries = await session.sessionManager.getEntries();
    const said = entries.filter((entry) => entry.type === "message" && entry.queueId !== undefined);
    expect(said).toHaveLength(1);
  });

  test("for ever does not make runs for ever: what waits stays", async () => {
    const desk = await refusing(
      [[call("look")]],
      (line) => line.includes('"role":"user"') && line.includes("Turn left."),
    );
    const { session } = desk;
    session.onEvent(({ type }) => type === "tool_execution_start" && void session.steer("Turn left."));
    expect(await session.prompt("Go.")).toMatchObject({ detail: "write_failed" });
    expect(session.isStreaming).toBe(false);
    expect(desk.events.filter(({ type }) => type === "agent_end")).toHaveLength(1);
    expect(session.queue.steering).toHaveLength(1);
    desk.heal();
  });

  test("closing the session all the same ends what it started", async () => {
    const desk = await refusing([[text("An answer.")]], (line) => line.includes("An answer."));
    await desk.session.prompt("Hi");
    await desk.session.dispose().catch(() => undefined);
    await expect(desk.session.prompt("Hi")).rejects.toMatchObject({ code: "closed" });
  });
});

test("a session whose file was removed says so in plain words, and goes on as a copy", async () => {
  const directory = await temporaryDirectory();
  const sessionManager = await SessionManager.create(directory, directory);
  const { session } = await openDesk([[text("Yes.")], [text("Still.")]], { cwd: directory, sessionManager });
  await session.prompt("Are you there?");
  const file = session.sessionFile!;
  await unlink(file);
  const reason = "the file was removed. Continue with a copy of it: /clone.";
  const failed = await session.prompt("And now?");
  expect(failed).toMatchObject({
    failure: { message: `The session ${file} can no longer be written here: ${reason}` },
  });
  await expect(session.prompt("And now?")).rejects.toMatchObject({
    code: "read_only",
    message: `The session ${file} can no longer be written: ${reason}`,
  });
  const copy = await session.branch(sessionManager.getLeafId()!);
  await copy.prompt("And now?");
  expect(JSON.stringify(copy.messages)).toMatch(/Are you there.*Yes.*And now.*Still/);
  await copy.dispose();
});

describe("with durability turn", () => {
  async function openTurnDesk(turns: readonly ScriptedTurn[], fault?: Fault) {
    const directory = await temporaryDirectory();
    const fileSystem = faultyFileSystem(nodeFileSystem, fault);
    const options = { durability: "turn", fileSystem } as const;
    const sessionManager = await SessionManager.create(directory, directory, options);
    const desk = await openDesk(turns, { sessionManager, customTools: [sayTool("look")] });
    return { ...desk, fileSystem };
  }

  test("each turn ends on the disk", async () => {
    const { session, fileSystem } = await openTurnDesk([[call("look")], [text("Seen.")], [text("Again.")]]);
    const syncs: number[] = [];
    const count = () => syncs.push(fileSystem.calls.filter((name) => name === "handle.datasync").length);
    session.onEvent(({ type }) => (type === "turn_end" || type === "tool_execution_end") && count());
    await session.prompt("Look");
    expect(syncs).toEqual([0, 1, 2]);
    await session.prompt("Again");
    expect(syncs).toEqual([0, 1, 2, 3]);
  });

  test("a disk that refuses to sync ends the run", async () => {
    const first = await openTurnDesk([[call("look")], [text("Seen.")]]);
    await first.session.prompt("Look");
    const at = first.fileSystem.calls.indexOf("handle.datasync") + 1;
    const desk = await openTurnDesk([[call("look")], [text("Seen.")]], { at });
    expect(await desk.session.prompt("Look")).toMatchObject({ terminationReason: "error", detail: "write_failed" });
    expect(desk.model.asked).toHaveLength(1);
    expectLaws(desk.events);
  });
});

test("a session that could not be opened holds nothing", async () => {
  const directory = await temporaryDirectory();
  const first = await openDesk([[text("one")]], {
    cwd: directory,
    sessionManager: await SessionManager.create(directory, undefined, { agentDir: join(directory, "agent") }),
  });
  await first.session.prompt("Hi");
  const { sessionId } = first.session;
  await first.session.dispose();
  const place = { cwd: directory, agentDir: join(directory, "agent"), sessionId };
  await expect(createAgentSession({ ...place, model: "nobody/nothing" })).rejects.toMatchObject({
    code: "unknown_model",
  });
  await expect(createAgentSession({ ...place, tools: ["raed"] })).rejects.toThrow("raed");
  const again = await createAgentSession({ ...place, model: first.model });
  expect(again.readOnly).toBeUndefined();
  await again.dispose();
});

describe("moments that are badly chosen", () => {
  test("an abort before the run is there ends it, and waiting waits for it", async () => {
    const desk = await openDesk([[call("look")], [text("never")]], { customTools: [sayTool("look")] });
    const prompted = desk.session.prompt("Look.");
    expect(desk.session.isStreaming).toBe(true);
    await desk.session.abort();
    expect(await prompted).toMatchObject({ terminationReason: "abort_signal" });
    expect(desk.model.asked).toHaveLength(0);
    expect(desk.session.messages[0]).toMatchObject({ role: "user" });
  });

  test("waitForIdle after a prompt waits for its run", async () => {
    const desk = await openDesk([[text("Done.")]]);
    void desk.session.prompt("Hi");
    await desk.session.waitForIdle();
    expect(desk.session.messages).toHaveLength(2);
  });

  test("what interrupts and is then closed has an outcome", async () => {
    const directory = await temporaryDirectory();
    const sessionManager = await SessionManager.create(directory, directory);
    const desk = await openDesk([[call("hang")]], { customTools: [hang], sessionManager });
    void desk.session.prompt("Go.");
    await until(() => desk.events.some(({ type }) => type === "tool_execution_start"));
    await Promise.all(
      [desk.session.steer("Stop.", { interrupt: true }), desk.session.dispose()].map((one) =>
        one.catch(() => undefined),
      ),
    );
    const log = await readFile(sessionManager.getSessionFile()!, "utf8");
    const accepted = log.match(/"state":"accepted"/g)?.length ?? 0;
    const settled =
      (log.match(/"state":"refused"/g)?.length ?? 0) + (log.match(/"queueId":"[^"]+"\}?\}$/gm)?.length ?? 0);
    expect(settled).toBeGreaterThanOrEqual(accepted);
  });

  test("what waits when a run fails is said in a new one", async () => {
    const failing: ScriptedTurn = async () => {
      await desk.session.followUp("And then?");
      return { failure: { kind: "auth", message: "no" } };
    };
    const desk = await openDesk([failing, [text("Better.")]]);
    expect(await desk.session.prompt("Hi")).toMatchObject({ terminationReason: "no_tool_calls" });
    expect(desk.session.queue.followUps).toEqual([]);
    expectLaws(desk.events);
  });

  test("a follow-up at the very end of a run is not left behind", async () => {
    for (let delay = 0; delay < 12; delay++) {
      const desk = await openDesk([[text("one")], [text("two")]], {
        sessionManager: await SessionManager.inMemory("/project"),
      });
      let followed: Promise<unknown> | undefined;
      desk.session.onEvent(async ({ type }) => {
        if (type !== "message_end" || followed) return;
        followed = (async () => {
          for (let turn = 0; turn < delay; turn++) await Promise.resolve();
          await desk.session.followUp("More.");
        })();
      });
      await desk.session.prompt("Hi");
      await followed;
      await desk.session.waitForIdle();
      expect(desk.session.queue.followUps, `delay ${delay}`).toEqual([]);
      expect(desk.model.asked, `delay ${delay}`).toHaveLength(2);
    }
  });

  test("compacting by hand ends by an abort and by its own time, and is refused within a run", async () => {
    const clock = createFakeClock();
    const hangs: ScriptedTurn = () => never();
    const desk = await openDesk([[text("one")], hangs, hangs], {
      clock,
      sessionManager: await SessionManager.inMemory("/project", { clock }),
    });
    await desk.session.prompt("A long story. ".repeat(2_000));
    const first = desk.session.compact();
    await until(() => desk.model.asked.length === 2);
    await desk.session.abort();
    expect(await first).toMatchObject({ kind: "aborted" });
    const second = desk.session.compact();
    await until(() => desk.model.asked.length === 3);
    await clock.advance(11 * 60 * 1_000);
    expect(await second).toMatchObject({ kind: "aborted" });
    desk.model.add([call("hang")]);
    desk.session.setTools([hang]);
    const run = desk.session.prompt("Go.");
    await until(() => desk.events.some(({ type }) => type === "tool_execution_start"));
    await expect(desk.session.compact()).rejects.toMatchObject({ code: "busy" });
    await expect(desk.session.navigate(null)).rejects.toMatchObject({ code: "busy" });
    void desk.session.abort();
    await until(() => clock.waiting > 0);
    await clock.advance(1_000);
    await run;
  });
});

test("a threshold compaction that fails does not stop an overflow from being mended", async () => {
  const full = { content: [call("look")], usage: { input: 190_000, output: 10 } };
  const overflow: ScriptedTurn = { failure: { kind: "context_overflow", message: "Too long." } };
  const broken: ScriptedTurn = { failure: { kind: "invalid_request", message: "No summaries today." } };
  const desk = await openDesk([full, broken, overflow, [text("A summary.")], [text("Now it fits.")]], {
    customTools: [sayTool("look", "x".repeat(40_000))],
  });
  expect(await desk.session.prompt("Look. ".repeat(3_000))).toMatchObject({ terminationReason: "no_tool_calls" });
  expect(desk.model.left).toBe(0);
});

test("what is asked for again is not sent after a restart either, also with steering in between", async () => {
  const directory = await temporaryDirectory();
  const sessionManager = await SessionManager.create(directory, directory);
  const busy: ScriptedTurn = { failure: { kind: "overloaded", message: "Busy." }, content: [text("half a th")] };
  const desk = await openDesk([busy, [text("Whole.")]], { sessionManager, settings: { retry: { baseDelayMs: 50 } } });
  const done = desk.session.prompt("One.");
  await until(() => desk.events.some(({ type }) => type === "retry_scheduled"));
  await desk.session.steer("Also this.");
  await done;
  const live = desk.session.messages.map(({ role }) => role);
  await desk.session.dispose();
  const again = await openDesk([], { sessionManager: await SessionManager.open(sessionManager.getSessionFile()!) });
  expect(again.session.messages.map(({ role }) => role)).toEqual(live);
  expect(JSON.stringify(again.session.messages)).not.toContain("half a th");
});

test("a budget counts prompt and tools before anybody is asked, and compaction by hand too", async () => {
  const desk = await openDesk([[text("never")]], {
    settings: { budgets: { tokens: 3_000 } },
    systemPrompt: "Be careful. ".repeat(2_000),
  });
  expect(await desk.session.prompt("Hi")).toMatchObject({ detail: "budget_tokens" });
  expect(desk.model.asked).toHaveLength(0);
  const other = await openDesk([[text("one")], { content: [text("A summary.")], usage: { input: 500, output: 10 } }], {
    budgets: { tokens: 100_000 },
  });
  await other.session.prompt("A long story. ".repeat(2_000));
  const before = other.session.budget.left.tokens!;
  await other.session.compact();
  expect(before - other.session.budget.left.tokens!).toBeGreaterThanOrEqual(510);
});

test("who only looks at a session does not cut off its children", async () => {
  const directory = await temporaryDirectory();
  const sessionManager = await SessionManager.create(directory, directory);
  const parent = await openDesk([[text("one")], [call("hang")]], { sessionManager, customTools: [hang] });
  await parent.session.prompt("Hi");
  const viewer = await openDesk([], { sessionManager: await SessionManager.open(sessionManager.getSessionFile()!) });
  await viewer.session.dispose();
  const child = await openDesk([[call("hang")]], { parentSessionId: parent.session.sessionId, customTools: [hang] });
  const parentDone = parent.session.prompt("Go.");
  await until(() => parent.events.some(({ type }) => type === "tool_execution_start"));
  const childDone = child.session.prompt("Go.");
  await until(() => child.events.some(({ type }) => type === "tool_execution_start"));
  await parent.session.abort();
  await Promise.all([parentDone, childDone]);
  expect(isDone(child)).toBe(true);
});

test.each<[string, unknown]>([
  ["null for a block", { content: [null] }],
  ["a block of another kind", { content: [{ type: "video" }] }],
  ["no content", {}],
])("a tool that returns %s fails alone", async (_name, result) => {
  const bad = {
    ...sayTool("bad"),
    execute: async (_id: string, _args: unknown, _signal: unknown, onUpdate?: (update: never) => void) => {
      onUpdate?.(undefined as never);
      onUpdate?.({ content: [null] } as never);
      return result;
    },
  } as unknown as AgentTool;
  const desk = await openDesk([[call("bad")], [text("fine")]], { customTools: [bad] });
  expect(await desk.session.prompt("Go")).toMatchObject({ terminationReason: "no_tool_calls" });
  expectLaws(desk.events);
  expect(desk.session.messages[2]).toMatchObject({ role: "toolResult", isError: true });
});

test("a result that was cut stays where the log says it is, and can be read by a later session", async () => {
  const directory = await temporaryDirectory();
  const long = "a long line of words\n".repeat(20_000);
  const sessionManager = await SessionManager.create(directory, join(directory, "sessions"));
  const first = await openDesk([[call("look")], [text("ok")]], {
    sessionManager,
    customTools: [sayTool("look", long)],
  });
  await first.session.prompt("Look.");
  await first.session.dispose();
  const path = /(\/\S+result-\S+\.txt)/.exec(JSON.stringify(first.session.messages))?.[1];
  expect(await readFile(path!, "utf8")).toBe(long);
});

test("what tau is set up with is not written, and models.json not read, without being asked for", async () => {
  const directory = await temporaryDirectory();
  const agentDir = join(directory, "agent");
  await mkdir(agentDir);
  await writeFile(join(agentDir, "models.json"), "{}");
  const desk = await openDesk(
    [
      [call("write", { path: "agent/settings.json", content: "{}" }), call("read", { path: "agent/models.json" })],
      [text("ok")],
    ],
    { cwd: directory, agentDir },
  );
  await desk.session.prompt("Try.");
  const results = desk.session.messages.flatMap((message) => (message.role === "toolResult" ? [message.isError] : []));
  expect(results).toEqual([true, true]);
});

test("an answer to a question that says nothing clear is a no", async () => {
  const directory = await temporaryDirectory();
  const desk = await openDesk([[call("read", { path: "/etc/hostname" })], [text("ok")]], {
    cwd: directory,
    ask: (async () => undefined) as never,
  });
  await desk.session.prompt("Read it.");
  expect(desk.events).toContainEqual(expect.objectContaining({ type: "approval_resolved", decision: "denied" }));
});

test("what children spent counts for their parent's budget also after a restart", async () => {
  const directory = await temporaryDirectory();
  const sessionManager = await SessionManager.create(directory, directory);
  const budgets = { tokens: 100_000 };
  const parent = await openDesk([[text("one")]], { sessionManager, budgets });
  await parent.session.prompt("Hi");
  const child = await openDesk([{ content: [text("two")], usage: { input: 5_000, output: 100 } }], {
    parentSessionId: parent.session.sessionId,
  });
  const grandchild = await openDesk([{ content: [text("three")], usage: { input: 7_000, output: 100 } }], {
    parentSessionId: child.session.sessionId,
  });
  await child.session.prompt("Work.");
  await grandchild.session.prompt("Work.");
  const before = parent.session.budget.left.tokens!;
  expect(before).toBeLessThan(100_000 - 12_200);
  await parent.session.dispose();
  const again = await openDesk([], {
    sessionManager: await SessionManager.open(sessionManager.getSessionFile()!),
    budgets,
  });
  expect(again.session.budget.left.tokens).toBe(before);
});
