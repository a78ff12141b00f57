import { Agent, type AgentTool } from "@tau/agent";
import type { Model } from "@tau/ai";
import { Type } from "typebox";

const parameters = Type.Object({ place: Type.String() });
const weather: AgentTool<typeof parameters> = {
  name: "weather",
  label: "Weather",
  description: "The weather of a place",
  parameters,
  async execute(_id, { place }, signal, onUpdate) {
    onUpdate?.({ content: [{ type: "text", text: `Asking about ${place}…` }], updateType: "progress" });
    signal?.throwIfAborted(); // pass the signal on to whatever takes time
    return { content: [{ type: "text", text: `21 °C in ${place}` }], details: { celsius: 21 } };
  },
};

export async function ask(model: Model, question: string, print: (text: string) => void): Promise<void> {
  const agent = new Agent({ initialState: { model, systemPrompt: "Be brief.", tools: [weather] } });
  agent.subscribe((event) => {
    if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") {
      print(event.assistantMessageEvent.delta);
    }
    if (event.type === "tool_execution_start") {
      print(`[${event.toolName}]`);
      // Steering: goes in before the next request, without stopping what is running.
      agent.steer({ role: "user", content: "In Fahrenheit, please.", timestamp: Date.now() });
    }
  });
  const timeout = setTimeout(() => agent.abort(), 60_000); // the run then ends within 200 ms
  await agent.prompt(question);
  clearTimeout(timeout);
  if (agent.state.errorMessage) print(`(failed: ${agent.state.errorMessage})`);
}
