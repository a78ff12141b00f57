/** A judge whose ports write down what they are given, and the calls to try it with. */
import type { Stats } from "node:fs";
import type { BeforeToolCallContext } from "@tau/agent";
import { createTools, type DescribedTool } from "@tau/tools";
import { createDefaultPolicy } from "../src/default-policy.ts";
import { type Grant, Grants, isCovered } from "../src/grants.ts";
import { createJudge, type JudgeParts } from "../src/judge.ts";
import type { Answer, Decision, Question } from "../src/policy.ts";

interface TestParts extends Partial<JudgeParts> {
  answers?: (Answer | Error)[];
  /** Default: the built-in ones. */
  tools?: DescribedTool[];
  /** The paths that are there. */
  existing?: string[];
  /** The contents of scripts by their paths. */
  scripts?: Map<string, string>;
}

export const noScript = () => Promise.reject(new Error("There is no such file."));

/** Rules that are kept as long as the test. */
export function createRules(rules: Grant[] = []): JudgeParts["remembered"] {
  return {
    covers: async (capability, target, options) => isCovered(rules, capability, target, options),
    add: async (_scope, grant) => void rules.push(grant),
  };
}

export const builtIn = Object.values(createTools({ cwd: "/w" }).byName);

/** A judge of `/w` whose ports write down what they are given. */
export function createTestJudge(parts: TestParts = {}) {
  const questions: Question[] = [];
  const decisions: Decision[] = [];
  const grants = new Grants();
  const { answers, tools = builtIn, existing = [], scripts = new Map<string, string>(), ...given } = parts;
  let count = 0;
  const judge = createJudge({
    decide: createDefaultPolicy({ roots: ["/w"], home: "/home/ann", agentDir: "/home/ann/.tau" }),
    ask:
      answers &&
      (async (question) => {
        questions.push(question);
        const answer = answers.shift();
        if (!answer || answer instanceof Error) throw answer ?? new Error("nothing left to answer");
        return answer;
      }),
    audit: (decision) => void decisions.push(decision),
    grants,
    remembered: createRules(),
    subject: { kind: "model", sessionId: "s" },
    cwd: "/w",
    home: "/home/ann",
    getMode: () => "edit",
    files: {
      realPath: async (path) => path.replace(/^\/w\/link/, "/outside"),
      stat: async (path) => (existing.includes(path) ? ({} as Stats) : undefined),
      readWhole: async (path) => {
        const content = scripts.get(path);
        return content === undefined ? await noScript() : { realPath: path, bytes: Buffer.from(content), stamp: "" };
      },
    },
    ids: () => `q${++count}`,
    ...given,
  });
  const call = (name: string, args: Record<string, unknown>, signal?: AbortSignal) =>
    judge(calling(name, args, tools), signal);
  const outcomes = () =>
    decisions.map(({ outcome, rule, by, request: { target } }) =>
      [outcome, rule, by, target.kind === "path" ? target.path : undefined].filter(Boolean).join(" "),
    );
  return { call, grants, questions, decisions, outcomes };
}

const calling = (name: string, args: Record<string, unknown>, tools: DescribedTool[]): BeforeToolCallContext => ({
  assistantMessage: {
    role: "assistant",
    content: [],
    api: "scripted",
    provider: "scripted",
    model: "scripted",
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "toolUse",
    timestamp: 0,
  },
  toolCall: { type: "toolCall", id: "c1", name, arguments: args },
  args,
  context: { systemPrompt: "", messages: [], tools },
});

export const patch = (...paths: string[]) => ({ patch: paths.map((path) => `¶${path}#12ab\n1!`).join("\n") });
