import type { AgentLoopConfig } from "@tau/agent";
import type { CustomMessage } from "@tau/protocol";
import type { ModelRouteRequest } from "../api/virtual-model.ts";
import type { ExtensionHooks } from "../runner/runner.ts";

/** The part that extensions have in runs. */
export interface RunExtensions extends ExtensionHooks {
  /** Messages that extensions have for the model, to be sent before the next request or when it would stop. */
  take(kind: "steer" | "followUp"): CustomMessage[];
  readonly isQueueEmpty: boolean;
  /**
   * Asks a virtual model which model a request uses. Rejects if it is not registered, fails, takes more than ten seconds or is
   * aborted.
   */
  route(request: ModelRouteRequest): Promise<unknown>;
  /** Judges a call for isolated extensions that changed its arguments. Undefined lets it continue. */
  judgeChanged: NonNullable<AgentLoopConfig["beforeToolCall"]>;
}
