import type { AgentLoopConfig } from "@tau/agent";
import type { CustomMessage } from "@tau/protocol";
import type { ExtensionHooks } from "../runner/runner.ts";

/** The part that extensions have in runs. */
export interface RunExtensions extends ExtensionHooks {
  /** Messages that extensions have for the model, to be sent before the next request or when it would stop. */
  take(kind: "steer" | "followUp"): CustomMessage[];
  readonly isQueueEmpty: boolean;
  /** Judges a call for isolated extensions that changed its arguments. Undefined lets it continue. */
  judgeChanged: NonNullable<AgentLoopConfig["beforeToolCall"]>;
}
