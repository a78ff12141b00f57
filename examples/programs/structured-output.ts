/** Reads invoices into rows. `npx tsx structured-output.ts letter.txt …` prints one line of JSON for each file. */
import { readFile } from "node:fs/promises";
import { type AI, createAI } from "@tau/ai";
import { createAgent } from "@tau/harness";
import { z } from "zod";

const invoice = z.object({
  number: z.string(),
  currency: z.enum(["EUR", "USD"]),
  lines: z.array(z.object({ item: z.string(), cents: z.number().int() })),
});

export type Invoice = z.infer<typeof invoice>;

export async function readInvoice(ai: AI, letter: string): Promise<Invoice> {
  const agent = createAgent({ ai, tools: [], systemPrompt: "Copy what the letter says. Do not add anything." });
  try {
    const { value } = await agent.run(letter, { output: invoice });
    return value;
  } finally {
    await agent.dispose();
  }
}

if (process.argv[1] === import.meta.filename) {
  const ai = createAI({ provider: "anthropic", model: "claude-opus-4-5" });
  for (const path of process.argv.slice(2)) {
    process.stdout.write(`${JSON.stringify(await readInvoice(ai, await readFile(path, "utf8")))}\n`);
  }
}
