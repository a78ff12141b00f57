import type { AgentMessage, StreamFn } from "@tau/agent";
import {
  type AssistantMessage,
  AssistantMessageEventStream,
  emptyUsage,
  type Failure,
  type Model,
  type SimpleStreamOptions,
} from "@tau/ai";
import { createTools } from "@tau/tools";
import { describe, expect, test } from "vitest";
import { createTouches } from "../pipeline/touches.ts";
import { contextMessages } from "../session/context.ts";
import type { NewEntry, SessionEntry } from "../session/entry.ts";
import { collectLeftBranch, summariseBranch } from "./branch-summary.ts";
import { compact, type CompactRequest, type NewCompaction } from "./compact.ts";
import { estimateAll } from "./tokens.ts";
import { toEntry } from "../../test/entries.ts";

/** As a session knows the built-in tools. */
const touches = createTouches({ current: () => [], builtIn: createTools({ cwd: "/w" }).byName });

interface Asked {
  prompt: string;
  options: SimpleStreamOptions;
}
type Reply = string | Failure | Error | "hangs";

interface FakeOptions {
  contextWindow?: number;
  /** How many characters make a token for it. */
  charactersPerToken?: number;
  /** What it says to the n-th request; the first is 1. */
  reply?: (asked: Asked, n: number) => Reply;
}

/** A model that refuses every request which, with its answer, is larger than its window. */
function fakeModel({ contextWindow = 8_000, charactersPerToken = 4, reply = () => "Summary." }: FakeOptions = {}) {
  const asked: Asked[] = [];
  const model: Model = {
    id: "fake",
    name: "Fake",
    api: "test",
    provider: "test",
    baseUrl: "",
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow,
    maxTokens: 4_000,
  };
  let refused = 0;
  const streamFn: StreamFn = (_model, { systemPrompt = "", messages }, options = {}) => {
    const prompt = JSON.stringify(messages[0]?.content);
    asked.push({ prompt, options });
    const tokens = ((systemPrompt.length / 4 + estimateAll(messages)) * 4) / charactersPerToken;
    const fits = tokens + (options.maxTokens ?? 0) <= contextWindow;
    if (!fits) refused++;
    const said = fits ? reply(asked.at(-1)!, asked.length) : { kind: "context_overflow" as const, message: "too long" };
    if (said instanceof Error) throw said;
    const stream = new AssistantMessageEventStream();
    if (said !== "hangs") stream.end(getAnswer(said));
    return stream;
  };
  return { model, streamFn, asked, refused: () => refused };
}

function getAnswer(said: string | Failure): AssistantMessage {
  const usage = { ...emptyUsage(), input: 100, output: 10, totalTokens: 110 };
  const answer: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text: typeof said === "string" ? said : "" }],
    api: "test",
    provider: "test",
    model: "fake",
    usage,
    stopReason: "stop",
    timestamp: 0,
  };
  if (typeof said === "string") return answer;
  return { ...answer, stopReason: "error", errorMessage: said.message, failure: said };
}

const words = (tokens: number) => "word ".repeat((tokens * 4) / 5);
const said = (text: string): NewEntry => ({ type: "message", message: { role: "user", content: text, timestamp: 1 } });
const answered = (text: string, ...calls: [id: string, name: string, path: string][]): NewEntry => ({
  type: "message",
  message: {
    ...getAnswer(text),
    usage: emptyUsage(),
    content: [
      { type: "text", text },
      ...calls.map(([id, name, path]) => ({ type: "toolCall" as const, id, name, arguments: { path } })),
    ],
  },
});
const result = (toolCallId: string, text: string): NewEntry => ({
  type: "message",
  message: {
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [{ type: "text", text }],
    isError: false,
    timestamp: 1,
  },
});

