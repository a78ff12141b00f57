import type { AgentTool } from "@tau/agent";
import { createAnswerMemory } from "@tau/policy";
import type { DescribedTool } from "@tau/tools";
import type { Failure } from "@tau/ai";
import { call, type ScriptedTurn, text } from "@tau/ai/testing";
import { type RunEnd, type SessionEvent, type Termination, toTermination } from "@tau/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Submission } from "./activity.ts";
import { AuthStorage } from "@tau/config/auth";
import { SessionManager } from "../session/session-manager.ts";
import {
  createCrashFileSystem,
  createTestSession,
  type TestSession,
  type TestSessionParams,
} from "../testing/index.ts";

/** A promise that is kept when it is told to. */
function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

type Gate = ReturnType<typeof createGate>;

/** A tool that runs until its gate is open, or the run is aborted. */
const createWaitTool = ({ opened }: Gate): AgentTool => ({
  name: "wait",
  label: "Wait",
  description: "Waits.",
  parameters: { type: "object", properties: {} },
  execute: async (_id, _params, signal) => {
    const aborted = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
    await Promise.race([opened, aborted]);
    return { content: [text("over")] };
  },
});

const createStopTool = (): AgentTool => ({
  ...createWaitTool(createGate()),
  name: "stop",
  execute: async () => ({ content: [text("enough")], terminate: true }),
});

const createPayTool = (): DescribedTool => ({ ...createStopTool(), name: "pay", needsApproval: true });

async function open(turns: readonly ScriptedTurn[], params: TestSessionParams = {}): Promise<TestSession> {
  const kit = await createTestSession(turns, { thinkingLevel: "off", ...params });
  onTestFinished(() => kit.dispose());
  return kit;
}

/** A session whose log is on a disk that can be made to refuse everything. */
async function openOnDisk(turns: readonly ScriptedTurn[], params: TestSessionParams = {}) {
  const disk = createCrashFileSystem();
  const sessionManager = await SessionManager.create("/project", "/sessions", { fileSystem: disk });
  const kit = await createTestSession(turns, { thinkingLevel: "off", ...params, sessionManager });
  // The queue cannot be refused on a disk that is gone.
  onTestFinished(() => kit.dispose().catch(() => undefined));
  const breakDisk = () => (disk.powerAfter = disk.calls);
  return { ...kit, breakDisk };
}

/** The words of the prompts in the log, as surfaces were told. */
const getPrompts = (events: readonly SessionEvent[]): string[] =>
  events.flatMap((event) => {
    if (event.type !== "entry_appended" || event.entry.type !== "message") return [];
    const { message } = event.entry;
    return message.role === "user" ? (message.content as { text: string }[]).map((block) => block.text) : [];
  });

const getTypes = (events: readonly SessionEvent[]) => events.map(({ type }) => type);
/** How each run ended, as surfaces were told. */
const getEnds = (events: readonly SessionEvent[]): Termination[] =>
  events.flatMap((event) => {
    if (event.type !== "agent_end") return [];
    const { terminationReason, detail } = event;
    return [{ terminationReason, ...(detail !== undefined && { detail }) }];
  });

/** A submission that began a run. */
function mustBeStarted(submission: Submission): Submission & { disposition: "started" } {
  return submission.disposition === "started" ? submission : expect.fail("It was queued instead of beginning a run.");
}

/** A submission that was queued. */
function mustBeQueued(submission: Submission): Submission & { disposition: "queued" } {
  return submission.disposition === "queued" ? submission : expect.fail("It began a run instead of being queued.");
}

/** Something to summarise: one turn that is longer than what a compaction keeps. */
const story: ScriptedTurn[] = [[text("word ".repeat(3_000))]];
const compaction = { keepRecentTokens: 100 };

