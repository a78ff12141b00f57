/** Spans of runs, requests and tools, in the tracer of the program. */
import { trace } from "@opentelemetry/api";
import type { AI } from "@tau/ai";
import { createAgent, defineTool } from "@tau/harness";

/** Call it after the SDK of OpenTelemetry is registered. */
export async function countStock(ai: AI, question: string): Promise<string> {
  const stock = defineTool({
    name: "stock",
    description: "How many pieces of an article there are",
    input: { type: "object", properties: { article: { type: "string" } }, required: ["article"] },
    // Its span is a child of the tool's, and needs no context to be passed.
    execute: async ({ article }) =>
      await trace.getTracer("shop").startActiveSpan("SELECT stock", async (span) => {
        span.end();
        return `${String(article)}: 7`;
      }),
  });
  const agent = createAgent({ ai, tools: [stock] });
  try {
    return await agent.run(question);
  } finally {
    await agent.dispose();
  }
}
