import { createAI } from "@tau/ai";
import { createAgent } from "@tau/harness";

const agent = createAgent({
  ai: createAI({ provider: "ollama", model: "qwen3:8b" }),
  tools: ["read", "grep"],
});
console.log(await agent.run("What does this project do?"));
await agent.dispose();
