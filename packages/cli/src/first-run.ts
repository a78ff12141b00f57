/** What somebody reads who has not connected a model yet. */
export const firstRunText = (): string =>
  [
    "tau: no model can be used yet. One of these connects one:",
    "  a key        export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY, GEMINI_API_KEY, …)",
    "  a login      tau auth login",
    "  a local one  start Ollama, LM Studio, llama.cpp or vLLM, then: tau --model ollama/NAME -p 'Hello'",
    "  none at all  tau demo shows a scripted model at work, offline",
    "",
  ].join("\n");
