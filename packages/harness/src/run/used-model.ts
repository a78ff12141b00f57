/**
 * The model and the key that the requests of a session use: those that were selected, or others of a chain or a list while
 * they cannot be used. The selection is not changed by it.
 */
import type { ThinkingLevel } from "@tau/agent";
import {
  type AssistantMessage,
  clampThinkingLevel,
  type Clock,
  type Failure,
  type Message,
  type Model,
  modelsAreEqual,
} from "@tau/ai";
import { asRecord, getFailure } from "@tau/ai/internal";
import { type Availability, findChain, getCooldownMs, type NextUse, pickAvailable } from "@tau/config/internal";
import type { FallbackChains, ModelRegistry } from "@tau/config/models";
import { customTypes, formatLimit, type ModelUse } from "@tau/protocol";
import { modelName } from "../request/prefix.ts";
import { type RouteOutcome, type RoutePort, routeRequest } from "../request/route.ts";
import type { SessionKeys } from "../request/session-keys.ts";
import type { Session } from "../session/session.ts";
import type { Publisher } from "./publisher.ts";
import { isFailed } from "./transcript.ts";

/** The selected model, as the session knows it. */
interface SelectedModel {
  mustHaveModel(): Model;
  /** The role that it was chosen by. */
  readonly role: string | undefined;
  /** The level that a model uses, if the session uses it. */
  getThinkingLevel(model: Model): ThinkingLevel;
}

interface UsedModelParts {
  selected: SelectedModel;
  registry: Pick<ModelRegistry, "resolve" | "scope" | "find" | "isVirtual" | "isUsable">;
  getExtensions: RoutePort["getExtensions"];
  /** Undefined without one. */
  getChains: () => FallbackChains | undefined;
  /** The models to choose from. Undefined for all. */
  getPatterns: () => readonly string[] | undefined;
  availability: Availability;
  keys: SessionKeys;
  session: Pick<Session, "appendCustomEntry" | "getBranch">;
  publisher: Pick<Publisher, "fact">;
  /** Adds a notice for the user, unless it is the same as one before. */
  noticeOnce: (code: string, message: string) => void;
  clock: Pick<Clock, "monotonic">;
}

interface ChainModel {
  model: Model;
  /** The level that the chain asks for. */
  thinkingLevel?: ThinkingLevel;
}

/** A request of a run as `route` of a virtual model sees it. */
interface RequestToRoute {
  reason: "user" | "continuation" | "retry";
  messages: readonly Message[];
  signal: AbortSignal | undefined;
}

/** The entry of the log with the state of a virtual model. The name and the data are pi's. */
const stateEntry = "pi.virtual-model-state";

/** Says whether another key or model can be used after a failure. */
export interface Alternatives {
  hasNextKey: boolean;
  hasNextModel: boolean;
}

export const noAlternatives: Alternatives = { hasNextKey: false, hasNextModel: false };

/** Completes "X …" for the kinds of failures that another model or key is used for. */
const problems: Partial<Record<Failure["kind"], string>> = {
  rate_limited: "has reached a rate limit",
  overloaded: "has too much load",
  billing: "has no credit left",
  auth: "was refused",
};

export class UsedModel {
  readonly #parts: UsedModelParts;
  /** Undefined while the selected model is used. */
  #fallback: ChainModel | undefined;
  /** The models that failed since the last answer that succeeded: none of them is used a second time. */
  readonly #failed = new Set<string>();
  #use: ModelUse | undefined;
  /** The model that the selected virtual model chose last. */
  #routed: { model: Model; thinkingLevel: ThinkingLevel } | undefined;
  /** The last answer if it failed, and the model that gave it; undefined if no model was chosen. */
  #lastFailure: { message: AssistantMessage; route: UsedModel["current"] | undefined } | undefined;
  /** The state of the selected virtual model on this branch, once it was read. */
  #state: { value: unknown } | undefined;

  constructor(parts: UsedModelParts) {
    this.#parts = parts;
  }

