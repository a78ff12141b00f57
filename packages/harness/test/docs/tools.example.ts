import type { AgentTool } from "@tau/agent";
import { type AgentSession, createAgentSession, type InputSchemaTool } from "@tau/harness";
import type { Model } from "@tau/ai";

/** The full form, with progress and with details for surfaces. `parameters` is JSON Schema or a TypeBox schema. */
const weather: AgentTool = {
  name: "weather",
  label: "Weather",
  description: "The weather of a place.",
  parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
  async execute(_callId, { place }, signal, onUpdate) {
    onUpdate?.({ content: [{ type: "text", text: `Asking about ${place}…` }], updateType: "progress" });
    signal?.throwIfAborted(); // pass the signal on to everything that takes time
    return { content: [{ type: "text", text: `21 °C in ${place}` }], details: { celsius: 21 } };
  },
};

/** The short form: the model reads what `execute` returns. */
const reply: InputSchemaTool = {
  name: "chat_reply",
  description: "Answers in the chat.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  requiredScope: "chat.write",
  execute: ({ text }, { signal }) => (signal.aborted ? "Not sent." : `Sent ${String(text).length} characters.`),
};

export const openWithTools = (model: Model, cwd: string): Promise<AgentSession> =>
  createAgentSession({
    model,
    cwd,
    tools: ["read", "grep"],
    customTools: [weather],
    binding: { channel: "chat", tools: [reply] },
    scopes: ["chat.write"],
  });
