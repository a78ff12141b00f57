import type { FileOperations } from "./files.ts";
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
import { createTouches } from "@tau/extensions/internal";
import { contextMessages } from "../session/context.ts";
import type { NewEntry, SessionEntry } from "../session/entry.ts";
import { collectLeftBranch, summariseBranch } from "./branch-summary.ts";
import { compact, type CompactRequest, type NewCompaction } from "./compact.ts";
import { estimateAll } from "./tokens.ts";
import { toEntry } from "../../test/entries.ts";

/** For the built-in tools, as in a session. */
const touches = createTouches({ current: () => [], builtIn: createTools({ cwd: "/w" }).byName });

interface Request {
  prompt: string;
  options: SimpleStreamOptions;
}
type Reply = string | Failure | Error | "hangs";

interface FakeOptions {
  contextWindow?: number;
  /** How the model counts. Default 4. */
  charactersPerToken?: number;
  /** The reply to the n-th request, counted from 1. */
  reply?: (request: Request, n: number) => Reply;
}

/** A model that refuses requests that, with their answer, exceed its window. */
function createModel({ contextWindow = 8_000, charactersPerToken = 4, reply = () => "Summary." }: FakeOptions = {}) {
  const requests: Request[] = [];
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
    requests.push({ prompt, options });
    const tokens = ((systemPrompt.length / 4 + estimateAll(messages)) * 4) / charactersPerToken;
    const fits = tokens + (options.maxTokens ?? 0) <= contextWindow;
    if (!fits) refused++;
    const answer = fits
      ? reply(requests.at(-1)!, requests.length)
      : { kind: "context_overflow" as const, message: "too long" };
    if (answer instanceof Error) throw answer;
    const stream = new AssistantMessageEventStream();
    if (answer !== "hangs") stream.end(createAnswer(answer));
    return stream;
  };
  return { model, streamFn, requests, refused: () => refused };
}

function createAnswer(reply: string | Failure): AssistantMessage {
  const usage = { ...emptyUsage(), input: 100, output: 10, totalTokens: 110 };
  const answer: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text: typeof reply === "string" ? reply : "" }],
    api: "test",
    provider: "test",
    model: "fake",
    usage,
    stopReason: "stop",
    timestamp: 0,
  };
  if (typeof reply === "string") return answer;
  return { ...answer, stopReason: "error", errorMessage: reply.message, failure: reply };
}

