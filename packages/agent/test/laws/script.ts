import type { Model } from "@tau/ai";
import type { AgentEvent, AgentMessage, ToolExecutionMode } from "../../src/types.ts";

/** When code outside the engine settles: at once, when its step is taken, when the run is aborted, or never. */
export interface Behavior {
  settles: "now" | "later" | "onAbort" | "never";
  fails?: boolean;
}

export interface CallPlan {
  id: string;
  /** Default `work`: a call of a tool that exists, with valid arguments. */
  kind?: "work" | "unknown" | "invalid";
  /** Default `write`. */
  order?: "read" | "write" | "unordered";
  tool?: Behavior;
  guard?: Behavior;
  blocks?: boolean;
  review?: Behavior;
  /** Updates that come in steps of their own, perhaps too late. */
  updates?: number;
  updatesOnAbort?: boolean;
  terminates?: boolean;
  /** Calls that the tool makes when it begins. */
  nested?: CallPlan[];
  /** Whether the tool waits for them before it does anything else. Default false: it may end first. */
  waitsForNested?: boolean;
}

export interface AnswerPlan {
  /** The stream function itself. */
  opens?: Behavior;
  /** `later` takes two steps: the answer begins, and it finishes. `never` begins and does not finish. */
  arrives: "now" | "later" | "never";
  stopsOnAbort?: boolean;
  calls?: CallPlan[];
  /** Default `complete`. */
  ends?: "complete" | "length" | "error" | "cut";
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
  /** Which of its calls, from 0. */
  nth: number;
  behavior: Behavior;
  /** The result of `shouldStopAfterTurn`. */
  stops?: boolean;
}

export interface ListenerPlan {
  on: AgentEvent["type"];
  nth: number;
  behavior: Behavior;
  action?: Action;
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
  /** The tested function or class: `runAgentLoop`, `agentLoop`, `runAgentLoopContinue`, or an `Agent`. */
  api: "sink" | "stream" | "continue" | "agent";
  execution?: ToolExecutionMode;
  queues?: "all" | "one-at-a-time";
  answers: AnswerPlan[];
  hooks?: HookPlan[];
  listeners?: ListenerPlan[];
  /** Actions of the user, each in a step of its own. */
  actions?: Action[];
}

export const model: Model = {
  id: "m",
  name: "m",
  api: "scripted",
  provider: "scripted",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000,
  maxTokens: 100,
};

/** The tools of a script, by the order of their calls. */
export const toolNames = { write: "work", read: "look", unordered: "notify" } as const;

export const parameters = deepFreeze({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });

export const user = (content: string): AgentMessage => deepFreeze({ role: "user", content, timestamp: 1 });

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

export const plannedError = (source: string) => new Error(`planned failure of ${source}`);