/** A session in which a compaction waits for its summary. */
async function openCompacting(turns: readonly ScriptedTurn[] = []) {
  const gate = createGate();
  const summary: ScriptedTurn = () => gate.opened.then(() => [text("A story of words.")]);
  const kit = await open([...story, summary, ...turns], { settings: { compaction } });
  await kit.prompt("word ".repeat(3_000));
  const compacted = kit.session.compact();
  await kit.until("compaction_start");
  return { ...kit, gate, compacted };
}

describe("a prompt that is submitted", () => {
  test("is in the log when submit resolves, while its run is still in progress", async () => {
    const gate = createGate();
    const { session, events } = await open([[call("wait")], [text("Done.")]], { customTools: [createWaitTool(gate)] });
    const submission = mustBeStarted(await session.submit("Begin."));
    expect(getPrompts(events)).toEqual(["Begin."]);
    expect(getEnds(events)).toEqual([]);
    expect(submission).toMatchObject({ isWritten: true });
    gate.open();
    expect(await submission.outcome).toMatchObject({ end: { kind: "done" } });
  });

  test("is in the log too if it holds a key, which the log does not show", async () => {
    const key = "key-in-use-0123456789";
    const authStorage = AuthStorage.inMemory({}, { env: () => undefined });
    authStorage.setRuntimeApiKey("scripted", key);
    const gate = createGate();
    const { session, events } = await open([[call("wait")], [text("Done.")]], {
      customTools: [createWaitTool(gate)],
      authStorage,
    });
    const submission = mustBeStarted(await session.submit(`My key ${key} is refused.`));
    expect(getEnds(events)).toEqual([]);
    expect(getPrompts(events)).toEqual(["My key [secret] is refused."]);
    expect(submission).toMatchObject({ isWritten: true });
    gate.open();
    await submission.outcome;
  });

  test.each(["steer", "followUp"] as const)(
    "during a run is queued in the log when submit resolves: %s",
    async (queue) => {
      const gate = createGate();
      const { session, events, until } = await open([[call("wait")], [text("Heard.")], [text("Done.")]], {
        customTools: [createWaitTool(gate)],
      });
      const done = session.prompt("Begin.");
      await until("tool_execution_start");
      const submission = mustBeQueued(await session.submit("More.", { queue }));
      expect(events.findLast(({ type }) => type === "entry_appended")).toMatchObject({
        entry: { type: "queue", state: "accepted", kind: queue, queueId: submission.id },
      });
      expect(getPrompts(events)).toEqual(["Begin."]);
      gate.open();
      await done;
      expect(getPrompts(events)).toEqual(["Begin.", "More."]);
    },
  );

  test("behind a compaction is in the log when submit resolves, after the compaction", async () => {
    const { session, events, gate, compacted } = await openCompacting([[text("Go on.")]]);
    const submitted = session.submit("And then?");
    gate.open();
    const submission = mustBeStarted(await submitted);
    expect(getPrompts(events).at(-1)).toBe("And then?");
    expect(getTypes(events)).toContain("compaction_end");
    expect(await compacted).toMatchObject({ kind: "compacted" });
    expect(await submission.outcome).toMatchObject({ end: { kind: "done" } });
  });

  test("is not written when the log refuses it: submit says so, and the run says why", async () => {
    const { session, events, model, breakDisk } = await openOnDisk([[text("one")], [text("never")]]);
    await session.prompt("First.");
    breakDisk();
    const submission = mustBeStarted(await session.submit("Second."));
    expect(submission.isWritten).toBe(false);
    expect(await submission.outcome).toMatchObject({ end: { kind: "failed", cause: "log" } });
    expect(getPrompts(events)).toEqual(["First."]);
    expect(model.asked).toHaveLength(1);
  });

  test("is written also when no request can be made for it", async () => {
    const { session, events, model } = await open([], { settings: { budgets: { turns: 0 } } });
    const submission = mustBeStarted(await session.submit("Hello?"));
    expect(submission.isWritten).toBe(true);
    expect(await submission.outcome).toMatchObject({ end: { kind: "budget", limit: "turns" } });
    expect(getPrompts(events)).toEqual(["Hello?"]);
    expect(model.asked).toHaveLength(0);
  });

  test("that is empty rejects, and leaves the session idle", async () => {
    const { session, events } = await open([[text("Hello.")]]);
    await expect(session.submit(" ")).rejects.toMatchObject({ code: "invalid_input" });
    expect(session.isStreaming).toBe(false);
    expect(getTypes(events)).not.toContain("agent_start");
    expect(await session.prompt("Hi.")).toMatchObject({ end: { kind: "done" } });
  });
});

