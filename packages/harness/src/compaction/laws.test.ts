/** For any branch: a compaction never separates a call from its result, and always shrinks the context. */
import type { AgentMessage, StreamFn } from "@tau/agent";
import { AssistantMessageEventStream, emptyUsage, type Model, type ToolCall } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contextMessages } from "../session/context.ts";
import type { NewEntry, SessionEntry } from "../session/entry.ts";
import { compact } from "./compact.ts";
import { findOpenCall } from "./cut.ts";
import { planCompaction } from "./plan.ts";
import { maxKept, resolveCompactionSettings } from "./settings.ts";
import { estimateAll } from "./tokens.ts";
import { toEntry } from "../../test/entries.ts";

const model: Model = {
  id: "small",
  name: "Small",
  api: "test",
  provider: "test",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 8_000,
  maxTokens: 4_000,
};
const settings = resolveCompactionSettings({}, model);

type Step =
  | { kind: "user" | "bash" | "custom" | "branch" | "state"; size: number }
  | { kind: "answer"; size: number; argumentSize: number; calls: number; ids: number; usage: number; failed: boolean }
  | { kind: "result"; size: number; which: number }
  | { kind: "compaction"; size: number; which: number }
  | { kind: "edit"; which: number; hides: boolean; size: number };

const size = fc.oneof(
  { weight: 5, arbitrary: fc.nat(300) },
  { weight: 3, arbitrary: fc.integer({ min: 1_000, max: 9_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 20_000, max: 90_000 }) },
);
const which = fc.nat(1_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("user", "bash", "custom", "branch", "state"), size }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("answer" as const),
      size,
      argumentSize: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, size),
      calls: fc.nat(3),
      ids: fc.nat(9),
      usage: fc.constantFrom(0, 100, 9_000),
      failed: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("result" as const), size, which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compaction" as const), size, which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("edit" as const), which, hides: fc.boolean(), size }) },
) as fc.Arbitrary<Step>;

const words = (length: number) => "word ".repeat(length / 5);

/** Call ids come from a small range, so that some are used twice. A result belongs to any call, or to none. */
function getBranch(steps: readonly Step[]): SessionEntry[] {
  const branch: SessionEntry[] = [];
  const called: string[] = ["never"];
  const add = (entry: NewEntry) => {
    const id = `e${branch.length}`;
    branch.push(toEntry(entry, id, branch.at(-1)?.id ?? null));
  };
  const target = (choice: number) => branch[choice % Math.max(1, branch.length)]?.id ?? "gone";
  for (const next of steps) add(getEntry(next, called, target, `e${branch.length}`));
  return branch;
}

function getEntry(next: Step, called: string[], target: (choice: number) => string, ownId: string): NewEntry {
  const content = [{ type: "text" as const, text: words("size" in next ? next.size : 0) }];
  const message = (value: unknown): NewEntry => ({ type: "message", message: value as AgentMessage });
  switch (next.kind) {
    case "user":
      return message({ role: "user", content, timestamp: 1 });
    case "bash":
      return message({ role: "bashExecution", command: "ls", output: words(next.size), exitCode: 0, timestamp: 1 });
    case "custom":
      return { type: "custom_message", customType: "x", content, display: true };
    case "branch":
      return { type: "branch_summary", fromId: "e0", summary: words(next.size) };
    case "state":
      return { type: "model_change", provider: "p", modelId: "m" };
    case "answer": {
      const calls = Array.from({ length: next.calls }, (_unused, index): ToolCall => {
        const id = `c${next.ids + index}`;
        called.push(id);
        return { type: "toolCall", id, name: "read", arguments: { path: `${id}.ts`, text: words(next.argumentSize) } };
      });
      const usage = { ...emptyUsage(), totalTokens: next.usage };
      const stopReason = next.failed ? "error" : calls.length > 0 ? "toolUse" : "stop";
      return message({ role: "assistant", content: [...content, ...calls], usage, stopReason, timestamp: 1 });
    }
    case "result": {
      const toolCallId = called[next.which % called.length];
      return message({ role: "toolResult", toolCallId, toolName: "read", content, isError: false, timestamp: 1 });
    }
    case "compaction": {
      const firstKeptEntryId = next.which % 3 === 0 ? ownId : target(next.which);
      return { type: "compaction", summary: words(next.size), firstKeptEntryId, tokensBefore: 1 };
    }
    case "edit":
      return {
        type: "context_edit",
        targetId: target(next.which),
        replacement: next.hides ? null : { content: words(next.size) },
      };
  }
}

const branches = fc.array(step, { maxLength: 25 }).map(getBranch);
/** Branches that end with a call without a result, which is often larger than what may be kept. */
const openBranches = fc
  .tuple(fc.array(step, { maxLength: 12 }), fc.integer({ min: 100, max: 90_000 }))
  .map(([steps, argumentSize]) =>
    getBranch([...steps, { kind: "answer", size: 0, argumentSize, calls: 2, ids: 20, usage: 0, failed: false }]),
  );
const getMessages = (branch: readonly SessionEntry[]) => contextMessages(branch).map(({ message }) => message);
const appendCompaction = (
  branch: readonly SessionEntry[],
  summary: string,
  firstKept: string | null,
): SessionEntry[] => [
  ...branch,
  {
    type: "compaction",
    id: "new",
    parentId: branch.at(-1)?.id ?? null,
    timestamp: "2026-01-01T00:00:00.000Z",
    summary,
    firstKeptEntryId: firstKept ?? "new",
    tokensBefore: 1,
  },
];

