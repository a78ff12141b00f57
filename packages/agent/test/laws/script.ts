import type { Model } from "@tau/ai";
import type { AgentEvent, AgentMessage, ToolExecutionMode } from "../../src/types.ts";

/** How somebody else's code behaves: at once, when its step is taken, when the run is aborted, or never. */
export interface Conduct {
  settles: "now" | "later" | "onAbort" | "never";
  fails?: boolean;
}

export interface CallPlan {
  id: string;
  kind?: "work" | "unknown" | "invalid";
  tool?: Conduct;
  guard?: Conduct;
  blocks?: boolean;
  review?: Conduct;
  /** Updates that come in steps of their own, perhaps too late. */
  updates?: number;
  updatesOnAbort?: boolean;
  terminates?: boolean;
}

export interface AnswerPlan {
  /** The stream function itself. */
  opens?: Conduct;
  /** `later` takes two steps: it begins, and it finishes. `never` begins and falls silent. */
  speaks: "now" | "later" | "never";
  /** Stops when it is told to. */
  obeys?: boolean;
  calls?: CallPlan[];
  ends?: "well" | "length" | "error" | "cut";
}

export const hookNames = [
  "transformContext",
  "convertToLlm",
  "getApiKey",
  "shouldStopAfterTurn",
  "prepareNextTurn",
  "getSteeringMessages",
  "getFollowUpMessages",
] as const;

export interface HookPlan {
  hook: (typeof hookNames)[number];
  /** Which time it is called, from 0. */
  nth: number;
  conduct: Conduct;
  /** What `shouldStopAfterTurn` says. */
  stops?: boolean;
}

export interface ListenerPlan {
  on: AgentEvent["type"];
  nth: number;
  conduct: Conduct;
  does?: Action;
}

export const actions = [
  "abort",
  "steer",
  "followUp",
  "interrupt",
  "clear",
  "reset",
  "prompt",
  "continue",
  "wait",
] as const;
export type Action = (typeof actions)[number];

export interface Script {
  /** Who is asked: `runAgentLoop`, `agentLoop`, `runAgentLoopContinue`, or an `Agent`. */
  face: "sink" | "stream" | "continue" | "agent";
  execution?: ToolExecutionMode;
  queues?: "all" | "one-at-a-time";
  answers: AnswerPlan[];
  hooks?: HookPlan[];
  listeners?: ListenerPlan[];
  actions?: Action[];
}

export const model: Model = {
  id: "m",
  name: "m",
  api: "staged",
  provider: "staged",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000,
  maxTokens: 100,
};

export const parameters = deepFreeze({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });

export const user = (content: string): AgentMessage => deepFreeze({ role: "user", content, timestamp: 1 });

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

export const boom = (who: string) => new Error(`boom from ${who}`);
