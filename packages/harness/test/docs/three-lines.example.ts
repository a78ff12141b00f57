import { type AI, createAI } from "@tau/ai";
import { createAgent } from "@tau/harness";

export async function countFiles(
  cwd: string,
  ai: AI = createAI({ provider: "anthropic", model: "claude-opus-4-5" }), // the key is in ANTHROPIC_API_KEY
): Promise<string> {
  const agent = createAgent({ ai, cwd, tools: ["read", "write", "edit", "bash", "grep"] });
  const answer = await agent.run("How many files are here?");
  await agent.dispose();
  return answer;
}
