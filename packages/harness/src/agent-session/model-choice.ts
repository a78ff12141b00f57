/** The model of a session and its thinking level. */
import type { ThinkingLevel } from "@tau/agent";
import { clampThinkingLevel, type Model, modelsAreEqual, parseThinkingLevel } from "@tau/ai";
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
  /** The role that it was chosen by. Undefined if a model was named, or none was. */
  role: string | undefined;
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

/** A model that was named, in any form. */
export interface NamedModel {
  model: Model;
  /** Absent if the name has none. */
  thinkingLevel?: ThinkingLevel;
  /** The role that was named. */
  role?: string;
}

export class ModelChoice {
  readonly #parts: ModelChoiceParts;
  readonly #listeners = new Set<ModelListener>();
  #model: Model | undefined;
  /** The role that the model was chosen by. */
  #role: string | undefined;
  /** The last model that was not chosen by a role: the default of this session. */
  #default: Model | undefined;
  /** Used instead of the model until the run is over. */
  #forRun: NamedModel | undefined;
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
    this.#role = parts.first.role;
    this.#default = this.#role === undefined ? this.#model : undefined;
    this.#isListed = this.#isInRegistry();
    this.#wantedLevel = parts.first.thinkingLevel;
  }

  get model(): Model | undefined {
    return this.#forRun?.model ?? this.#model;
  }

  /** The role that the model was chosen by. */
  get role(): string | undefined {
    return this.#forRun ? this.#forRun.role : this.#role;
  }

  /** The level that the model uses. */
  get thinkingLevel(): ThinkingLevel {
    const { model } = this;
    return model ? this.getThinkingLevel(model) : this.#wantedLevel;
  }

  /** The level that a model uses: the one that is wanted, or the nearest that it supports. */
  getThinkingLevel(model: Model): ThinkingLevel {
    return clampThinkingLevel(model, this.#forRun?.thinkingLevel ?? this.#wantedLevel);
  }

  /** See `AgentSession.modelProblem`. */
  get problem(): string | undefined {
    return this.#model ? undefined : this.#parts.first.modelProblem;
  }

  /** Finds the model that a text names. A role without a model is the model that was chosen otherwise. Throws `unknown_model`. */
  resolve(spec: string): NamedModel {
    const resolution = this.#parts.registry.resolve(spec);
    if (resolution.kind !== "resolved") throw new HarnessError("unknown_model", resolution.message);
    const { model, thinkingLevel, role, isDefault = false } = resolution;
    const own = isDefault ? this.#default : undefined;
    return {
      model: own ?? model,
      // The level of the role `default` belongs to its model, and not to this one.
      ...(thinkingLevel !== undefined && (!own || spec.includes(":")) && { thinkingLevel }),
      ...(role !== undefined && { role }),
    };
  }

  /** Calls `listener` when another model is used, before extensions are notified. */
  onChange(listener: ModelListener): void {
    this.#listeners.add(listener);
  }

  /** Throws `no_model` while there is none. */
  mustHaveModel(): Model {
    const { model } = this;
    if (model) return model;
    throw new HarnessError("no_model", this.#parts.first.noModelReason);
  }

  async setModel(model: Model | string, source: ModelSource): Promise<void> {
    const { model: previousModel, thinkingLevel: previousLevel } = this;
    const named: NamedModel = typeof model === "string" ? this.resolve(model) : { model };
    const { model: chosen, thinkingLevel, role } = named;
    this.#forRun = undefined;
    this.#model = chosen;
    this.#role = role;
    if (role === undefined) this.#default = chosen;
    this.#isListed = this.#isInRegistry();
    this.#wantedLevel = thinkingLevel ?? this.#wantedLevel;
    for (const listener of this.#listeners) listener(chosen, previousModel);
    const unlisted = formatUnlisted(chosen);
    if (unlisted !== undefined) this.#parts.notice("model", unlisted);
    await this.remember();
    await this.#emitThinkingLevel(previousLevel);
    await this.#emit({ type: "model_select", model: chosen, previousModel, source });
  }

  /**
   * Uses a role for the rest of the run. Resolves to whether that changes anything. Throws `unknown_model` for a role that has
   * none. A model that is chosen meanwhile takes its place.
   */
  async useForRun(role: string, reason: string): Promise<boolean> {
    const { model: previousModel, thinkingLevel: previousLevel } = this;
    const named = this.resolve(`@${role}`);
    const level = clampThinkingLevel(named.model, named.thinkingLevel ?? this.#wantedLevel);
    if (previousModel && modelsAreEqual(named.model, previousModel) && level === previousLevel) return false;
    // The log has to say what the session returns to, also if the program ends before the run.
    await this.remember();
    this.#forRun = named;
    await this.#announce(previousModel, previousLevel, reason);
    return true;
  }

  /** Returns to the model from before the run, if another one was used for it. */
  endRun(): Promise<void> | undefined {
    if (!this.#forRun) return undefined;
    const { model: previousModel, thinkingLevel: previousLevel } = this;
    const { role } = this.#forRun;
    this.#forRun = undefined;
    return this.#announce(previousModel, previousLevel, `The run with the role ${role} is over.`);
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
    if (this.#forRun) this.#forRun = { ...this.#forRun, thinkingLevel: parsed };
    await this.remember();
    await this.#emitThinkingLevel(previousLevel);
  }

  /** Takes what the log says after it was read. */
  takeLogged({ model, thinkingLevel, hasThinkingLevel }: SessionContext): void {
    this.#logged = { model, thinkingLevel: hasThinkingLevel ? thinkingLevel : undefined };
  }

  /** Writes model and thinking level into the log where they changed. `reason` is there if nobody chose the model. */
  async remember(reason?: string): Promise<void> {
    const { session } = this.#parts;
    const { model, role } = this;
    if (!model || session.readOnly) return;
    const { model: logged, thinkingLevel } = this.#logged;
    if (logged?.provider !== model.provider || logged.modelId !== model.id || logged.role !== role) {
      const ofRole = role === undefined ? {} : { role };
      await session.appendModelChange(model.provider, model.id, {
        ...ofRole,
        ...(reason !== undefined && { reason }),
        ...(this.#forRun && { forRun: true }),
      });
      this.#logged = { ...this.#logged, model: { provider: model.provider, modelId: model.id, ...ofRole } };
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

  async #announce(previousModel: Model | undefined, previousLevel: ThinkingLevel, reason: string): Promise<void> {
    const { model } = this;
    if (model) for (const listener of this.#listeners) listener(model, previousModel);
    await this.remember(reason);
    await this.#emitThinkingLevel(previousLevel);
    if (model) await this.#emit({ type: "model_select", model, previousModel, source: "set" });
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