describe("while a prompt waits behind a compaction", () => {
  test("the session is busy, and further prompts are queued and sent after it", async () => {
    const { session, events, gate, compacted } = await openCompacting([[text("one")], [text("two")]]);
    const first = session.prompt("First.");
    expect(session.isStreaming).toBe(true);
    await expect(session.prompt("Refused.")).rejects.toMatchObject({ code: "busy" });
    expect(await session.followUp("Second.")).toMatchObject({ kind: "queued" });
    gate.open();
    await Promise.all([compacted, first]);
    expect(getPrompts(events).slice(1)).toEqual(["First.", "Second."]);
  });

  test("an abort ends both, and the prompt is in the log without an answer", async () => {
    const { session, events, model, compacted } = await openCompacting();
    const asked = model.asked.length;
    const submitted = session.submit("And then?");
    await session.abort();
    expect(await compacted).toMatchObject({ kind: "aborted" });
    const submission = mustBeStarted(await submitted);
    expect(submission.isWritten).toBe(true);
    expect(await submission.outcome).toMatchObject({ end: { kind: "aborted", by: "person" } });
    expect(getPrompts(events).at(-1)).toBe("And then?");
    expect(model.asked).toHaveLength(asked);
    expect(session.isStreaming).toBe(false);
  });

  test("an abort also ends other work that was asked for before the prompt and has not begun", async () => {
    const { session, events, model, compacted } = await openCompacting();
    const asked = model.asked.length;
    const secondCompacted = session.compact();
    const prompted = session.prompt("And then?");
    await session.abort();
    expect(await compacted).toMatchObject({ kind: "aborted" });
    expect(await secondCompacted).toMatchObject({ kind: "aborted" });
    expect(await prompted).toMatchObject({ end: { kind: "aborted", by: "person" } });
    expect(getPrompts(events).at(-1)).toBe("And then?");
    expect(model.asked).toHaveLength(asked);
  });

  test("other work has to wait", async () => {
    const { session, gate, compacted } = await openCompacting([[text("one")]]);
    const prompted = session.prompt("First.");
    await expect(session.compact()).rejects.toMatchObject({ code: "busy" });
    const message = "Navigating has to wait: a run is in progress. Abort the run, or try again later.";
    await expect(session.navigate(null)).rejects.toMatchObject({ code: "busy", message });
    gate.open();
    await Promise.all([compacted, prompted]);
  });

  test("closing the session ends the compaction, and the prompt is not accepted", async () => {
    const { session, events, compacted } = await openCompacting();
    const prompted = session.prompt("And then?");
    const closed = session.dispose();
    await expect(prompted).rejects.toMatchObject({ code: "closed" });
    expect(await compacted).toMatchObject({ kind: "aborted" });
    await closed;
    expect(getPrompts(events)).toHaveLength(1);
  });
});