/** A branch that grows by what is appended to it. */
function createSessionWith(...entries: NewEntry[]) {
  const branch: SessionEntry[] = [];
  const add = (entry: NewEntry) => {
    const id = String(branch.length + 1);
    branch.push(toEntry(entry, id, branch.at(-1)?.id ?? null));
    return id;
  };
  entries.forEach(add);
  const append = ({ firstKeptEntryId, ...compaction }: NewCompaction) =>
    Promise.resolve(
      add({ type: "compaction", firstKeptEntryId: firstKeptEntryId ?? String(branch.length + 1), ...compaction }),
    );
  const messages = (): AgentMessage[] => contextMessages(branch).map(({ message }) => message);
  return { branch, add, append, messages, tokens: () => estimateAll(messages()) };
}
type Session = ReturnType<typeof createSessionWith>;

const compacting = (session: Session, fake: ReturnType<typeof fakeModel>, more: Partial<CompactRequest> = {}) =>
  compact({
    branch: session.branch,
    append: session.append,
    model: fake.model,
    streamFn: fake.streamFn,
    reason: "manual",
    touches,
    ...more,
  });

const turns = (count: number, tokens: number): NewEntry[] =>
  Array.from({ length: count }, (_unused, at) => [
    said(`request ${at} ${words(tokens)}`),
    answered(`answer ${at} ${words(tokens)}`),
  ]).flat();

describe("a context that is already full", () => {
  test.each([
    ["100 %", turns(8, 500)],
    ["300 %", turns(24, 500)],
    ["300 % in one message of the person's", [said(words(24_000)), answered("Yes.")]],
    ["300 % in one result", [said("Read it."), answered("", ["1", "read", "a"]), result("1", words(24_000))]],
    ["300 % in one turn of many calls", manyCalls(60, 400)],
  ])("of %s is compacted by a model with that window, and fits", async (_what, entries) => {
    const session = createSessionWith(...entries);
    const fake = fakeModel();
    expect(session.tokens()).toBeGreaterThanOrEqual(8_000);
    const outcome = await compacting(session, fake, { reason: "overflow" });
    expect(outcome.kind).toBe("compacted");
    expect(fake.refused()).toBe(0);
    expect(session.tokens()).toBeLessThan(4_000);
    expect(outcome.usage.totalTokens).toBe(110 * fake.asked.length);
  });

  test("is compacted in smaller pieces when the model counts more tokens than we do", async () => {
    const session = createSessionWith(...turns(24, 500));
    const fake = fakeModel({ charactersPerToken: 1.5, reply: (_asked, n) => `Summary ${n}.` });
    const outcome = await compacting(session, fake, { reason: "overflow" });
    expect(fake.refused()).toBeGreaterThan(0);
    expect(outcome).toMatchObject({ kind: "compacted", compaction: { summary: `Summary ${fake.asked.length}.` } });
    // Every request was read to the end, in order, and each piece came with the summary so far.
    const read = fake.asked.filter(({ prompt }) => prompt.length / 1.5 < 8_000).map(({ prompt }) => prompt);
    const requests = [...read.join("").matchAll(/request (\d+)/g)].map(([, number]) => Number(number));
    expect(requests.length).toBeGreaterThan(15);
    expect(requests).toEqual(requests.map((_number, at) => at));
    expect(read.at(-1)).toContain(`Summary ${fake.asked.length - 1}.`);
  });

  test("is compacted by a model that writes far more than it was asked for", async () => {
    const session = createSessionWith(...turns(24, 500));
    const fake = fakeModel({ reply: () => words(20_000) });
    expect((await compacting(session, fake)).kind).toBe("compacted");
    expect(fake.refused()).toBe(0);
    expect(session.tokens()).toBeLessThan(6_000);
  });

  test("by a summary made for a larger window gets a shorter one, from all of it", async () => {
    const summary = `BEGINNING ${words(20_000)} ENDING`;
    const session = createSessionWith(
      { type: "compaction", summary, firstKeptEntryId: "1", tokensBefore: 1 },
      said("Go on."),
    );
    const fake = fakeModel();
    expect((await compacting(session, fake, { reason: "overflow" })).kind).toBe("compacted");
    expect(fake.asked[0]!.prompt).toContain("BEGINNING");
    expect(fake.asked.at(-1)!.prompt).toContain("ENDING");
    expect(fake.refused()).toBe(0);
    expect(session.messages()).toMatchObject([{ summary: "Summary." }, { content: "Go on." }]);
  });

  test("of a model that refuses every size leaves the session as it was, after few requests", async () => {
    const session = createSessionWith(...turns(8, 500));
    const fake = fakeModel({ reply: () => ({ kind: "context_overflow", message: "no" }) });
    expect(await compacting(session, fake)).toMatchObject({ kind: "failed", failure: { kind: "context_overflow" } });
    expect(fake.asked.length).toBeLessThan(10);
    expect(session.branch).toHaveLength(16);
  });
});

