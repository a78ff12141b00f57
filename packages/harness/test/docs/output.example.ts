import type { SimpleAgent } from "@tau/harness";
import { z } from "zod";

const invoice = z.object({ number: z.string(), total: z.number(), dueInDays: z.number().optional() });

/** Reads an invoice that somebody wrote in any form. */
export async function readInvoice(agent: SimpleAgent, letter: string): Promise<{ total: number; cost: number }> {
  const { value, usage } = await agent.run(`Read this invoice:\n${letter}`, { output: invoice });
  return { total: value.total, cost: usage.cost.total };
}
