/** pi's module `pi-agent-core`. */
export { Agent } from "./pi-agent-core/agent.ts";
export { setDefaultStreamFn } from "./pi-agent-core/default-stream.ts";
export { agentLoop, agentLoopContinue, runAgentLoop, runAgentLoopContinue } from "./pi-agent-core/loops.ts";
export { streamProxy } from "@tau/agent";
export { runToolCall } from "./run-tool-call.ts";
export type { Extension, LifecycleHook, LifecycleHooks, Tool } from "@tau/extensions";
export type { ToolContext } from "@tau/tools";
export { createAgent, type CreateAgentOptions, type SimpleAgent } from "@tau/harness";
import { PI_ATTRIBUTION } from "./pi-ai/identity.ts";

export const DEFAULT_AGENT_IDENTITY = { attribution: PI_ATTRIBUTION };
