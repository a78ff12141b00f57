/** pi's module `pi-agent-core`. */
import { Agent as TauAgent, type AgentOptions, type StreamFn } from "@tau/agent";
import { PI_ATTRIBUTION } from "./pi-ai/identity.ts";

export { agentLoop, agentLoopContinue, runAgentLoop, runAgentLoopContinue, streamProxy } from "@tau/agent";
export { runToolCall } from "./run-tool-call.ts";

let defaultStreamFn: StreamFn | undefined;

/** What agents send requests with that have no stream function of their own. Undefined: the API of their model. */
export function setDefaultStreamFn(streamFn: StreamFn | undefined): void {
  defaultStreamFn = streamFn;
}

export class Agent extends TauAgent {
  constructor(options: AgentOptions = {}) {
    super(defaultStreamFn && !options.streamFn ? { ...options, streamFn: defaultStreamFn } : options);
  }
}

export const DEFAULT_AGENT_IDENTITY = { attribution: PI_ATTRIBUTION };