  /** The model of the next request, and how much it thinks. */
  get current(): { model: Model; thinkingLevel: ThinkingLevel } {
    const { selected } = this.#parts;
    if (this.#routed) return this.#routed;
    const model = this.#fallback?.model ?? selected.mustHaveModel();
    const thinkingLevel = this.#fallback?.thinkingLevel ?? selected.getThinkingLevel(model);
    return { model, thinkingLevel: clampThinkingLevel(model, thinkingLevel) };
  }

  /** The selected model while another one is used in its place. */
  get replaced(): { provider: string; modelId: string } | undefined {
    if (!this.#fallback && !this.#routed) return undefined;
    const { provider, id: modelId } = this.#parts.selected.mustHaveModel();
    return { provider, modelId };
  }

  /** The model and key that are used, and why, if those have changed since the model was selected. */
  get use(): ModelUse | undefined {
    return this.#use;
  }

  /** The user has selected a model: it is used, also if it has failed a moment ago. */
  takeSelection(model: Model, previous: Model | undefined): void {
    this.#fallback = undefined;
    this.#routed = undefined;
    this.#state = undefined;
    this.#parts.availability.restoreModel(modelName(model));
    // That another one is selected is reported by itself; the same one again is reported before the next request.
    if (!modelsAreEqual(model, previous)) this.#use = undefined;
  }

  /** Before a request that does not follow a failure: uses the selected model again as soon as that can be used. */
  async refresh(): Promise<void> {
    const { selected, keys, registry } = this.#parts;
    keys.forgetFailures();
    this.#failed.clear();
    const first = { model: selected.mustHaveModel() };
    // The next request is routed before it is sent.
    if (registry.isVirtual(first.model)) return;
    if (this.#fallback || this.#isCooled(first.model)) {
      const before = this.current.model;
      const best = pickAvailable([first, ...this.#listChain()], this.#getUntilMs, this.#parts.clock.monotonic());
      this.#fallback = best && best !== first ? best : undefined;
      const isSame = modelsAreEqual(this.current.model, before);
      if (this.#fallback && !isSame) await this.#report("fallback", `${modelName(first.model)} cannot be used now.`);
    }
    if (!this.#fallback && this.#use?.cause === "fallback") await this.#report("restored", "");
    const { provider } = this.current.model;
    const key = keys.leaveSetAside(provider);
    if (key !== undefined) await this.#report("key", `The key of ${provider} that was used is set aside.`);
  }

  /** Takes the outcome of a request. */
  takeAnswer(answer: AssistantMessage): void {
    const { keys, registry } = this.#parts;
    const isRouted = !registry.isVirtual({ provider: answer.provider, id: answer.model });
    this.#lastFailure = isFailed(answer) ? { message: answer, route: isRouted ? this.current : undefined } : undefined;
    if (isFailed(answer)) return keys.takeFailure(answer.provider, getFailure(answer));
    keys.forgetFailures();
    this.#failed.clear();
  }

  /** After a failure. */
  getAlternatives(): Alternatives {
    const hasNextKey = this.#parts.keys.hasNext(this.current.model.provider);
    return { hasNextKey, hasNextModel: this.#findNext() !== undefined };
  }

  /** Uses another key or model after a failure. */
  async change(to: Extract<NextUse, "next_key" | "next_model">, failure: Failure): Promise<void> {
    const { keys, availability, clock } = this.#parts;
    const { model } = this.current;
    const problem = problems[failure.kind] ?? "failed";
    if (to === "next_key") {
      const before = keys.getName(model.provider);
      keys.useNext(model.provider);
      return await this.#report("key", `The key ${before} of ${model.provider} ${problem}: ${failure.message}`);
    }
    const next = this.#findNext();
    if (!next) return;
    const cooldownMs = getCooldownMs(failure);
    availability.coolModel(modelName(model), clock.monotonic() + cooldownMs);
    this.#failed.add(modelName(model));
    this.#fallback = next;
    const seconds = Math.ceil(cooldownMs / 1_000);
    const time = seconds === 0 ? "with the next prompt" : `after ${formatLimit(seconds * 1_000)}`;
    await this.#report("fallback", `${modelName(model)} ${problem}: ${failure.message} It is tried again ${time}.`);
  }

  /** Whether a virtual model is selected, so that each request is routed. */
  get isVirtual(): boolean {
    return this.#parts.registry.isVirtual(this.#parts.selected.mustHaveModel());
  }

  /** The branch of the session may be another one now. */
  forgetState(): void {
    this.#state = undefined;
  }

  /** Asks the selected virtual model for the model of the next request, and stores its state. */
  async route({ reason, messages, signal }: RequestToRoute): Promise<RouteOutcome> {
    const { selected, session } = this.#parts;
    const model = selected.mustHaveModel();
    const { provider, id: modelId } = model;
    const state = (this.#state ??= { value: await this.#readState(model) });
    const failure = reason === "retry" ? this.#lastFailure : undefined;
    const previous = this.#findPrevious(messages);
    const outcome = await routeRequest(this.#parts, {
      model,
      thinkingLevel: selected.getThinkingLevel(model),
      reason,
      ...(previous && { previous }),
      ...(failure?.route && { failed: { ...failure.route, message: structuredClone(failure.message) } }),
      ...(state.value !== undefined && { state: state.value }),
      messages,
      ...(signal && { signal }),
    });
    if (outcome.kind === "failed") {
      this.#routed = undefined;
      return outcome;
    }
    if (outcome.state !== undefined) {
      await session.appendCustomEntry(stateEntry, { provider, modelId, state: outcome.state });
      this.#state = { value: outcome.state };
    }
    const { use } = this;
    this.#routed = { model: outcome.model, thinkingLevel: outcome.thinkingLevel };
    const isSame =
      use?.provider === outcome.model.provider &&
      use.modelId === outcome.model.id &&
      use.thinkingLevel === outcome.thinkingLevel;
    if (!isSame) await this.#report("route", `${modelName(model)} chose ${modelName(outcome.model)}.`);
    return outcome;
  }

  #findPrevious(messages: readonly Message[]): { model: Model; thinkingLevel?: ThinkingLevel } | undefined {
    const answer = messages.findLast((message) => message.role === "assistant" && !isFailed(message));
    if (answer?.role !== "assistant") return undefined;
    const model = this.#parts.registry.find(answer.provider, answer.model);
    if (!model) return undefined;
    const isLast = this.#routed && modelsAreEqual(this.#routed.model, model);
    return isLast ? { ...this.#routed! } : { model };
  }

  async #readState({ provider, id }: Model): Promise<unknown> {
    const branch = await this.#parts.session.getBranch();
    const entry = branch.findLast((each) => {
      if (each.type !== "custom" || each.customType !== stateEntry) return false;
      const data = asRecord(each.data);
      return data["provider"] === provider && data["modelId"] === id;
    });
    return entry?.type === "custom" ? asRecord(entry.data)["state"] : undefined;
  }

  /** Writes what is used from now on into the log, then publishes it. */
  async #report(cause: ModelUse["cause"], why: string): Promise<void> {
    const { session, publisher, keys } = this.#parts;
    const { model, thinkingLevel } = this.current;
    const { provider, id: modelId } = model;
    const key = keys.getName(provider);
    const named = cause === "key" ? `The key ${key} of ${provider}` : modelName(model);
    const reason =
      cause === "route" ? why : `${why} ${named} is used ${cause === "restored" ? "again" : "instead"}.`.trimStart();
    const use: ModelUse = { provider, modelId, thinkingLevel, ...(key !== undefined && { key }), cause, reason };
    this.#use = use;
    await session.appendCustomEntry(customTypes.modelUsed, use);
    publisher.fact({ type: "model_used", ...use });
  }

  /** The next model of the chain that has not failed and can be used now. */
  #findNext(): ChainModel | undefined {
    const { model } = this.current;
    return this.#listChain().find(
      (each) =>
        !modelsAreEqual(each.model, model) && !this.#failed.has(modelName(each.model)) && !this.#isCooled(each.model),
    );
  }

  /** Lists the models that may be used instead of the selected one, in their order. */
  get chain(): readonly ChainModel[] {
    return this.#listChain();
  }

  /** The models of the chain that exist, have a key, and are not excluded. */
  #listChain(): ChainModel[] {
    const { getChains, registry, selected } = this.#parts;
    const chains = getChains();
    if (chains === undefined) return [];
    const model = selected.mustHaveModel();
    // Its own function decides what is used.
    if (registry.isVirtual(model)) return [];
    const isSelected = (written: string) => {
      const resolution = registry.resolve(written);
      return resolution.kind === "resolved" && modelsAreEqual(resolution.model, model);
    };
    const written = findChain(chains, { provider: model.provider, id: model.id, role: selected.role }, isSelected);
    return written.flatMap((each) => this.#resolve(each) ?? []);
  }

  #resolve(written: string): ChainModel | undefined {
    const { registry, getPatterns, noticeOnce } = this.#parts;
    const resolution = registry.resolve(written);
    const subject = `The model ${JSON.stringify(written)} of retry.fallbackChains`;
    if (resolution.kind !== "resolved") {
      noticeOnce("settings", `${subject} cannot be used. ${resolution.message}`);
      return undefined;
    }
    const { model, thinkingLevel, hasKey } = resolution;
    const patterns = getPatterns();
    if (patterns && !registry.scope(patterns).models.some((scoped) => modelsAreEqual(scoped.model, model))) {
      noticeOnce("settings", `${subject} is not used, because it is not one of the models to choose from.`);
      return undefined;
    }
    return hasKey ? { model, ...(thinkingLevel && { thinkingLevel }) } : undefined;
  }

  readonly #getUntilMs = ({ model }: ChainModel): number => this.#parts.availability.getModelUntilMs(modelName(model));

  #isCooled(model: Model): boolean {
    return this.#getUntilMs({ model }) > this.#parts.clock.monotonic();
  }
}