describe("work that is no run", () => {
  test("is ended by an abort, and leaves the session idle", async () => {
    const { session, compacted } = await openCompacting();
    await session.abort();
    expect(await compacted).toMatchObject({ kind: "aborted" });
    expect(session.isStreaming).toBe(false);
  });

  test.each([false, true])(
    "is ended by an abort also before it has begun, with a prompt behind it: %s",
    async (hasPrompt) => {
      const { session, model, prompt } = await open(story, { settings: { compaction } });
      await prompt("word ".repeat(3_000));
      const compacted = session.compact();
      const prompted = hasPrompt ? session.prompt("And then?") : undefined;
      await session.abort();
      expect(await compacted).toMatchObject({ kind: "aborted" });
      if (prompted) expect(await prompted).toMatchObject({ end: { kind: "aborted", by: "person" } });
      expect(model.asked).toHaveLength(1);
      expect(session.isStreaming).toBe(false);
    },
  );

  test("is given up after ten minutes", async () => {
    const { clock, compacted } = await openCompacting();
    await clock.advance(10 * 60 * 1_000);
    expect(await compacted).toMatchObject({ kind: "aborted" });
  });

  test("is refused during a run", async () => {
    const gate = createGate();
    const { session, until } = await open([[call("wait")], [text("Done.")]], { customTools: [createWaitTool(gate)] });
    const prompted = session.prompt("Begin.");
    await until("tool_execution_start");
    await expect(session.compact()).rejects.toMatchObject({ code: "busy" });
    gate.open();
    await prompted;
  });
});

/** How a run can be brought to an end while a follow-up is queued. */
interface Ending {
  /** The model's turns after its first call has ended. */
  turns?: ScriptedTurn[];
  params?: TestSessionParams;
  /** Done while the first call runs. */
  act?: (kit: TestSession & { breakDisk: () => void; controller: AbortController }) => unknown;
  /** How the run ends that the follow-up was queued in. */
  end: RunEnd;
  /** The run in which the follow-up is sent: the same, or one of its own. Undefined when it stays queued. */
  sentInRun?: 1 | 2;
}

const heard: ScriptedTurn = [text("Heard.")];
const silence: Failure = { kind: "idle_timeout", message: "Nothing came." };
const refusedByLog: RunEnd = {
  kind: "failed",
  cause: "log",
  failure: { kind: "unknown", message: "The disk failed." },
};
const tooLong: Failure = { kind: "context_overflow", message: "The prompt is too long." };
const wrongKey: Failure = { kind: "auth", message: "The key is wrong." };

/** The values of `RunEnd["kind"]` that a session can reach from outside; `internal` failures are not among them. */
const endings: { [Kind in RunEnd["kind"]]: Record<string, Ending> } = {
  done: { "an answer": { turns: [[text("Done.")], heard], end: { kind: "done" }, sentInRun: 1 } },
  length: {
    "a cut answer": {
      turns: [{ content: [text("and so o")], stopReason: "length" }, heard],
      end: { kind: "done" },
      sentInRun: 1,
    },
  },
  stopped: {
    "a tool that ends the run": {
      turns: [[call("stop")], heard],
      end: { kind: "stopped", by: "terminated" },
      sentInRun: 2,
    },
  },
  aborted: {
    "the model, which asks for the end,": {
      turns: [[call("agent_interrupt", { reason: "nothing to do" })], heard],
      end: { kind: "aborted", by: "agent", reason: "nothing to do" },
      sentInRun: 2,
    },
    "the model, which asks for the end beside another call,": {
      turns: [[call("agent_interrupt", { reason: "nothing to do" }), call("wait")], heard],
      end: { kind: "aborted", by: "agent", reason: "nothing to do" },
      sentInRun: 2,
    },
    "abort()": { act: ({ session }) => session.abort(), end: { kind: "aborted", by: "person" } },
    "a signal": { act: ({ controller }) => controller.abort(), end: { kind: "aborted", by: "signal" } },
    "a message that interrupts": {
      turns: [heard, heard],
      act: ({ session }) => session.steer("Stop that.", { interrupt: true }),
      end: { kind: "aborted", by: "person", reason: "steered" },
      sentInRun: 2,
    },
  },
  disconnected: {
    "a gateway that is gone": {
      act: ({ session }) => session.abort("gateway_disconnected"),
      end: { kind: "disconnected" },
    },
  },
  asked: {
    "a question that outlives the run": {
      turns: [[call("pay")], heard],
      params: { ask: { later: createAnswerMemory() } },
      end: { kind: "asked", questions: [] },
    },
  },
  timeout: { "48 hours": { act: ({ clock }) => clock.advance(48 * 60 * 60 * 1_000), end: { kind: "timeout" } } },
  budget: {
    "a budget of turns": {
      params: { settings: { budgets: { turns: 1 } } },
      end: { kind: "budget", limit: "turns" },
    },
    "a budget of time": {
      params: { settings: { budgets: { timeMs: 5_000 } } },
      act: ({ clock }) => clock.advance(5_000),
      end: { kind: "budget", limit: "time" },
    },
  },
  idle: {
    "a provider that says nothing": {
      turns: [{ failure: silence }, heard],
      params: { settings: { retry: { enabled: false } } },
      end: { kind: "idle", failure: silence },
      sentInRun: 2,
    },
  },
  failed: {
    "a provider that refuses": {
      turns: [{ failure: wrongKey }, heard],
      end: { kind: "failed", cause: "model", failure: wrongKey },
      sentInRun: 2,
    },
    "a log that refuses": { act: ({ breakDisk }) => breakDisk(), end: refusedByLog },
    "a log that refuses a compaction": {
      params: { settings: { compaction } },
      act: ({ breakDisk, model }) =>
        model.add({ failure: tooLong }, () => {
          breakDisk();
          return [text("A summary.")];
        }),
      end: refusedByLog,
    },
  },
};

