/** Many agents that misbehave, and chains of agents that try what their root may not do. */
import { readdir } from "node:fs/promises";
import type { ToolResultMessage } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { getAgentId, hang, openPlay, type Parts } from "./script.ts";

const task = (description: string, more: object = {}) => ({ description, prompt: `Do ${description}.`, ...more });

const getTexts = ({ messages }: { messages: readonly { role: string }[] }): string[] =>
  (messages.filter(({ role }) => role === "toolResult") as ToolResultMessage[]).map(({ content }) =>
    content.map((block) => (block.type === "text" ? block.text : "")).join(""),
  );

test("of a hundred agents that hang, fail, flood or answer in the wrong form, each ends once", async () => {
  const kinds = ["good", "hang", "fail", "flood", "wrong"];
  const schema = { type: "object", required: ["n"] };
  const tasks = Array.from({ length: 100 }, (_, index) => {
    const kind = kinds[index % kinds.length]!;
    return task(kind, kind === "wrong" ? { schema } : {});
  });
  const getKind = (id: string) => kinds[(Number(id) - 1) % kinds.length]!;
  const stop = (id: string) => call("call_tool", { name: "agents", arguments: { action: "stop", id } });
  const hanging = tasks.flatMap(({ description }, index) => (description === "hang" ? [String(index + 1)] : []));
  const { session, prompt } = await openPlay(
    {
      main: (step) => {
        if (step === 1) return [call("task", { tasks, background: true })];
        if (step === 2) return hanging.map(stop);
        return [text("Done.")];
      },
      default: (step, context, signal) => {
        switch (getKind(getAgentId(context))) {
          case "hang":
            return hang(signal);
          case "fail":
            return { failure: { kind: "invalid_request", message: "refused" } };
          case "flood":
            return step < 5 ? [call("ls", {}), call("ls", {})] : [text("x".repeat(100_000))];
          default:
            return [text("ok")];
        }
      },
    },
    { maxRequests: 5_000 },
  );
  await prompt("go");
  expect(session.hasWork).toBe(false);
  const reports = [
    ...getTexts(session),
    ...session.messages.flatMap((message) => (message.role === "custom" ? [String(message.content)] : [])),
  ]
    .join("\n")
    .match(/\[Task \d+ \(\w+\): \w+/g)!
    .map((line) => /Task (\d+) \((\w+)\): (\w+)/.exec(line)!.slice(1));
  expect(reports.map(([id]) => Number(id)).toSorted((a, b) => a - b)).toEqual(tasks.map((_, index) => index + 1));
  const expected: Record<string, string> = {
    good: "done",
    hang: "stopped",
    fail: "failed",
    flood: "done",
    wrong: "failed",
  };
  for (const [, kind, status] of reports) expect([kind, status]).toEqual([kind, expected[kind!]]);
  const started = await session.sessionManager.getEntries();
  const ends = started.flatMap((entry) =>
    entry.type === "custom" && entry.customType === "agents" ? [entry.data as { kind: string; id: string }] : [],
  );
  const ended = ends.filter(({ kind }) => kind === "ended").map(({ id }) => id);
  expect(new Set(ended).size).toBe(ended.length);
}, 120_000);

test("a hundred agents overspend a budget by at most a turn each", async () => {
  const limit = 500_000;
  const usage = { output: 10_000 };
  const tasks = Array.from({ length: 100 }, (_, index) => task(`t${index}`));
  const { session, model, prompt } = await openPlay(
    {
      main: (step) => (step === 1 ? [call("task", { tasks })] : [text("Done.")]),
      default: (step) => ({ content: step < 4 ? [call("ls", {})] : [text("ok")], usage }),
    },
    { maxRequests: 5_000, budgets: { tokens: limit } },
  );
  await prompt("go");
  const entries = await session.sessionManager.getEntries();
  const turns = entries.flatMap((entry) => {
    if (entry.type === "usage") return [entry.usage.totalTokens];
    return entry.type === "message" && entry.message.role === "assistant" ? [entry.message.usage.totalTokens] : [];
  });
  const spent = turns.reduce((sum, tokens) => sum + tokens, 0);
  const agentCount = new Set(model.asked.map(({ context }) => getAgentId(context))).size;
  expect(spent).toBeGreaterThanOrEqual(limit);
  expect(spent - limit).toBeLessThanOrEqual(agentCount * Math.max(...turns));
  // The budget ended them, and not their own work.
  expect(model.asked.length).toBeLessThan(400);
  expect(session.hasWork).toBe(false);
}, 120_000);

const toolNames = ["read", "ls", "write", "edit", "bash", "tool_search", "call_tool"];

test("no chain of agents does what its root may not do", async () => {
  const property = fc.asyncProperty(
    fc.subarray(toolNames),
    fc.record({ turns: fc.integer({ min: 1, max: 12 }), maxDepth: fc.nat(3), isPlanning: fc.boolean() }),
    fc.record({ profile: fc.constantFrom("safe", "balanced", "permissive"), sandbox: fc.constantFrom("off", "auto") }),
    fc.array(fc.constantFrom("write", "bash", "ls", "call_tool"), { minLength: 1, maxLength: 3 }),
    async (allowed, { turns, maxDepth, isPlanning }, { profile, sandbox }, wishes) => {
      const writing = {
        write: { path: "made.txt", content: "x" },
        bash: { command: "touch made" },
        ls: { path: "/" },
        call_tool: { name: "write", arguments: { path: "found.txt", content: "x" } },
      };
      // Each agent asks for something, and gives the same to an agent of its own, with wishes of all kinds.
      const play: Parts = {
        default: (step) => {
          if (step > 2) return [text("end")];
          const name = wishes[(step - 1) % wishes.length]!;
          const given = { ...task("deeper"), tools: ["*"], allowedTools: ["*"], permissionMode: "free", budgets: {} };
          return [call(name, writing[name]), call("task", { tasks: [given, given] })];
        },
      };
      const { prompt, model, session, cwd, clock } = await openPlay(play, {
        allowedTools: ["task", ...allowed],
        budgets: { turns },
        agents: { maxDepth },
        policyProfile: profile,
        sandbox: { mode: sandbox },
        ...(isPlanning && { permissionMode: "plan" }),
      });
      // Sessions that are refused something at the same time wait for each other's lock, by the clock.
      const passing = setInterval(() => void clock.advance(50), 5);
      await prompt("go").finally(() => clearInterval(passing));
      expect(model.asked.length).toBeLessThanOrEqual(turns);
      const rootTools = new Set(model.asked[0]!.context.tools!.map(({ name }) => name));
      for (const { context } of model.asked) {
        for (const { name } of context.tools ?? []) expect(rootTools).toContain(name);
        const id = getAgentId(context);
        expect(id === "main" ? 0 : id.split(".").length).toBeLessThanOrEqual(maxDepth);
      }
      const mayWrite = !isPlanning && allowed.some((name) => name === "write" || name === "bash");
      if (!mayWrite) expect(await readdir(cwd)).toEqual([]);
      expect(session.hasWork).toBe(false);
    },
  );
  await fc.assert(property, { numRuns: process.env["TAU_LONG"] ? 100 : 10 });
}, 240_000);
