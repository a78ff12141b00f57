/** The agent runs in the page, with tools of the page; only requests to the model go through the server. */
import { Agent, type AgentTool, streamProxy } from "@tau/agent";
import type { Model } from "@tau/ai";

const setColour: AgentTool = {
  name: "set_colour",
  label: "Colour",
  description: "Sets the background colour of the page",
  parameters: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
  async execute(_id, { colour }) {
    document.body.style.backgroundColor = String(colour);
    return { content: [{ type: "text", text: "The page has it." }], details: {} };
  },
};

/** Asks the model, and writes its answer into an element. */
export async function ask(question: string, to: HTMLElement, server: { url: string; token: string; model: Model }) {
  const agent = new Agent({
    initialState: { model: server.model, systemPrompt: "You change this page.", tools: [setColour] },
    streamFn: (model, context, options) =>
      streamProxy(model, context, { ...options, proxyUrl: server.url, authToken: server.token }),
  });
  agent.subscribe((event) => {
    if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
      to.textContent += event.assistantMessageEvent.delta;
  });
  await agent.prompt(question);
  if (agent.state.errorMessage !== undefined) to.textContent = agent.state.errorMessage;
}

Object.assign(globalThis, { ask });
