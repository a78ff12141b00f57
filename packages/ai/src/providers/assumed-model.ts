/**
 * The limits of a model whose limits are unknown. Enough for an agent, and low enough for the settings of most servers.
 * A server with less truncates the prompt, which a diagnostic of the answer reports.
 */
export const assumedLimits = { contextWindow: 32_768, maxTokens: 8_192 } as const;

/** The defaults for a model of which only the id and the API are known. */
export const assumedModel = {
  baseUrl: "",
  reasoning: false,
  input: ["text" as const],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  ...assumedLimits,
};
