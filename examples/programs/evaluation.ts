/**
 * Measures how well a model answers tickets of support, and compares it with the last time. `npx tsx evaluation.ts` prints a table, keeps
 * the result in `evaluation.json`, and ends with code 1 if a score has fallen.
 */
import { readFile, writeFile } from "node:fs/promises";
import { type AI, createAI } from "@tau/ai";
import { createAgent } from "@tau/harness";
import { evaluate, type Evaluation, formatEvaluation } from "@tau/harness/testing";

const cases = [
  { name: "refund", input: "My order 17 came broken. I want my money back.", expected: "billing" },
  { name: "password", input: "I cannot log in since yesterday.", expected: "accounts" },
  { name: "feature", input: "Could you add a dark theme?", expected: "product" },
];

export async function evaluateRouting(ai: AI): Promise<Evaluation<string>> {
  const route = async (ticket: string, { signal }: { signal: AbortSignal }) => {
    // An agent for each case, so that no case knows another.
    const agent = createAgent({ ai, tools: [], systemPrompt: "Answer with one word: billing, accounts or product." });
    try {
      return await agent.run(ticket, { signal });
    } finally {
      await agent.dispose();
    }
  };
  return await evaluate(cases, route, {
    right: ({ output, expected }) => output.trim().toLowerCase() === expected,
    brief: ({ output }) => output.trim().split(/\s+/).length === 1,
  });
}

/** The scores that are lower than the last time. */
export function findFallen(now: Evaluation<string>, before: Evaluation<string> | undefined): string[] {
  return Object.keys(now.means).filter((name) => now.means[name]! < (before?.means[name] ?? 0));
}

if (process.argv[1] === import.meta.filename) {
  const text = await readFile("evaluation.json", "utf8").catch(() => undefined);
  const before = text === undefined ? undefined : (JSON.parse(text) as Evaluation<string>);
  const evaluation = await evaluateRouting(createAI({ provider: "anthropic", model: "claude-opus-4-5" }));
  process.stdout.write(`${formatEvaluation(evaluation)}\n`);
  await writeFile("evaluation.json", JSON.stringify(evaluation, undefined, 2));
  const fallen = findFallen(evaluation, before);
  if (fallen.length > 0) process.stderr.write(`Lower than the last time: ${fallen.join(", ")}.\n`);
  process.exitCode = fallen.length > 0 ? 1 : 0;
}