function manyCalls(count: number, tokens: number): NewEntry[] {
  const calls = Array.from({ length: count }, (_unused, at) => [
    answered("", [`${at}`, "read", `file-${at}`]),
    result(`${at}`, words(tokens)),
  ]);
  return [said("Read them all."), ...calls.flat()];
}

describe("a session stays as it was", () => {
  const session = () => createSessionWith(...turns(8, 500), ...manyCalls(20, 400));
  const requests = async () => {
    const fake = fakeModel({ contextWindow: 4_000 });
    expect((await compacting(session(), fake)).kind).toBe("compacted");
    return fake.asked.length;
  };

  test("when the work is aborted at any request, even one that never ends", async () => {
    const count = await requests();
    expect(count).toBeGreaterThan(3);
    for (let at = 1; at <= count; at++) {
      for (const last of ["hangs", "Summary."]) {
        const abort = new AbortController();
        const reply = (_asked: Asked, n: number): Reply => {
          if (n < at) return "Summary.";
          queueMicrotask(() => abort.abort());
          return last;
        };
        const given = session();
        const fake = fakeModel({ contextWindow: 4_000, reply });
        const outcome = await compacting(given, fake, { signal: abort.signal, fallback: "extract" });
        expect(outcome).toMatchObject({ kind: "aborted" });
        expect(fake.asked).toHaveLength(at);
        expect(given.branch).toEqual(session().branch);
      }
    }
  });

  test("when the work is aborted at any moment before it is written", async () => {
    const written: boolean[] = [];
    for (let moments = 0; moments < 20; moments++) {
      const abort = new AbortController();
      const reply = (): Reply => {
        let soon = Promise.resolve();
        for (let at = 0; at < moments; at++) soon = soon.then(() => undefined);
        void soon.then(() => abort.abort());
        return "Summary.";
      };
      const append = () => {
        written.push(abort.signal.aborted);
        return Promise.resolve("id");
      };
      await compacting(createSessionWith(...turns(8, 500)), fakeModel({ reply }), { signal: abort.signal, append });
    }
    expect(written.length).toBeGreaterThan(0);
    expect(written.length).toBeLessThan(20);
    expect(written).not.toContain(true);
  });

  test("when it was aborted before it began, and nobody is asked", async () => {
    const fake = fakeModel();
    expect((await compacting(session(), fake, { signal: AbortSignal.abort() })).kind).toBe("aborted");
    expect(fake.asked).toEqual([]);
  });

  test.each<[string, Reply, string]>([
    ["is overloaded", { kind: "overloaded", message: "busy" }, "overloaded"],
    ["throws", new Error("broken"), "unknown"],
    ["says nothing", "", "unknown"],
  ])("when the model %s at any request", async (_what, bad, kind) => {
    const count = await requests();
    for (let at = 1; at <= count; at++) {
      const given = session();
      const fake = fakeModel({ contextWindow: 4_000, reply: (_asked, n) => (n < at ? "Summary." : bad) });
      const outcome = await compacting(given, fake);
      expect(outcome).toMatchObject({ kind: "failed", failure: { kind } });
      expect(given.branch).toEqual(session().branch);
    }
  });

  test("when the stream ends without an answer", async () => {
    for (const answer of [undefined, null, "Summary."]) {
      const given = session();
      const streamFn = (() => ({ result: () => Promise.resolve(answer) })) as unknown as StreamFn;
      const outcome = await compacting(given, fakeModel(), { streamFn });
      expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "unknown" }, usage: emptyUsage() });
      expect(given.branch).toEqual(session().branch);
    }
  });

  test("when the disk refuses, and whoever asked is told", async () => {
    const append = () => Promise.reject(new Error("disk full"));
    await expect(compacting(session(), fakeModel(), { append })).rejects.toThrow("disk full");
  });

  test("when there is too little to summarise, and nobody is asked", async () => {
    const fake = fakeModel();
    expect(await compacting(createSessionWith(...turns(1, 10)), fake)).toMatchObject({
      kind: "nothing",
      reason: "too_small",
    });
    expect(fake.asked).toEqual([]);
  });
});

