/** Shown if there is no model with a key yet. */
export const firstRunText = `tau: there is no model to use yet. Connect one in one of these ways:
  a key        export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY, GEMINI_API_KEY, …)
  a login      tau auth login
  a local one  start Ollama, LM Studio, llama.cpp or vLLM, then: tau --model ollama/NAME -p 'Hello'
  none at all  tau demo shows a scripted model at work, offline
`;
