/** A conversation in a terminal. Run it with `npx tsx terminal.ts` in a project. */
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { type AI, createAI } from "@tau/ai";
import { createAgent } from "@tau/harness";

export async function converse(ai: AI, cwd: string, input: Readable, output: Writable): Promise<void> {
  const lines = createInterface({ input, output });
  const agent = createAgent({
    ai,
    cwd,
    use: ["project"],
    async ask({ summary, reason }) {
      const answer = await lines.question(`${summary}\n${reason}\nAllow it? [y/n] `);
      return { decision: answer.trim() === "y" ? "allow" : "deny" };
    },
  });
  lines.setPrompt("> ");
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== "") {
      const run = agent.stream(line);
      for await (const event of run) {
        if (event.type === "text_delta") output.write(event.delta);
        if (event.type === "tool_execution_start") output.write(`[${event.toolName}]\n`);
      }
      const { end } = await run.result();
      output.write(end.kind === "failed" ? `(${end.failure.message})\n` : "\n");
    }
    lines.prompt();
  }
  await agent.dispose();
}

if (process.argv[1] === import.meta.filename) {
  const ai = createAI({ provider: "anthropic", model: "claude-opus-4-5" });
  await converse(ai, process.cwd(), process.stdin, process.stdout);
}
