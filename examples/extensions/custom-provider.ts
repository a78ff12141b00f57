/**
 * Models of a server that tau does not know, here one with OpenAI's protocol. `LAB_URL` is its address and `LAB_KEY` its key.
 * A provider that is only data, as this one, can also be in `models.json`; an extension can decide what it offers.
 */
import type { ExtensionAPI } from "@tau/extensions";

export default function customProvider(tau: ExtensionAPI): void {
  const baseUrl = process.env["LAB_URL"] ?? "http://127.0.0.1:9000/v1";
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  tau.registerProvider("lab", {
    name: "Our lab",
    baseUrl,
    api: "openai-completions",
    // A name after a $ is a variable, which is read when a request is sent.
    apiKey: "$LAB_KEY",
    headers: { "x-team": "search" },
    models: [
      {
        id: "coder",
        name: "Coder",
        input: ["text"],
        reasoning: false,
        cost: free,
        contextWindow: 65_536,
        maxTokens: 8_192,
      },
    ],
  });
}