describe("a summary", () => {
  test("counts for nothing what its model did not count", async () => {
    for (const usage of [undefined, null, {}, { output: 5, cost: null }]) {
      const answer = { ...getAnswer("Summary."), usage };
      const streamFn = (() => ({ result: () => Promise.resolve(answer) })) as unknown as StreamFn;
      const outcome = await compacting(createSessionWith(...turns(8, 500)), fakeModel(), { streamFn });
      expect(outcome).toMatchObject({ kind: "compacted", usage: { input: 0, cost: { total: 0 } } });
    }
  });

  test("is made anew where the previous one is no text", async () => {
    for (const summary of [5, null, undefined, {}]) {
      const previous = { type: "compaction", summary, firstKeptEntryId: "1", tokensBefore: 1 };
      const session = createSessionWith(previous as unknown as NewEntry, ...turns(8, 500));
      expect((await compacting(session, fakeModel())).kind).toBe("compacted");
    }
  });

  test("is brought up to date: the request holds the previous one and what came after it", async () => {
    const session = createSessionWith(...turns(8, 500));
    await compacting(session, fakeModel({ reply: () => "The goal is ALPHA." }));
    turns(8, 400).forEach(session.add);
    const fake = fakeModel();
    await compacting(session, fake, { instructions: "Mind the OMEGA." });
    expect(fake.asked[0]!.prompt).toContain("The goal is ALPHA.");
    expect(fake.asked[0]!.prompt).toContain("Mind the OMEGA.");
    expect(fake.asked[0]!.prompt).not.toContain("request 0 word word word word word ".repeat(2));
  });

  test("of a split turn has two parts, and each request leaves room for its answer", async () => {
    const session = createSessionWith(...turns(3, 500), ...manyCalls(20, 400));
    const fake = fakeModel({ reply: (_asked, n) => `Part ${n}.` });
    const outcome = await compacting(session, fake);
    expect(outcome).toMatchObject({
      compaction: { summary: expect.stringMatching(/^Part 1\.[^]*Part 2\.[^]*file-0/) },
    });
    expect(fake.asked.map(({ options }) => options.maxTokens)).toEqual([1_600, 800]);
    expect(fake.asked[1]!.prompt).toContain("Read them all.");
    expect(fake.asked[1]!.prompt).not.toContain("request 0");
  });

  test("that is too long is cut, so that the context is smaller in any case", async () => {
    const session = createSessionWith(...turns(2, 300));
    const before = session.tokens();
    const fake = fakeModel({ reply: () => words(6_000) });
    expect((await compacting(session, fake, { pinned: ["Never push."] })).kind).toBe("compacted");
    expect(session.tokens()).toBeLessThan(before);
    expect(session.messages()[0]).toMatchObject({ summary: expect.stringContaining("Never push.") });
  });

  test("holds what is pinned word for word, once, and gives up when that alone is too long", async () => {
    const pinned = ["Use tabs.", "Never push."];
    const session = createSessionWith(...turns(8, 500));
    const outcome = await compacting(session, fakeModel({ reply: () => "They said: Use tabs." }), { pinned });
    const { summary } = (outcome as { compaction: NewCompaction }).compaction;
    expect(summary.split("Use tabs.")).toHaveLength(2);
    expect(summary.split("Never push.")).toHaveLength(2);
    const full = createSessionWith(...turns(8, 500));
    const fake = fakeModel();
    expect(await compacting(full, fake, { pinned: [words(9_000)] })).toMatchObject({ reason: "cannot_shrink" });
    expect(fake.asked).toEqual([]);
    expect(full.branch).toHaveLength(16);
  });

  test("is not cut down to a few words", async () => {
    const bodies: number[] = [];
    for (let tokens = 4_000; tokens < 7_000; tokens += 50) {
      const pin = `PIN${words(tokens)}`;
      const outcome = await compacting(createSessionWith(...turns(8, 500)), fakeModel({ reply: () => words(900) }), {
        pinned: [pin],
      });
      if (outcome.kind === "compacted") bodies.push(outcome.compaction.summary.indexOf("PIN"));
    }
    expect(bodies.length).toBeGreaterThan(0);
    expect(bodies.length).toBeLessThan(60);
    expect(Math.min(...bodies)).toBeGreaterThanOrEqual(150);
  });

  test("carries files over two compactions, in its details and its text, and a model never sees that list", async () => {
    const session = createSessionWith(
      said("x"),
      answered(words(3_000), ["1", "read", "first.ts"], ["2", "write", "second.ts"]),
    );
    turns(4, 500).forEach(session.add);
    await compacting(session, fakeModel());
    session.add(answered(words(500), ["3", "edit", "third.ts"]));
    turns(4, 500).forEach(session.add);
    const fake = fakeModel();
    const outcome = await compacting(session, fake);
    expect(outcome).toMatchObject({
      compaction: {
        details: { readFiles: ["first.ts"], modifiedFiles: ["second.ts", "third.ts"] },
        summary: "Summary.\n\n## Files so far\nChanged:\nthird.ts\nsecond.ts\nRead:\nfirst.ts",
      },
    });
    expect(fake.asked[0]!.prompt).not.toContain("first.ts");
  });

  test("and its details stay small over a hundred compactions", async () => {
    const session = createSessionWith();
    const fake = fakeModel({ reply: ({ options }) => words(options.maxTokens ?? 0) });
    const sizes: number[] = [];
    for (let round = 0; round < 100; round++) {
      for (let at = 0; at < 6; at++) {
        session.add(said(words(300)));
        session.add(answered(words(300), [`${round}-${at}`, at % 2 ? "read" : "edit", `src/${round}/${at}.ts`]));
        session.add(result(`${round}-${at}`, words(600)));
      }
      const outcome = await compacting(session, fake, { fallback: "extract" });
      expect(outcome).toMatchObject({ kind: "compacted" });
      expect(outcome).not.toHaveProperty("failure");
      const { summary, details } = (outcome as { compaction: NewCompaction }).compaction;
      sizes.push(summary.length);
      expect(details.readFiles.length + details.modifiedFiles.length).toBeLessThanOrEqual(400);
      expect(session.tokens()).toBeLessThan(6_000);
    }
    expect(Math.max(...sizes)).toBeLessThan(12_000);
    expect(fake.refused()).toBe(0);
  });
});

