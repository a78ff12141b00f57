/** Models that extensions register, each of which chooses another model for every request. Names are pi's. */
import type { AssistantMessage, Message, Model, ModelThinkingLevel } from "@tau/ai";
import type { ExtensionContext } from "./context.ts";

/** The `api` of virtual models. No request is sent with it. */
export const virtualApi = "pi-virtual";

/**
 * Why a request is made. `user`: it is the first after a message of the user. `continuation`: any other request of a run.
 * `retry`: the request before it failed. `direct`: it is not part of a run, such as that for a summary.
 */
export type ModelRouteReason = "user" | "continuation" | "retry" | "direct";

/** A model that answered or failed. The level is absent if it is not known any more. */
interface RoutedModel {
  model: Model;
  thinkingLevel?: ModelThinkingLevel;
}

export interface ModelRouteRequest<TState = unknown> {
  /** The virtual model. */
  model: Model;
  /** The level that was selected for the virtual model. */
  thinkingLevel: ModelThinkingLevel;
  reason: ModelRouteReason;
  /** The model of the latest answer that succeeded. */
  previous?: RoutedModel;
  /** For `retry`: the model that failed, and its answer. Absent if `route` itself failed. */
  failed?: RoutedModel & { message: AssistantMessage };
  /** The last state that was returned on this branch of the session. Absent for `direct`. */
  state?: TState;
  /** The conversation that is sent, with the system prompt first. */
  messages: readonly Message[];
  signal?: AbortSignal;
}

/** The model of one request. */
export interface ModelRoute<TState = unknown> {
  /** A model of the registry whose provider has a key. It cannot be virtual. */
  model: Model;
  thinkingLevel: ModelThinkingLevel;
  /** Stored on the branch of the session, unless it is undefined or `request.state` itself. It must be JSON. */
  state?: TState;
}

export interface VirtualModel<TState = unknown> {
  /** The provider that it is listed under; it may have other models. */
  provider: string;
  /** No other model of the provider may have it. */
  id: string;
  name: string;
  /** The levels to choose from. Default: `off` alone. */
  thinkingLevels?: readonly ModelThinkingLevel[];
  /** Shown until a model has answered. Default: not known. */
  contextWindow?: number;
  maxTokens?: number;
  /** Default: text and images. */
  input?: readonly ("text" | "image")[];
  /** Chooses the model of each request, within ten seconds. A request fails if it throws. */
  route(request: ModelRouteRequest<TState>, ctx: ExtensionContext): ModelRoute<TState> | Promise<ModelRoute<TState>>;
}