const rows = Object.values(endings).flatMap((endingsByName) =>
  Object.entries(endingsByName).map(([name, ending]): [name: string, fate: string, ending: Ending] => [
    name,
    ending.sentInRun === undefined ? "stays" : `is sent in run ${ending.sentInRun}`,
    ending,
  ]),
);

test.each(rows)("a follow-up that is queued when %s ends the run %s", async (_name, _fate, ending) => {
  const { turns = [], params = {}, act = () => undefined, end, sentInRun } = ending;
  const gate = createGate();
  const controller = new AbortController();
  const kit = await openOnDisk([[call("wait")], ...turns], {
    customTools: [createWaitTool(gate), createStopTool(), createPayTool()],
    abortSignal: controller.signal,
    binding: { channel: "chat", tools: [] },
    ...params,
  });
  const { session, events, until } = kit;
  const submission = mustBeStarted(await session.submit("word ".repeat(3_000)));
  await until("tool_execution_start");
  const queued = mustBeQueued(await session.submit("Next.", { queue: "followUp" }));
  await act({ ...kit, controller });
  gate.open();
  const outcome = await submission.outcome;
  await session.waitForIdle();
  expect(getEnds(events)[0]).toEqual(toTermination(end));
  expect(toTermination(outcome.end)).toEqual(toTermination(sentInRun === 2 ? { kind: "done" } : end));
  expect(getPrompts(events).includes("Next.")).toBe(sentInRun !== undefined);
  expect(session.queue.followUps.map(({ id }) => id)).toEqual(sentInRun === undefined ? [queued.id] : []);
  expect(getEnds(events)).toHaveLength(sentInRun ?? 1);
});

test("a follow-up stays when the run that should send it cannot begin", async () => {
  const gate = createGate();
  const { session, events, until, breakDisk } = await openOnDisk([[call("wait")], [call("stop")], heard], {
    customTools: [createWaitTool(gate), createStopTool()],
    scripted: { model: { reasoning: true } },
  });
  session.onEvent(({ type }) => {
    if (type !== "agent_end") return;
    breakDisk();
    // The next run has to write this before it begins.
    session.setThinkingLevel("high").catch(() => undefined);
  });
  const submission = mustBeStarted(await session.submit("Begin."));
  await until("tool_execution_start");
  const queued = mustBeQueued(await session.submit("Next.", { queue: "followUp" }));
  gate.open();
  await expect(submission.outcome).rejects.toMatchObject({ code: "write_failed" });
  expect(await until("notice")).toMatchObject({ code: "run_failed" });
  expect(session.queue.followUps.map(({ id }) => id)).toEqual([queued.id]);
  expect(getEnds(events)).toEqual([{ terminationReason: "no_tool_calls", detail: "terminated" }]);
});
