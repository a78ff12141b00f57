/** Questions that outlive the run in which they were asked. */
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import type { ExtensionFactory } from "@tau/extensions";
import { type AnswerStore, createAnswerFile, createStoredAnswers, extendPolicy } from "@tau/policy";
import { type Approval, customTypes, type RunEnd } from "@tau/protocol";
import { createMemoryStorage, readLog } from "@tau/tools/storage";
import { Type } from "typebox";
import { describe, expect, onTestFinished, test } from "vitest";
import { defineTool, SessionManager } from "../../src/index.ts";
import {
  call,
  createTestSession,
  text,
  type TestSessionParams,
  type TestTurn,
  transcript,
} from "../../src/testing/index.ts";

const seven = 7 * 24 * 60 * 60 * 1_000;

/** A directory with a log and a store, which any number of sessions open one after the other. */
async function createDesk() {
  const directory = await mkdtemp(join(tmpdir(), "tau-asked-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const clock = createFakeClock();
  const store = createAnswerFile({ directory, clock });
  const made: string[] = [];
  const refund = (description = "Refunds an order.") =>
    defineTool({
      name: "refund",
      description,
      input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] } as const,
      needsApproval: true,
      execute: ({ order }) => {
        made.push(String(order));
        return `Refunded ${String(order)}.`;
      },
    });
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object", properties: {} } as const,
    readOnly: true,
    execute: () => {
      made.push("look");
      return "Seen.";
    },
  });
  const log = join(directory, "log.jsonl");
  /** Opens the session as another process would. */
  const open = async (turns: TestTurn[], params: TestSessionParams = {}, path = log) => {
    const kit = await createTestSession(turns, {
      clock,
      ask: { later: store },
      customTools: [refund(), look],
      sessionManager: SessionManager.createFile(path, { cwd: directory, clock }).catch(async () =>
        SessionManager.open(path, { clock }),
      ),
      cwd: directory,
      ...params,
    });
    let isClosed = false;
    const close = async () => {
      if (!isClosed) await kit.dispose();
      isClosed = true;
    };
    onTestFinished(close);
    return { ...kit, close };
  };
  /** Asks, and leaves the session with an open question. */
  const ask = async (...turn: Parameters<typeof call>[]) => {
    const kit = await open([
      (turn.length > 0 ? turn : [["refund", { order: "a" }] as const]).map(([name, args], index) => ({
        ...call(name, args),
        id: `c${index}`,
      })),
    ]);
    const outcome = await kit.prompt("Refund it.");
    const end = outcome.kind === "ran" ? outcome.end : undefined;
    await kit.close();
    return getQuestions(end);
  };
  return { directory, clock, store, made, refund, log, open, ask };
}

function getQuestions(end: RunEnd | undefined): readonly Approval[] {
  if (end?.kind !== "asked") throw new Error(`The run ended as ${JSON.stringify(end)}.`);
  return end.questions;
}

const allow = { decision: "allow" } as const;

const notAnswered =
  "result refund (error): This call was not made: it needs permission, and nobody answered the question about it. Do not try it in another way.";

test("a run ends with its question, and another process answers it and makes the call", async () => {
  const { ask, open, made } = await createDesk();
  const [question, ...others] = await ask();
  expect(others).toEqual([]);
  expect(question).toMatchObject({ toolName: "refund", choices: [{ choice: "once" }], timeoutMs: seven });
  expect(made).toEqual([]);
  const { session, events } = await open([[text("Refunded.")]]);
  expect(await session.getQuestions()).toEqual([question]);
  expect(await session.approve(question!.id, { decision: "allow", message: "Be quick." })).toBe(true);
  expect(await session.approve(question!.id, allow)).toBe(false);
  expect(await session.getQuestions()).toEqual([]);
  expect(made).toEqual([]);
  expect(await session.resume()).toMatchObject({ end: { kind: "done" } });
  expect(made).toEqual(["a"]);
  expect(transcript(session)).toEqual([
    "user: Refund it.",
    'call refund {"order":"a"}',
    String.raw`result refund: Refunded a.\nThe user allowed this call: Be quick.`,
    "assistant: Refunded.",
  ]);
  expect(events.map(({ type }) => type).filter((type) => /^(agent|turn|tool_execution)_/.test(type))).toEqual([
    "agent_start",
    "turn_start",
    "tool_execution_start",
    "tool_execution_end",
    "turn_end",
    "turn_start",
    "turn_end",
    "agent_end",
  ]);
  await expect(session.resume()).rejects.toMatchObject({ code: "invalid_input" });
});