describe("without a model", () => {
  const failures: Failure[] = [
    { kind: "context_overflow", message: "no" },
    { kind: "refused", message: "no" },
    { kind: "billing", message: "no" },
    { kind: "network", message: "no" },
  ];

  test.each(failures)("a summary can be put together from the conversation: $kind", async (failure) => {
    const session = createSessionWith(
      said("Build the parser. You must never use eval."),
      answered("Begun.", ["1", "write", "p.ts"]),
    );
    [...turns(4, 500), said("Go on."), answered("The lexer is done."), ...turns(4, 400)].forEach(session.add);
    const outcome = await compacting(session, fakeModel({ reply: () => failure }), { fallback: "extract" });
    expect(outcome).toMatchObject({ kind: "compacted", failure });
    const { summary } = (outcome as { compaction: NewCompaction }).compaction;
    for (const part of ["Build the parser.", "- You must never use eval.", "Go on.", "p.ts"]) {
      expect(summary).toContain(part);
    }
    expect(session.tokens()).toBeLessThan(4_000);
  });

  test("a hundred such summaries in a row stay small and keep the first request", async () => {
    const session = createSessionWith(said("Build the parser."));
    const fake = fakeModel({ reply: () => ({ kind: "billing", message: "no" }) });
    for (let round = 0; round < 100; round++) {
      turns(4, 500).forEach(session.add);
      expect((await compacting(session, fake, { fallback: "extract" })).kind).toBe("compacted");
      expect(session.tokens()).toBeLessThan(6_000);
    }
    expect(session.messages()[0]).toMatchObject({ summary: expect.stringContaining("Build the parser.") });
  });
});

