/** The model of a session and its thinking level. */
import type { ThinkingLevel } from "@tau/agent";
import { clampThinkingLevel, type Model, parseThinkingLevel } from "@tau/ai";
import { describeUnlisted } from "@tau/ai/internal";
import type { ModelRegistry } from "@tau/config/models";
import type { ExtensionEvent, ExtensionHooks } from "@tau/extensions";
import { HarnessError } from "@tau/protocol";
import type { SessionContext } from "../session/context.ts";
import type { Session } from "../session/session.ts";

/** How a model was chosen, for extensions. */
export type ModelSource = ExtensionEvent<"model_select">["source"];

/** The model that a session begins with. */
export interface FirstModel {
  model: Model | undefined;
  /** The level that is wanted, also if the model does not support it. */
  thinkingLevel: ThinkingLevel;
  /** Why there is no model. */
  noModelReason: string;
  /** Why the model that the settings ask for cannot be used; undefined when it can, or none was asked for. */
  modelProblem: string | undefined;
}

type ModelListener = (model: Model, previous: Model | undefined) => void;

interface ModelChoiceParts {
  first: FirstModel;
  session: Session;
  registry: ModelRegistry;
  /** Adds a notice for the user. */
  notice: (code: string, message: string) => void;
  getExtensions: () => (ExtensionHooks & { readonly isStarted: boolean }) | undefined;
}

export class ModelChoice {
  readonly #parts: ModelChoiceParts;
  readonly #listeners = new Set<ModelListener>();
  #model: Model | undefined;
  /** Whether the model is one of the registry, not one that a program described itself. */
  #isListed: boolean;
  /** The level that was asked for last. A model that does not support it uses the nearest; the next model may support it. */
  #wantedLevel: ThinkingLevel;
  /** The model and level that the log has already, so that only changes are written. */
  #logged: { model: SessionContext["model"]; thinkingLevel: string | undefined } = {
    model: null,
    thinkingLevel: undefined,
  };

  constructor(parts: ModelChoiceParts) {
    this.#parts = parts;
    this.#model = parts.first.model;
    this.#isListed = this.#isInRegistry();
    this.#wantedLevel = parts.first.thinkingLevel;
  }

  get model(): Model | undefined {
    return this.#model;
  }

  /** The level that the model uses. */
  get thinkingLevel(): ThinkingLevel {
    return this.#model ? this.getThinkingLevel(this.#model) : this.#wantedLevel;
  }

  /** The level that a model uses: the one that is wanted, or the nearest that it supports. */
  getThinkingLevel(model: Model): ThinkingLevel {
    return clampThinkingLevel(model, this.#wantedLevel);
  }

  /** See `AgentSession.modelProblem`. */
  get problem(): string | undefined {
    return this.#model ? undefined : this.#parts.first.modelProblem;
  }

  /** Calls `listener` when another model is used, before extensions are notified. */
  onChange(listener: ModelListener): void {
    this.#listeners.add(listener);
  }

  /** Throws `no_model` while there is none. */
  mustHaveModel(): Model {
    if (this.#model) return this.#model;
    throw new HarnessError("no_model", this.#parts.first.noModelReason);
  }

  async setModel(model: Model | string, source: ModelSource): Promise<void> {
    const previousModel = this.#model;
    const { thinkingLevel: previousLevel } = this;
    const { model: chosen, thinkingLevel } = typeof model === "string" ? this.#resolve(model) : { model };
    this.#model = chosen;
    this.#isListed = this.#isInRegistry();
    this.#wantedLevel = thinkingLevel ?? this.#wantedLevel;
    for (const listener of this.#listeners) listener(chosen, previousModel);
    const unlisted = formatUnlisted(chosen);
    if (unlisted !== undefined) this.#parts.notice("model", unlisted);
    await this.remember();
    await this.#emitThinkingLevel(previousLevel);
    await this.#emit({ type: "model_select", model: chosen, previousModel, source });
  }

  /** Takes what the registry says of the model now: a login or another version of an extension may change its address. */
  followRegistry(): void {
    if (!this.#isListed || this.#isInRegistry()) return;
    const { provider, id } = this.#model!;
    const current = this.#parts.registry.find(provider, id);
    // An extension that is loaded again takes its models away for a moment.
    if (!current) return;
    const previous = this.#model;
    this.#model = current;
    for (const listener of this.#listeners) listener(current, previous);
  }

  async setThinkingLevel(level: string): Promise<void> {
    const parsed = parseThinkingLevel(level);
    if (!parsed) throw new HarnessError("invalid_input", `There is no thinking level ${JSON.stringify(level)}.`);
    const { thinkingLevel: previousLevel } = this;
    this.#wantedLevel = parsed;
    await this.remember();
    await this.#emitThinkingLevel(previousLevel);
  }

  /** Takes what the log says after it was read. */
  takeLogged({ model, thinkingLevel, hasThinkingLevel }: SessionContext): void {
    this.#logged = { model, thinkingLevel: hasThinkingLevel ? thinkingLevel : undefined };
  }

  /** Writes model and thinking level into the log where they changed. */
  async remember(): Promise<void> {
    const { session } = this.#parts;
    const model = this.#model;
    if (!model || session.readOnly) return;
    const { model: logged, thinkingLevel } = this.#logged;
    if (logged?.provider !== model.provider || logged.modelId !== model.id) {
      await session.appendModelChange(model.provider, model.id);
      this.#logged = { ...this.#logged, model: { provider: model.provider, modelId: model.id } };
    }
    if (thinkingLevel !== this.#wantedLevel) {
      await session.appendThinkingLevelChange(this.#wantedLevel);
      this.#logged = { ...this.#logged, thinkingLevel: this.#wantedLevel };
    }
  }

  #isInRegistry(): boolean {
    const model = this.#model;
    return model !== undefined && this.#parts.registry.find(model.provider, model.id) === model;
  }

  #resolve(spec: string): { model: Model; thinkingLevel?: ThinkingLevel } {
    const resolution = this.#parts.registry.resolve(spec);
    if (resolution.kind !== "resolved") throw new HarnessError("unknown_model", resolution.message);
    return resolution;
  }

  async #emitThinkingLevel(previousLevel: ThinkingLevel): Promise<void> {
    const { thinkingLevel: level } = this;
    if (level === previousLevel) return;
    await this.#emit({ type: "thinking_level_select", level, previousLevel });
  }

  /** `session_start` is the first event of a session: a choice before it is what the session starts with. */
  async #emit(event: ExtensionEvent<"model_select"> | ExtensionEvent<"thinking_level_select">): Promise<void> {
    const extensions = this.#parts.getExtensions();
    if (extensions?.isStarted) await extensions.emit(event);
  }
}

/** Returns the notice for a model that is not listed; undefined for any other model. */
export function formatUnlisted(model: Model): string | undefined {
  const description = describeUnlisted(model);
  if (model.isRetired) return description;
  return description && `${description} You can describe it in models.json.`;
}
