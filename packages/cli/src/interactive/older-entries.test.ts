import { emptyView, reduce, type SessionEntry, type View } from "@tau/protocol";
import { getMarkdownTheme, ScrollView, toPlainLine } from "@tau/tui";
import { expect, test } from "vitest";
import type { Look } from "./look.ts";
import { OlderEntries } from "./older-entries.ts";
import type { SessionClient } from "./session-client.ts";
import { Themes } from "./themes.ts";
import { Transcript } from "./transcript.ts";

const { theme } = new Themes({ mode: "none", files: [] });
const look: Look = {
  theme,
  markdown: getMarkdownTheme(theme),
  outputPad: 0,
  expandsTools: false,
  hidesThinking: false,
  thinkingLabel: "Thinking …",
  getColumns: () => 80,
  cwd: "/",
  images: { areShown: false, maxWidthCells: 10 },
  shows: new Map(),
};

const createEntry = (id: number, parent = id - 1): SessionEntry => ({
  type: "message",
  id: `e${id}`,
  parentId: parent < 0 ? null : `e${parent}`,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content: `<${id}>`, timestamp: 0 },
});

const range = (start: number, end: number) => Array.from({ length: end - start }, (_unused, index) => start + index);

/** A view of the end of a branch, and a client whose answers wait until they are given. */
function open(first: number, end: number) {
  const answers: { before: string | undefined; answer: (entries: SessionEntry[] | Error) => void }[] = [];
  const client = {
    execute: ({ before }: { before?: string }) =>
      new Promise((resolve, reject) => {
        const answer = (result: SessionEntry[] | Error) =>
          result instanceof Error ? reject(result) : resolve({ entries: result, leafId: null });
        answers.push({ before, answer });
      }),
  } as unknown as SessionClient;
  const transcript = new Transcript({ look, now: () => 0, describeOlder: () => "older" });
  const scroll = new ScrollView(transcript);
  scroll.updateLayout(100, 10, () => {});
  const failures: unknown[] = [];
  const older = new OlderEntries({
    transcript,
    scroll,
    getClient: () => client,
    run: (work) => void work().catch((error: unknown) => failures.push(error)),
    requestRender: () => {},
  });
  const entries = range(first, end).map((id) => createEntry(id));
  let view: View = { ...emptyView, log: { ...emptyView.log, entries, hasOlder: true, leafId: `e${end - 1}` } };
  const draw = () => {
    transcript.update(view);
    older.update();
  };
  const append = (entry: SessionEntry) => {
    view = reduce(view, { type: "entry_appended", entry });
    draw();
  };
  /** Answers a request, and draws. */
  const answer = async (index: number, result: SessionEntry[] | Error) => {
    answers[index]?.answer(result);
    await new Promise((resolve) => setImmediate(resolve));
    draw();
  };
  const getShown = () =>
    Array.from(
      transcript
        .render(40)
        .join("")
        .matchAll(/<(\d+)>/g),
      ([, id]) => Number(id),
    );
  draw();
  return { answers, answer, append, getShown, failures, transcript };
}

test("a page is asked for once, and entries that come meanwhile stay at the end", async () => {
  const { answers, answer, append, getShown, transcript } = open(90, 100);
  append(createEntry(100));
  expect(answers.map(({ before }) => before)).toEqual(["e90"]);
  await answer(
    0,
    range(30, 90).map((id) => createEntry(id)),
  );
  append(createEntry(101));
  expect(getShown()).toEqual(range(30, 102));
  await answer(
    1,
    range(0, 30).map((id) => createEntry(id)),
  );
  expect([getShown(), transcript.missing, answers.length]).toEqual([range(0, 102), undefined, 2]);
});

test("what was asked for on another branch is left out, and an error about it is not shown", async () => {
  const { answers, answer, append, getShown, failures } = open(90, 100);
  append(createEntry(200, 50));
  expect(getShown()).toEqual([200]);
  await answer(
    0,
    range(30, 90).map((id) => createEntry(id)),
  );
  expect(getShown()).toEqual([200]);
  expect(answers.map(({ before }) => before)).toEqual(["e90", "e200"]);
  append(createEntry(300, 40));
  await answer(1, new Error("The entry is not on the current branch."));
  expect([getShown(), failures]).toEqual([[300], []]);
  await answer(
    2,
    range(0, 41).map((id) => createEntry(id)),
  );
  expect(getShown()).toEqual([...range(0, 41), 300]);
});

test("a request that fails is reported, and not made again with each frame", async () => {
  const { answers, answer, append, getShown, failures } = open(90, 100);
  await answer(0, new Error("The disk is gone."));
  append(createEntry(100));
  expect([answers.length, failures.length, getShown()]).toEqual([1, 1, range(90, 101)]);
});

test("a denied call whose denial and result were drawn before it is shown as denied", async () => {
  const transcript = new Transcript({ look, now: () => 0, describeOlder: () => "older" });
  const base = { timestamp: "2026-01-01T00:00:00.000Z" };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const model = { api: "openai-completions", provider: "acme", model: "small", usage: { ...usage, cost } } as const;
  const calls = ["c1", "c2"].map((id) => ({ type: "toolCall" as const, id, name: "bash", arguments: { command: id } }));
  const answer: SessionEntry = {
    ...base,
    type: "message",
    id: "e0",
    parentId: null,
    message: { role: "assistant", content: calls, ...model, stopReason: "toolUse", timestamp: 0 },
  };
  const decisions = ["denied", "allowed"].map((outcome, index): SessionEntry => {
    const data = { toolCallId: `c${index + 1}`, outcome };
    return { ...base, type: "custom", id: `e${index + 1}`, parentId: `e${index}`, customType: "tau.decision", data };
  });
  const results = ["c1", "c2"].map((toolCallId, index): SessionEntry => {
    const content = [{ type: "text" as const, text: "It did not work." }];
    const result = { role: "toolResult" as const, toolCallId, toolName: "bash", content, isError: true, timestamp: 0 };
    return { ...base, type: "message", id: `e${index + 3}`, parentId: `e${index + 2}`, message: result };
  });
  const entries = [...decisions, ...results];
  transcript.update({ ...emptyView, log: { ...emptyView.log, entries, hasOlder: true, leafId: "e4" } });
  transcript.addOlder({ kind: "before", id: "e1" }, [answer], false);
  const drawn = transcript.render(80).map(toPlainLine).join("\n");
  expect(drawn).toContain("bash c1 (denied)");
  expect(drawn).toContain("bash c2 (failed)");
});
