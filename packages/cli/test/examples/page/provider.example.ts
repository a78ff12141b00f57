import type { ExtensionAPI } from "@tau/extensions";

export default async function (tau: ExtensionAPI) {
  // A factory may wait; ten seconds are the limit. The models can be chosen from the start.
  const baseUrl = process.env["HOUSE_URL"] ?? "http://127.0.0.1:9000/v1";
  const answer = await fetch(`${baseUrl}/models`).catch(() => undefined);
  if (!answer?.ok) return;
  const { data } = (await answer.json()) as { data: { id: string }[] };
  tau.registerProvider("house", {
    baseUrl,
    api: "openai-completions",
    apiKey: "none",
    models: data.map(({ id }) => ({ id, contextWindow: 32_768, maxTokens: 4_096 })),
  });
}