/** The call of a result is in the nearest answer before it with that id. */
function getPairs(messages: readonly AgentMessage[]): [call: number, result: number][] {
  return messages.flatMap((message, index) => {
    if (message.role !== "toolResult") return [];
    const isCall = (block: { type: string; id?: string }) =>
      block.type === "toolCall" && block.id === message.toolCallId;
    const call = messages.slice(0, index).findLastIndex((m) => m.role === "assistant" && m.content.some(isCall));
    return call < 0 ? [] : [[call, index] as [number, number]];
  });
}

describe("a plan", () => {
  test("never separates a call from its result, and keeps what the model then sees", async () => {
    await fc.assert(
      fc.asyncProperty(branches, fc.constantFrom("manual", "overflow", "threshold"), async (branch, reason) => {
        const planned = await planCompaction(branch, settings, reason);
        if (planned.kind === "nothing") return;
        const { plan } = planned;
        const before = contextMessages(branch).flatMap(({ entry, message }) =>
          entry.type === "compaction" ? [] : message,
        );
        const cut = before.length - plan.kept.length;
        for (const [call, result] of getPairs(before)) expect(call < cut).toBe(result < cut);
        expect(plan.kept[0]?.role).not.toBe("toolResult");
        expect([...plan.messages, ...plan.turnPrefix, ...plan.kept]).toEqual(before);
        if (plan.firstKeptEntryId !== null) expect(branch.map(({ id }) => id)).toContain(plan.firstKeptEntryId);
        expect(getMessages(appendCompaction(branch, "s", plan.firstKeptEntryId)).slice(1)).toEqual(plan.kept);
      }),
      { numRuns: 800 },
    );
  });

  test("keeps a call without a result, however large it is", async () => {
    let large = 0;
    await fc.assert(
      fc.asyncProperty(openBranches, fc.constantFrom("manual", "overflow", "threshold"), async (branch, reason) => {
        const planned = await planCompaction(branch, settings, reason);
        if (planned.kind === "nothing") return;
        expect(planned.plan.kept).toContainEqual(getMessages(branch).at(-1));
        if (planned.plan.keptTokens > maxKept(settings)) large++;
      }),
      { numRuns: 400 },
    );
    expect(large).toBeGreaterThan(80);
  });

  test("always exists for a context that is too full, and keeps much less of it", async () => {
    let full = 0;
    await fc.assert(
      fc.asyncProperty(branches, async (branch) => {
        const messages = getMessages(branch);
        const before = estimateAll(messages);
        const planned = await planCompaction(branch, settings, "manual");
        if (planned.kind === "compact") {
          if (findOpenCall(messages) === undefined)
            expect(planned.plan.keptTokens).toBeLessThanOrEqual(maxKept(settings));
          expect(planned.plan.keptTokens + planned.plan.replacedTokens).toBe(before);
          expect(planned.plan.replacedTokens).toBeGreaterThan(0);
        }
        if (before <= settings.contextWindow - settings.reserveTokens || findOpenCall(messages) !== undefined) return;
        full++;
        expect(planned.kind).toBe("compact");
      }),
      { numRuns: 800 },
    );
    expect(full).toBeGreaterThan(80);
  });
});

/** A model that writes as much as it may, and refuses requests that do not fit. */
const verboseModel: StreamFn = (requested, { systemPrompt = "", messages }, options) => {
  const stream = new AssistantMessageEventStream();
  const maxTokens = options?.maxTokens ?? 0;
  const tokens = Math.ceil(systemPrompt.length / 4) + estimateAll(messages) + maxTokens;
  const failure = { kind: "context_overflow" as const, message: "too long" };
  stream.end({
    role: "assistant",
    content: [{ type: "text", text: "text ".repeat(maxTokens) }],
    api: requested.api,
    provider: requested.provider,
    model: requested.id,
    usage: emptyUsage(),
    timestamp: 0,
    ...(tokens > requested.contextWindow
      ? { stopReason: "error", errorMessage: "too long", failure }
      : { stopReason: "stop" }),
  });
  return stream;
};

test("a compaction always makes the context smaller, so that it fits, and repeated compactions end", async () => {
  let compactions = 0;
  await fc.assert(
    fc.asyncProperty(branches, async (first) => {
      let branch = first;
      for (let round = 0; ; round++) {
        expect(round).toBeLessThan(30);
        const appended: SessionEntry[][] = [];
        const outcome = await compact({
          branch,
          model,
          streamFn: verboseModel,
          reason: "manual",
          append: ({ summary, firstKeptEntryId }) => {
            const id = `n${branch.length}`;
            const next = appendCompaction(branch, summary, firstKeptEntryId ?? id);
            appended.push(next.with(next.length - 1, { ...next.at(-1)!, id }));
            return Promise.resolve(id);
          },
        });
        expect(appended).toHaveLength(outcome.kind === "compacted" ? 1 : 0);
        if (outcome.kind !== "compacted") {
          expect(outcome.kind).toBe("nothing");
          break;
        }
        compactions++;
        const next = appended[0]!;
        const after = estimateAll(getMessages(next));
        expect(after).toBe(outcome.tokensAfter);
        expect(after).toBeLessThan(estimateAll(getMessages(branch)));
        if (findOpenCall(getMessages(branch)) === undefined)
          expect(after).toBeLessThanOrEqual(settings.contextWindow - settings.reserveTokens);
        branch = next;
      }
    }),
    { numRuns: 200 },
  );
  expect(compactions).toBeGreaterThan(80);
});