test("without `later`, what needs an answer is denied at once as before", async () => {
  const { open, made, store } = await createDesk();
  const { session, prompt } = await open([[call("refund", { order: "a" })], [text("I may not.")]], {
    ask: undefined as never,
  });
  expect(await prompt("Refund it.")).toMatchObject({ kind: "ran", end: { kind: "done" } });
  expect(transcript(session)[2]).toMatch(/No person is there to ask/);
  expect([made, await store.read(session.sessionId)]).toEqual([[], []]);
});

test("on the wire the run ends with one of the six reasons", async () => {
  const { open } = await createDesk();
  const { prompt, events } = await open([[call("refund", { order: "a" })]]);
  await prompt("Refund it.");
  expect(events.at(-1)).toMatchObject({ type: "agent_end", terminationReason: "no_tool_calls", detail: "asked" });
  expect(events.filter(({ type }) => type === "tool_execution_end")).toMatchObject([
    { success: false, error: { code: "postponed" } },
  ]);
});

test("a person's no is the outcome, and nothing is made", async () => {
  const { ask, open, made } = await createDesk();
  const [question] = await ask();
  const { session } = await open([[text("I see.")]]);
  await session.approve(question!.id, { decision: "deny", message: "Too much." });
  await session.resume();
  expect(made).toEqual([]);
  expect(transcript(session)[2]).toContain("The user did not allow the call: Too much.");
});

describe("several calls of one answer", () => {
  const calls = [
    ["look", {}],
    ["refund", { order: "a" }],
    ["look", {}],
    ["refund", { order: "b" }],
  ] as const;

  test("are made up to the first that waits, and all questions are asked at once", async () => {
    const { ask, made } = await createDesk();
    const questions = await ask(...(calls as unknown as Parameters<typeof call>[]));
    expect(questions.map(({ toolCallId }) => toolCallId)).toEqual(["c1", "c3"]);
    expect(made).toEqual(["look"]);
  });

  test("wait for each other: no call is made before one that comes first, and each once", async () => {
    const { ask, open, made } = await createDesk();
    const [first, second] = await ask(...(calls as unknown as Parameters<typeof call>[]));
    const { session } = await open([[text("All done.")]]);
    await session.approve(second!.id, allow);
    expect(getQuestions((await session.resume()).end)).toEqual([first]);
    expect(made).toEqual(["look"]);
    await session.approve(first!.id, allow);
    expect(await session.resume()).toMatchObject({ end: { kind: "done" } });
    expect(made).toEqual(["look", "a", "look", "b"]);
    expect(transcript(session).filter((line) => line.startsWith("result"))).toHaveLength(4);
  });
});

test("an answer counts once: the same call in a later answer is asked about again", async () => {
  const { ask, open, made, store } = await createDesk();
  const [question] = await ask();
  const again = { ...call("refund", { order: "a" }), id: "c0" };
  const { session } = await open([[again]]);
  await session.approve(question!.id, allow);
  const [other] = getQuestions((await session.resume()).end);
  expect(other!.id).not.toBe(question!.id);
  expect(made).toEqual(["a"]);
  expect((await store.read(session.sessionId)).map(({ answer }) => answer)).toEqual([undefined]);
});

test("an answer is taken out of the store before the call is made", async () => {
  const { ask, open, refund, store } = await createDesk();
  const [question] = await ask();
  const answers: unknown[] = [];
  const watched = {
    ...refund(),
    execute: async () => {
      answers.push(...(await store.read(session.sessionId)).map(({ answer }) => answer));
      return { content: [text("Refunded.")], details: {} };
    },
  };
  const { session } = await open([[text("Done.")]], { customTools: [watched] });
  await session.approve(question!.id, allow);
  await session.resume();
  expect(answers).toEqual([undefined]);
});

test("an answer that another process has used is none", async () => {
  const { ask, open, store, made } = await createDesk();
  const [question] = await ask();
  const racing: AnswerStore = {
    read: (id) => store.read(id),
    change: async (id, work) => {
      // Just before this process takes the answer.
      await store.change(id, (all) => all.map(({ answer: _answer, ...rest }) => rest));
      await store.change(id, work);
    },
  };
  const first = await open([]);
  await first.session.approve(question!.id, allow);
  await first.close();
  const { session } = await open([], { ask: { later: racing } });
  expect(getQuestions((await session.resume()).end)).toEqual([question]);
  expect(made).toEqual([]);
});

