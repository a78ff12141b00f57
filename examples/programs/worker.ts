/** An assistant at the edge, such as a Worker of Cloudflare: the agent loop alone, which needs neither files nor Node. */
import { Agent } from "@tau/agent";
import { createAI } from "@tau/ai";
import { anthropic } from "@tau/ai/anthropic";

interface Env {
  ANTHROPIC_API_KEY: string;
  /** Another address, such as that of a gateway. */
  ANTHROPIC_BASE_URL?: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== "POST") return new Response("Send a question.", { status: 405 });
    const question = await request.text();
    const selected = anthropic("claude-opus-4-5", {
      apiKey: env.ANTHROPIC_API_KEY,
      baseUrl: env.ANTHROPIC_BASE_URL,
    });
    const ai = createAI(selected);
    const agent = new Agent({
      initialState: { model: ai.model, systemPrompt: "Be brief." },
      streamFn: (_model, context, options) => ai.streamSimple(context, options),
    });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    agent.subscribe(async (event) => {
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
        await writer.write(encoder.encode(event.assistantMessageEvent.delta));
    });
    void agent
      .prompt(question)
      .then(() => (agent.state.errorMessage === undefined ? writer.close() : writer.abort(agent.state.errorMessage)))
      .catch(() => undefined);
    return new Response(readable, { headers: { "content-type": "text/plain; charset=utf-8" } });
  },
};
