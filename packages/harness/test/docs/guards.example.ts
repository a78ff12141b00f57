import type { AI } from "@tau/ai";
import { createAgent, defineTool, type SimpleAgent } from "@tau/harness";

const noCardNumbers = (text: string) =>
  /\b(?:\d[ -]?){13,16}\b/.test(text) ? "It has the number of a card in it." : undefined;

/** An agent that knows orders, and one that talks to customers and asks it. `find` looks an order up. */
export function createSupport(ai: AI, find: (id: string) => Promise<string>): SimpleAgent {
  const orders = createAgent({
    ai,
    systemPrompt: "You answer questions about orders, in one sentence.",
    tools: [],
    customTools: [
      defineTool({
        name: "find_order",
        description: "Finds an order by its id.",
        input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
        execute: ({ id }) => find(String(id)),
      }),
    ],
  });
  return createAgent({
    ai,
    systemPrompt: "You talk to customers.",
    tools: [],
    customTools: [orders.asTool({ name: "orders", description: "Knows all orders. Ask it with the id of the order." })],
    guards: { input: [noCardNumbers], output: [noCardNumbers] },
  });
}