const words = (tokens: number) => "word ".repeat((tokens * 4) / 5);
const prompt = (text: string): NewEntry => ({
  type: "message",
  message: { role: "user", content: text, timestamp: 1 },
});
const answer = (text: string, ...calls: [id: string, name: string, path: string][]): NewEntry => ({
  type: "message",
  message: {
    ...createAnswer(text),
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

/** A branch that can be appended to. */
function createSession(...entries: NewEntry[]) {
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
type Session = ReturnType<typeof createSession>;

const compactSession = (session: Session, fake: ReturnType<typeof createModel>, more: Partial<CompactRequest> = {}) =>
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
  Array.from({ length: count }, (_unused, index) => [
    prompt(`request ${index} ${words(tokens)}`),
    answer(`answer ${index} ${words(tokens)}`),
  ]).flat();

describe("a context that is already full", () => {
  test.each([
    ["100 %", turns(8, 500)],
    ["300 %", turns(24, 500)],
    ["300 % in one prompt", [prompt(words(24_000)), answer("Yes.")]],
    ["300 % in one result", [prompt("Read it."), answer("", ["1", "read", "a"]), result("1", words(24_000))]],
    ["300 % in one turn of many calls", manyCalls(60, 400)],
  ])("of %s is compacted by a model with the same window, and then fits", async (_what, entries) => {
    const session = createSession(...entries);
    const fake = createModel();
    expect(session.tokens()).toBeGreaterThanOrEqual(8_000);
    const outcome = await compactSession(session, fake, { reason: "overflow" });
    expect(outcome.kind).toBe("compacted");
    expect(fake.refused()).toBe(0);
    expect(session.tokens()).toBeLessThan(4_000);
    expect(outcome.usage.totalTokens).toBe(110 * fake.requests.length);
  });

  test("is compacted in smaller pieces if the model counts more tokens than our estimate", async () => {
    const session = createSession(...turns(24, 500));
    const fake = createModel({ charactersPerToken: 1.5, reply: (_request, n) => `Summary ${n}.` });
    const outcome = await compactSession(session, fake, { reason: "overflow" });
    expect(fake.refused()).toBeGreaterThan(0);
    expect(outcome).toMatchObject({ kind: "compacted", compaction: { summary: `Summary ${fake.requests.length}.` } });
    // The whole conversation was read in order, and each piece came with the summary so far.
    const read = fake.requests.filter(({ prompt }) => prompt.length / 1.5 < 8_000).map(({ prompt }) => prompt);
    const requests = [...read.join("").matchAll(/request (\d+)/g)].map(([, number]) => Number(number));
    expect(requests.length).toBeGreaterThan(15);
    expect(requests).toEqual(requests.map((_number, index) => index));
    expect(read.at(-1)).toContain(`Summary ${fake.requests.length - 1}.`);
  });

  test("is compacted by a model that writes far more than requested", async () => {
    const session = createSession(...turns(24, 500));
    const fake = createModel({ reply: () => words(20_000) });
    expect((await compactSession(session, fake)).kind).toBe("compacted");
    expect(fake.refused()).toBe(0);
    expect(session.tokens()).toBeLessThan(6_000);
  });

  test("because of a long summary gets a shorter one, made from all of it", async () => {
    const summary = `BEGINNING ${words(20_000)} ENDING`;
    const session = createSession(
      { type: "compaction", summary, firstKeptEntryId: "1", tokensBefore: 1 },
      prompt("Go on."),
    );
    const fake = createModel();
    expect((await compactSession(session, fake, { reason: "overflow" })).kind).toBe("compacted");
    expect(fake.requests[0]!.prompt).toContain("BEGINNING");
    expect(fake.requests.at(-1)!.prompt).toContain("ENDING");
    expect(fake.refused()).toBe(0);
    expect(session.messages()).toMatchObject([{ summary: "Summary." }, { content: "Go on." }]);
  });

  test("stays as it was if the model refuses every size, after a few requests", async () => {
    const session = createSession(...turns(8, 500));
    const fake = createModel({ reply: () => ({ kind: "context_overflow", message: "no" }) });
    expect(await compactSession(session, fake)).toMatchObject({
      kind: "failed",
      failure: { kind: "context_overflow" },
    });
    expect(fake.requests.length).toBeLessThan(10);
    expect(session.branch).toHaveLength(16);
  });
});

function manyCalls(count: number, tokens: number): NewEntry[] {
  const calls = Array.from({ length: count }, (_unused, index) => [
    answer("", [`${index}`, "read", `file-${index}`]),
    result(`${index}`, words(tokens)),
  ]);
  return [prompt("Read them all."), ...calls.flat()];
}

describe("a session stays as it was", () => {
  const session = () => createSession(...turns(8, 500), ...manyCalls(20, 400));
  const requests = async () => {
    const fake = createModel({ contextWindow: 4_000 });
    expect((await compactSession(session(), fake)).kind).toBe("compacted");
    return fake.requests.length;
  };

  test("when it is aborted at any request, even one that never ends", async () => {
    const count = await requests();
    expect(count).toBeGreaterThan(3);
    for (let failingRequest = 1; failingRequest <= count; failingRequest++) {
      for (const last of ["hangs", "Summary."]) {
        const abort = new AbortController();
        const reply = (_request: Request, n: number): Reply => {
          if (n < failingRequest) return "Summary.";
          queueMicrotask(() => abort.abort());
          return last;
        };
        const target = session();
        const fake = createModel({ contextWindow: 4_000, reply });
        const outcome = await compactSession(target, fake, { signal: abort.signal, fallback: "extract" });
        expect(outcome).toMatchObject({ kind: "aborted" });
        expect(fake.requests).toHaveLength(failingRequest);
        expect(target.branch).toEqual(session().branch);
      }
    }
  });

  test("when it is aborted while it is planned, and no model is asked", async () => {
    const abort = new AbortController();
    const target = createSession(...turns(12_000, 1));
    const before = [...target.branch];
    const fake = createModel();
    setImmediate(() => abort.abort());
    expect(await compactSession(target, fake, { signal: abort.signal })).toMatchObject({ kind: "aborted" });
    expect(fake.requests).toEqual([]);
    expect(target.branch).toEqual(before);
  });

  test("when it is aborted at any moment before it is appended", async () => {
    const written: boolean[] = [];
    for (let moments = 0; moments < 20; moments++) {
      const abort = new AbortController();
      const reply = (): Reply => {
        let soon = Promise.resolve();
        for (let moment = 0; moment < moments; moment++) soon = soon.then(() => undefined);
        void soon.then(() => abort.abort());
        return "Summary.";
      };
      const append = () => {
        written.push(abort.signal.aborted);
        return Promise.resolve("id");
      };
      await compactSession(createSession(...turns(8, 500)), createModel({ reply }), { signal: abort.signal, append });
    }
    expect(written.length).toBeGreaterThan(0);
    expect(written.length).toBeLessThan(20);
    expect(written).not.toContain(true);
  });

  test("when it was aborted before it began, without a request", async () => {
    const fake = createModel();
    expect((await compactSession(session(), fake, { signal: AbortSignal.abort() })).kind).toBe("aborted");
    expect(fake.requests).toEqual([]);
  });

  test.each<[string, Reply, string]>([
    ["is overloaded", { kind: "overloaded", message: "busy" }, "overloaded"],
    ["throws", new Error("broken"), "unknown"],
    ["answers without text", "", "unknown"],
  ])("when the model %s at any request", async (_what, bad, kind) => {
    const count = await requests();
    for (let failingRequest = 1; failingRequest <= count; failingRequest++) {
      const target = session();
      const fake = createModel({
        contextWindow: 4_000,
        reply: (_request, n) => (n < failingRequest ? "Summary." : bad),
      });
      const outcome = await compactSession(target, fake);
      expect(outcome).toMatchObject({ kind: "failed", failure: { kind } });
      expect(target.branch).toEqual(session().branch);
    }
  });

  test("when the stream ends without an answer", async () => {
    for (const answer of [undefined, null, "Summary."]) {
      const target = session();
      const streamFn = (() => ({ result: () => Promise.resolve(answer) })) as unknown as StreamFn;
      const outcome = await compactSession(target, createModel(), { streamFn });
      expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "unknown" }, usage: emptyUsage() });
      expect(target.branch).toEqual(session().branch);
    }
  });

  test("when the disk refuses, and the caller gets the error", async () => {
    const append = () => Promise.reject(new Error("disk full"));
    await expect(compactSession(session(), createModel(), { append })).rejects.toThrow("disk full");
  });

  test("when there is too little to summarise, without a request", async () => {
    const fake = createModel();
    expect(await compactSession(createSession(...turns(1, 10)), fake)).toMatchObject({
      kind: "nothing",
      reason: "too_small",
    });
    expect(fake.requests).toEqual([]);
  });
});

describe("a summary", () => {
  test("counts 0 for what its model did not count", async () => {
    for (const usage of [undefined, null, {}, { output: 5, cost: null }]) {
      const answer = { ...createAnswer("Summary."), usage };
      const streamFn = (() => ({ result: () => Promise.resolve(answer) })) as unknown as StreamFn;
      const outcome = await compactSession(createSession(...turns(8, 500)), createModel(), { streamFn });
      expect(outcome).toMatchObject({ kind: "compacted", usage: { input: 0, cost: { total: 0 } } });
    }
  });

  test("is made if the previous one is not a text", async () => {
    for (const summary of [5, null, undefined, {}]) {
      const previous = { type: "compaction", summary, firstKeptEntryId: "1", tokensBefore: 1 };
      const session = createSession(previous as unknown as NewEntry, ...turns(8, 500));
      expect((await compactSession(session, createModel())).kind).toBe("compacted");
    }
  });

  test("is updated: the request holds the previous summary and the later messages", async () => {
    const session = createSession(...turns(8, 500));
    await compactSession(session, createModel({ reply: () => "The goal is ALPHA." }));
    turns(8, 400).forEach(session.add);
    const fake = createModel();
    await compactSession(session, fake, { instructions: "Mind the OMEGA." });
    expect(fake.requests[0]!.prompt).toContain("The goal is ALPHA.");
    expect(fake.requests[0]!.prompt).toContain("Mind the OMEGA.");
    expect(fake.requests[0]!.prompt).not.toContain("request 0 word word word word word ".repeat(2));
  });

  test("of a split turn has two parts, and each request leaves space for its answer", async () => {
    const session = createSession(...turns(3, 500), ...manyCalls(20, 400));
    const fake = createModel({ reply: (_request, n) => `Part ${n}.` });
    const outcome = await compactSession(session, fake);
    expect(outcome).toMatchObject({
      compaction: { summary: expect.stringMatching(/^Part 1\.[^]*Part 2\.[^]*file-0/) },
    });
    expect(fake.requests.map(({ options }) => options.maxTokens)).toEqual([1_600, 800]);
    expect(fake.requests[1]!.prompt).toContain("Read them all.");
    expect(fake.requests[1]!.prompt).not.toContain("request 0");
  });

  test("that is too long is cut, so that the context always becomes smaller", async () => {
    const session = createSession(...turns(2, 300));
    const before = session.tokens();
    const fake = createModel({ reply: () => words(6_000) });
    expect((await compactSession(session, fake, { pinned: ["Never push."] })).kind).toBe("compacted");
    expect(session.tokens()).toBeLessThan(before);
    expect(session.messages()[0]).toMatchObject({ summary: expect.stringContaining("Never push.") });
  });

  test("contains pinned texts once, and is not made if they are too long", async () => {
    const pinned = ["Use tabs.", "Never push."];
    const session = createSession(...turns(8, 500));
    const outcome = await compactSession(session, createModel({ reply: () => "They said: Use tabs." }), { pinned });
    const { summary } = (outcome as { compaction: NewCompaction }).compaction;
    expect(summary.split("Use tabs.")).toHaveLength(2);
    expect(summary.split("Never push.")).toHaveLength(2);
    const full = createSession(...turns(8, 500));
    const fake = createModel();
    expect(await compactSession(full, fake, { pinned: [words(9_000)] })).toMatchObject({ reason: "cannot_shrink" });
    expect(fake.requests).toEqual([]);
    expect(full.branch).toHaveLength(16);
  });

  test("is never cut to a few words", async () => {
    const bodies: number[] = [];
    for (let tokens = 4_000; tokens < 7_000; tokens += 50) {
      const pin = `PIN${words(tokens)}`;
      const outcome = await compactSession(createSession(...turns(8, 500)), createModel({ reply: () => words(900) }), {
        pinned: [pin],
      });
      if (outcome.kind === "compacted") bodies.push(outcome.compaction.summary.indexOf("PIN"));
    }
    expect(bodies.length).toBeGreaterThan(0);
    expect(bodies.length).toBeLessThan(60);
    expect(Math.min(...bodies)).toBeGreaterThanOrEqual(150);
  });

  test("keeps the files of two compactions in its details and its text, and the model never sees the list", async () => {
    const session = createSession(
      prompt("x"),
      answer(words(3_000), ["1", "read", "first.ts"], ["2", "write", "second.ts"]),
    );
    turns(4, 500).forEach(session.add);
    await compactSession(session, createModel());
    session.add(answer(words(500), ["3", "edit", "third.ts"]));
    turns(4, 500).forEach(session.add);
    const fake = createModel();
    const outcome = await compactSession(session, fake);
    expect(outcome).toMatchObject({
      compaction: {
        details: { readFiles: ["first.ts"], modifiedFiles: ["second.ts", "third.ts"] },
        summary: "Summary.\n\n## Files so far\nChanged:\nthird.ts\nsecond.ts\nRead:\nfirst.ts",
      },
    });
    expect(fake.requests[0]!.prompt).not.toContain("first.ts");
  });

  test("and its details stay small over a hundred compactions", async () => {
    const session = createSession();
    const fake = createModel({ reply: ({ options }) => words(options.maxTokens ?? 0) });
    const sizes: number[] = [];
    for (let round = 0; round < 100; round++) {
      for (let turn = 0; turn < 6; turn++) {
        session.add(prompt(words(300)));
        session.add(answer(words(300), [`${round}-${turn}`, turn % 2 ? "read" : "edit", `src/${round}/${turn}.ts`]));
        session.add(result(`${round}-${turn}`, words(600)));
      }
      const outcome = await compactSession(session, fake, { fallback: "extract" });
      expect(outcome).toMatchObject({ kind: "compacted" });
      expect(outcome).not.toHaveProperty("failure");
      const { summary, details } = (outcome as { compaction: NewCompaction }).compaction;
      sizes.push(summary.length);
      const { readFiles, modifiedFiles } = details as FileOperations;
      expect(readFiles.length + modifiedFiles.length).toBeLessThanOrEqual(400);
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

  test.each(failures)("a summary can be extracted from the conversation: $kind", async (failure) => {
    const session = createSession(
      prompt("Build the parser. You must never use eval."),
      answer("Begun.", ["1", "write", "p.ts"]),
    );
    [...turns(4, 500), prompt("Go on."), answer("The lexer is done."), ...turns(4, 400)].forEach(session.add);
    const outcome = await compactSession(session, createModel({ reply: () => failure }), { fallback: "extract" });
    expect(outcome).toMatchObject({ kind: "compacted", failure });
    const { summary } = (outcome as { compaction: NewCompaction }).compaction;
    for (const part of ["Build the parser.", "- You must never use eval.", "Go on.", "p.ts"]) {
      expect(summary).toContain(part);
    }
    expect(session.tokens()).toBeLessThan(4_000);
  });

  test("a hundred such summaries stay small and keep the first request", async () => {
    const session = createSession(prompt("Build the parser."));
    const fake = createModel({ reply: () => ({ kind: "billing", message: "no" }) });
    for (let round = 0; round < 100; round++) {
      turns(4, 500).forEach(session.add);
      expect((await compactSession(session, fake, { fallback: "extract" })).kind).toBe("compacted");
      expect(session.tokens()).toBeLessThan(6_000);
    }
    expect(session.messages()[0]).toMatchObject({ summary: expect.stringContaining("Build the parser.") });
  });
});

describe("a branch that is left", () => {
  const trunk = [prompt("Do it."), answer("I will.")];
  const old = createSession(...trunk, prompt("Try A."), answer("A fails.", ["1", "edit", "a.ts"])).branch;
  const other = createSession(...trunk, prompt("Try B.")).branch;
  const another = [...other.slice(0, 2), { ...other[2]!, id: "other" }];

  test("is what the new branch does not have: the end of it if it is long, and always its last message", () => {
    const left = collectLeftBranch(old, another, { touches });
    expect(left).toMatchObject({ commonId: "2", fromId: "4", files: { readFiles: [], modifiedFiles: ["a.ts"] } });
    expect(left.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(collectLeftBranch(old, another, { maxTokens: 0 }).messages.map(({ role }) => role)).toEqual(["assistant"]);
    expect(collectLeftBranch(old, [])).toMatchObject({ commonId: null, messages: { length: 4 } });
    expect(collectLeftBranch(old.slice(0, 2), old)).toMatchObject({ commonId: "2", fromId: null, messages: [] });
  });

  test("begins with its compaction if it has one, and lists the files of that", () => {
    const session = createSession(...trunk, prompt("Try A."));
    const details = { readFiles: ["r.ts"], modifiedFiles: [] };
    session.add({ type: "compaction", summary: "Tried.", firstKeptEntryId: "4", tokensBefore: 1, details });
    session.add(prompt("More."));
    const left = collectLeftBranch(session.branch, another);
    expect(left.messages.map(({ role }) => role)).toEqual(["compactionSummary", "user"]);
    expect(left.files.readFiles).toEqual(["r.ts"]);
  });

  test("is summarised with its files, without the shared part", async () => {
    const fake = createModel({ reply: () => "A was tried." });
    const request = { oldBranch: old, newBranch: another, model: fake.model, streamFn: fake.streamFn, touches };
    expect(await summariseBranch(request)).toMatchObject({
      kind: "summary",
      summary: "A was tried.\n\n## Files so far\nChanged:\na.ts",
      details: { readFiles: [], modifiedFiles: ["a.ts"] },
      usage: { totalTokens: 110 },
    });
    expect(fake.requests[0]!.prompt).toContain("A fails.");
    expect(fake.requests[0]!.prompt).not.toContain("Do it.");
    expect(await summariseBranch({ ...request, newBranch: old })).toEqual({ kind: "nothing" });
    expect(await summariseBranch({ ...request, signal: AbortSignal.abort() })).toMatchObject({ kind: "aborted" });
  });
});
