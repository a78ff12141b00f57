/** pi's module `pi-agent-core`. */
export { Agent, agentLoop, agentLoopContinue, runAgentLoop, runAgentLoopContinue, streamProxy } from "@tau/agent";