test("a question and its answer expire", async () => {
  const { ask, open, clock, made } = await createDesk();
  const [question] = await ask();
  const { session, close } = await open([]);
  await session.approve(question!.id, allow);
  await clock.advance(seven);
  await expect(session.resume()).rejects.toMatchObject({ code: "invalid_input" });
  await close();
  const later = await open([]);
  expect(await later.session.approve(question!.id, allow)).toBe(false);
  expect(transcript(later.session).at(-1)).toBe(notAnswered);
  expect(made).toEqual([]);
});

describe("an answer does not count any more", () => {
  test("when the definition of the tool has changed: the call is asked about again", async () => {
    const { ask, open, refund, made } = await createDesk();
    const [question] = await ask();
    const { session, events } = await open([], { customTools: [refund("Refunds all orders of a customer.")] });
    await session.approve(question!.id, allow);
    const [other] = getQuestions((await session.resume()).end);
    expect(other!.id).not.toBe(question!.id);
    expect(await session.getQuestions()).toEqual([other]);
    expect(events).toContainEqual(expect.objectContaining({ type: "approval_resolved", approvalId: question!.id }));
    expect(made).toEqual([]);
  });

  test("when the policy denies the call now", async () => {
    const { ask, open, made } = await createDesk();
    const [question] = await ask();
    const decide = extendPolicy(() => ({ kind: "deny", rule: "weekend", reason: "Refunds are made from Monday." }));
    const { session } = await open([[text("Then not.")]], { decide });
    await session.approve(question!.id, allow);
    await session.resume();
    expect(transcript(session)[2]).toBe("result refund (error): Refunds are made from Monday.");
    expect(made).toEqual([]);
  });

  test("when the policy asks for another reason now", async () => {
    const { ask, open, made } = await createDesk();
    const [question] = await ask();
    const decide = extendPolicy(() => ({ kind: "ask", rule: "limit", reason: "The order is large." }));
    const { session } = await open([], { decide });
    await session.approve(question!.id, allow);
    expect(getQuestions((await session.resume()).end)[0]!.reason).toMatch(/needs permission|is large/);
    expect(made).toEqual([]);
  });

  test("when the file that would be changed, or the script that would be run, is another one", async () => {
    const { open, directory } = await createDesk();
    const outside = await mkdtemp(join(tmpdir(), "tau-outside-"));
    onTestFinished(() => rm(outside, { recursive: true, force: true }));
    await writeFile(join(directory, "deploy.sh"), "true");
    await writeFile(join(outside, "a"), "one");
    const decide = extendPolicy((_request, _next, policyCall) =>
      policyCall ? { kind: "ask", rule: "mine", reason: "I want to know." } : undefined,
    );
    for (const [name, args, change] of [
      ["bash", { command: "sh deploy.sh" }, () => writeFile(join(directory, "deploy.sh"), "echo other > made")],
      ["read", { path: join(outside, "a") }, () => writeFile(join(outside, "a"), "two")],
    ] as const) {
      const log = join(directory, `${name}.jsonl`);
      const first = await open([[call(name, args)]], { decide }, log);
      await first.prompt("Do it.");
      const [question] = await first.session.getQuestions();
      expect(await first.session.approve(question!.id, allow)).toBe(true);
      await first.close();
      await change();
      const { session, close } = await open([], { decide }, log);
      const [other] = getQuestions((await session.resume()).end);
      expect(other!.id).not.toBe(question!.id);
      await close();
    }
    await expect(readFile(join(directory, "made"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("the call gets the outcome that nobody answered", () => {
  const expected = ["user: Refund it.", 'call refund {"order":"a"}', notAnswered];

  test("before a new prompt", async () => {
    const { ask, open, store, made } = await createDesk();
    const [question] = await ask();
    const { session, prompt, model, events } = await open([[text("As you like.")]]);
    await session.approve(question!.id, allow);
    await prompt("Never mind.");
    expect(transcript(session)).toEqual([...expected, "user: Never mind.", "assistant: As you like."]);
    expect(model.asked[0]!.context.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "user",
    ]);
    expect([made, await store.read(session.sessionId), await session.getQuestions()]).toEqual([[], [], []]);
    expect(await session.approve(question!.id, allow)).toBe(false);
    await expect(session.resume()).rejects.toMatchObject({ code: "invalid_input" });
    expect(events.filter(({ type }) => type === "approval_resolved")).toHaveLength(1);
  });

  test("before a navigation, on the branch that is left", async () => {
    const { ask, open } = await createDesk();
    await ask();
    const { session } = await open([]);
    const leaf = session.sessionManager.getLeafId();
    const [first] = await session.sessionManager.getBranch();
    await session.navigate(first!.id);
    expect(await session.getQuestions()).toEqual([]);
    const [result] = await session.sessionManager.getChildren(leaf);
    expect(result).toMatchObject({ message: { role: "toolResult", details: { outcome: "not_answered" } } });
  });

  test("before a compaction", async () => {
    const { ask, open } = await createDesk();
    await ask();
    const { session } = await open([[text("A summary.")]]);
    await session.compact();
    expect(transcript(session).slice(0, 3)).toEqual(expected);
    expect(await session.getQuestions()).toEqual([]);
  });

  test("in a log that was copied, branched, forked or imported, and the original keeps its question", async () => {
    const { ask, open, log, directory, made } = await createDesk();
    const [question] = await ask();
    const copy = join(directory, "copy.jsonl");
    await copyFile(log, copy);
    const original = await open([[text("Refunded.")]]);
    await original.session.approve(question!.id, allow);
    const copied = await open([], {}, copy);
    expect(await copied.session.approve(question!.id, allow)).toBe(false);
    await expect(copied.session.resume()).rejects.toMatchObject({ code: "invalid_input" });
    expect(transcript(copied.session)).toEqual(expected);
    const branch = await original.session.branch(original.session.sessionManager.getLeafId()!);
    onTestFinished(() => branch.dispose());
    await expect(branch.resume()).rejects.toMatchObject({ code: "invalid_input" });
    expect(transcript(branch)).toEqual(expected);
    expect(made).toEqual([]);
    await original.session.resume();
    expect(made).toEqual(["a"]);
  });

  test("in a log that was put back to before the call was made", async () => {
    const { ask, open, log, directory, made } = await createDesk();
    const [question] = await ask();
    const backup = join(directory, "backup.jsonl");
    await copyFile(log, backup);
    const first = await open([[text("Refunded.")]]);
    await first.session.approve(question!.id, allow);
    await first.session.resume();
    await first.close();
    await copyFile(backup, log);
    const { session } = await open([]);
    await expect(session.resume()).rejects.toMatchObject({ code: "invalid_input" });
    expect(made).toEqual(["a"]);
  });

  test("in a log in which somebody wrote a question", async () => {
    const { open, log, made } = await createDesk();
    const first = await open([[{ ...call("refund", { order: "a" }), id: "c0" }]]);
    await first.prompt("Refund it.");
    await first.close();
    const text = await readFile(log, "utf8");
    const forged = text.replaceAll(/"id":"1d[0-9a-f]{6}-[^"]*"/g, '"id":"forged"');
    await writeFile(log, forged);
    const { session } = await open([]);
    expect(await session.approve("forged", allow)).toBe(false);
    expect(made).toEqual([]);
  });
});

describe("a call that cannot wait is denied before anything of it runs", () => {
  test("if another tool makes it, and the same call of the model waits", async () => {
    const { open, made, store } = await createDesk();
    const said: string[] = [];
    const factory: ExtensionFactory = (tau) =>
      tau.registerTool({
        name: "outer",
        label: "outer",
        description: "Makes a call.",
        parameters: Type.Object({}),
        async execute(_id, _params, _signal, _onUpdate, context) {
          const { result, isError } = await context.executeTool("refund", { order: "a" });
          said.push(`${isError} ${JSON.stringify(result.content)}`);
          return { content: [text("Tried.")], details: {} };
        },
      });
    const { session, prompt, events } = await open([[call("outer")], [call("refund", { order: "b" })]], {
      extensions: { factories: [factory] },
    });
    const outcome = await prompt("Refund it.");
    expect(said).toEqual([expect.stringMatching(/^true .*Make this call yourself/)]);
    expect(events.filter(({ type }) => type === "tool_denied")).toMatchObject([{ toolName: "refund" }]);
    const questions = getQuestions(outcome.kind === "ran" ? outcome.end : undefined);
    expect(questions.map(({ summary }) => summary)).toEqual([expect.stringContaining("b")]);
    expect([made, (await store.read(session.sessionId)).length]).toEqual([[], 1]);
  });

  test("if a child session makes it", async () => {
    const { open, made, store } = await createDesk();
    const { session } = await open([[call("refund", { order: "a" })], [text("I may not.")]]);
    const child = await session.openChild({ name: "worker" });
    onTestFinished(() => child.dispose());
    expect(await child.prompt("Refund it.")).toMatchObject({ kind: "ran", end: { kind: "done" } });
    expect(transcript(child)[2]).toMatch(/a call of a child session cannot wait/);
    const kept = [await store.read(child.sessionId), await store.read(session.sessionId)];
    expect([made, await child.getQuestions(), kept]).toEqual([[], [], [[], []]]);
  });
});

describe("in a storage, questions and answers are beside the log", () => {
  /** Opens the session as another process with the same storage would. */
  const createStored = async () => {
    const desk = await createDesk();
    const storage = createMemoryStorage();
    const openStored = (turns: TestTurn[], params: TestSessionParams = {}, id = "order") =>
      desk.open(turns, {
        sessionManager: SessionManager.continueStored(desk.directory, id, { storage, clock: desk.clock }),
        ask: { later: createStoredAnswers({ storage, clock: desk.clock }) },
        ...params,
      });
    return { ...desk, storage, openStored };
  };
  const turn = { ...call("refund", { order: "a" }), id: "c0" };

  test("another process answers, and the call is made once", async () => {
    const { openStored, storage, made } = await createStored();
    const first = await openStored([[turn]]);
    await first.prompt("Refund it.");
    await first.close();
    expect((await storage.list("record")).map(({ key }) => key)).toContain("record/answers");
    const second = await openStored([]);
    const [question] = await second.session.getQuestions();
    expect(await second.session.approve(question!.id, allow)).toBe(true);
    await second.close();
    const third = await openStored([[text("Refunded.")]]);
    expect(await third.session.approve(question!.id, allow)).toBe(false);
    expect(await third.session.resume()).toMatchObject({ end: { kind: "done" } });
    await third.close();
    const fourth = await openStored([]);
    await expect(fourth.session.resume()).rejects.toMatchObject({ code: "invalid_input" });
    expect(made).toEqual(["a"]);
  });

  test("also where only the settings say that runs end with their questions, without any file", async () => {
    const { openStored, directory, made } = await createStored();
    const chosen = { ask: undefined as never, settings: { approvals: { later: true } } };
    const first = await openStored([[turn]], chosen);
    await first.prompt("Refund it.");
    await first.close();
    const second = await openStored([[text("Refunded.")]], chosen);
    const [question] = await second.session.getQuestions();
    await second.session.approve(question!.id, allow);
    await second.session.resume();
    expect(made).toEqual(["a"]);
    expect(await readdir(directory)).toEqual([]);
  });

  test("a copy of the log in the same storage has no open question, and its call is not made", async () => {
    const { openStored, storage, made } = await createStored();
    const first = await openStored([[turn]]);
    await first.prompt("Refund it.");
    const [question] = await first.session.getQuestions();
    await first.session.approve(question!.id, allow);
    await first.close();
    const bytes = await readLog(storage, "session/order");
    const copy = await storage.open("session/copy");
    await copy.replace(bytes!);
    await copy.close();
    const copied = await openStored([], {}, "copy");
    await expect(copied.session.resume()).rejects.toMatchObject({ code: "invalid_input" });
    expect(transcript(copied.session).at(-1)).toBe(notAnswered);
    expect(made).toEqual([]);
  });
});

test("a run that is aborted while a call waits leaves none open", async () => {
  const { open } = await createDesk();
  const { session, prompt } = await open([[call("look"), call("refund", { order: "a" })]], {
    onEvent: (event) => {
      if (event.type === "tool_execution_end" && event.error?.code === "postponed") void session.abort();
    },
  });
  expect(await prompt("Refund it.")).toMatchObject({ end: { kind: "aborted" } });
  expect(await session.getQuestions()).toEqual([]);
  expect(transcript(session).filter((line) => line.startsWith("result"))).toHaveLength(2);
});

test("a follow-up waits until the run was resumed", async () => {
  const { open, made } = await createDesk();
  const { session, model } = await open([
    () => {
      void session.followUp("And then sing.");
      return [call("refund", { order: "a" })];
    },
    [text("Refunded.")],
    [text("La.")],
  ]);
  const outcome = await session.prompt("Refund it.");
  const [question] = getQuestions(outcome.kind === "ran" ? outcome.end : undefined);
  expect(model.asked).toHaveLength(1);
  await session.approve(question!.id, allow);
  await session.resume();
  expect(made).toEqual(["a"]);
  expect(transcript(session).slice(-3)).toEqual(["assistant: Refunded.", "user: And then sing.", "assistant: La."]);
});

test("the question is an entry, without the answer", async () => {
  const { ask, open, log } = await createDesk();
  const [question] = await ask();
  const { session } = await open([[text("Refunded.")]]);
  await session.approve(question!.id, { decision: "allow", message: "a secret word" });
  const entries = await session.sessionManager.getEntries();
  const asked = entries.filter((entry) => entry.type === "custom" && entry.customType === customTypes.asked);
  expect(asked).toMatchObject([{ data: { toolCallId: "c0", approval: question } }]);
  expect(await readFile(log, "utf8")).not.toContain("a secret word");
});

test("while its call is made, a question takes no other answer and is not listed", async () => {
  const { ask, open, made, store } = await createDesk();
  const [question] = await ask();
  const seen: unknown[] = [];
  const { session } = await open([[text("Refunded.")]]);
  session.onSessionEvent((event) => {
    if (event.type === "tool_execution_start") seen.push(session.getQuestions(), session.approve(question!.id, allow));
  });
  await session.approve(question!.id, allow);
  await session.resume();
  expect([await Promise.all(seen), made]).toEqual([[[], false], ["a"]]);
  expect((await store.read(session.sessionId)).map(({ answer }) => answer)).not.toContain(allow);
});

test("of several that resume the answered run, one does, and only if an answer is to", async () => {
  const { ask, open, made } = await createDesk();
  const [question] = await ask();
  const { session } = await open([[text("Refunded.")]]);
  expect(await session.resumeAnswered()).toBe(false);
  await session.approve(question!.id, allow, { resumes: true });
  const begun = await Promise.all([session.resumeAnswered(), session.resumeAnswered()]);
  expect(begun.filter(Boolean)).toHaveLength(1);
  await session.waitForIdle();
  expect([made, await session.resumeAnswered()]).toEqual([["a"], false]);
});

describe("somebody who is there now", () => {
  const attended = (store: AnswerStore) => ({ ask: { later: store, isAttended: () => true } }) as TestSessionParams;

  test("is not asked again about what was answered before", async () => {
    const { ask, open, made, store } = await createDesk();
    const [question] = await ask();
    const { session, events } = await open([[text("Refunded.")]], attended(store));
    await session.approve(question!.id, allow, { resumes: true });
    expect(await session.resumeAnswered()).toBe(true);
    await session.waitForIdle();
    expect(made).toEqual(["a"]);
    expect(events.filter(({ type }) => type === "approval_requested")).toEqual([]);
  });

  test("is asked at once where the answer does not count any more, and nothing else stays open", async () => {
    const { ask, open, made, store, refund } = await createDesk();
    const [question] = await ask();
    const changed = { customTools: [refund("Refunds all orders of a customer.")] };
    const { session, until } = await open([[text("Refunded.")]], { ...attended(store), ...changed });
    await session.approve(question!.id, allow, { resumes: true });
    expect(await session.resumeAnswered()).toBe(true);
    const { approval } = await until("approval_requested");
    expect([made, await store.read(session.sessionId)]).toEqual([[], []]);
    expect(await session.approve(approval.id, allow)).toBe(true);
    await session.waitForIdle();
    expect([made, await session.getQuestions()]).toEqual([["a"], []]);
  });
});

test("an answer that is only kept does not resume the run, also not in another process", async () => {
  const { ask, open, made } = await createDesk();
  const [question] = await ask();
  const first = await open([]);
  await first.session.approve(question!.id, allow);
  expect(await first.session.resumeAnswered()).toBe(false);
  await first.close();
  const { session } = await open([[text("Refunded.")]]);
  expect(await session.resumeAnswered()).toBe(false);
  await session.resume();
  expect(made).toEqual(["a"]);
});