describe("a branch that is left", () => {
  const trunk = [said("Do it."), answered("I will.")];
  const old = createSessionWith(...trunk, said("Try A."), answered("A fails.", ["1", "edit", "a.ts"])).branch;
  const other = createSessionWith(...trunk, said("Try B.")).branch;
  const another = [...other.slice(0, 2), { ...other[2]!, id: "other" }];

  test("is what the other does not have, of a long one the end, and always its last message", () => {
    const left = collectLeftBranch(old, another, { touches });
    expect(left).toMatchObject({ commonId: "2", fromId: "4", files: { readFiles: [], modifiedFiles: ["a.ts"] } });
    expect(left.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(collectLeftBranch(old, another, { maxTokens: 0 }).messages.map(({ role }) => role)).toEqual(["assistant"]);
    expect(collectLeftBranch(old, [])).toMatchObject({ commonId: null, messages: { length: 4 } });
    expect(collectLeftBranch(old.slice(0, 2), old)).toMatchObject({ commonId: "2", fromId: null, messages: [] });
  });

  test("is told by its compaction where it has one, with the files that knew of", () => {
    const session = createSessionWith(...trunk, said("Try A."));
    const details = { readFiles: ["r.ts"], modifiedFiles: [] };
    session.add({ type: "compaction", summary: "Tried.", firstKeptEntryId: "4", tokensBefore: 1, details });
    session.add(said("More."));
    const left = collectLeftBranch(session.branch, another);
    expect(left.messages.map(({ role }) => role)).toEqual(["compactionSummary", "user"]);
    expect(left.files.readFiles).toEqual(["r.ts"]);
  });

  test("is summarised with its files, and the trunk is not in the request", async () => {
    const fake = fakeModel({ reply: () => "A was tried." });
    const request = { oldBranch: old, newBranch: another, model: fake.model, streamFn: fake.streamFn, touches };
    expect(await summariseBranch(request)).toMatchObject({
      kind: "summary",
      summary: "A was tried.\n\n## Files so far\nChanged:\na.ts",
      details: { readFiles: [], modifiedFiles: ["a.ts"] },
      usage: { totalTokens: 110 },
    });
    expect(fake.asked[0]!.prompt).toContain("A fails.");
    expect(fake.asked[0]!.prompt).not.toContain("Do it.");
    expect(await summariseBranch({ ...request, newBranch: old })).toEqual({ kind: "nothing" });
    expect(await summariseBranch({ ...request, signal: AbortSignal.abort() })).toMatchObject({ kind: "aborted" });
  });
});
