/** The part of a session that can be read without changing it. */
import type { AgentMessage, AgentTool, ThinkingLevel } from "@tau/agent";
import type { Model } from "@tau/ai";
import {
  type LifecycleEvent,
  type PermissionData,
  type QueuedMessage,
  type SessionEvent,
  type SlashCommandData,
  type ModelUse,
} from "@tau/protocol";
import type { Jobs } from "@tau/tools";
import type { AuthStorage } from "@tau/config/auth";
import type { ModelRegistry } from "@tau/config/models";
import type { ResourceLoader } from "@tau/config/resources";
import type { Settings, SettingsManager } from "@tau/config/settings";
import { adaptTool, type PipelineTool } from "@tau/extensions/internal";
import type { SessionExtensions } from "@tau/extensions";
import type { JudgeParts, PolicyReport } from "@tau/policy/internal";
import type { AgentSessionEvent } from "../run/publisher.ts";
import { type TranscriptMessage, withIds } from "../session/message-ids.ts";
import type { ReadOnly } from "../session/read-only.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { getCacheHitRate, getContextUse, type SessionStats } from "../session/stats.ts";
import type { NamedModel } from "./model-choice.ts";
import type { Notice } from "./notices.ts";
import { type SessionCore } from "./session-core.ts";
import type { SessionParts } from "./session-parts.ts";

export class SessionState {
  readonly #parts: SessionParts;
  readonly #core: SessionCore;

  constructor(parts: SessionParts, core: SessionCore) {
    this.#parts = parts;
    this.#core = core;
  }

  get sessionId(): string {
    return this.#parts.sessionManager.id;
  }

  get sessionFile(): string | undefined {
    return this.#parts.sessionManager.getSessionFile();
  }

  /** Where commands run and relative paths begin. */
  get cwd(): string {
    return this.#parts.cwd;
  }

  /** The directories besides `cwd` in which tools may read and write without a question. Real paths. */
  get addedDirectories(): readonly string[] {
    return this.#parts.roots.added;
  }

  get sessionManager(): SessionManager {
    return this.#parts.sessionManager;
  }

  get settingsManager(): SettingsManager {
    return this.#parts.services.settings;
  }

  get modelRegistry(): ModelRegistry {
    return this.#parts.services.registry;
  }

  get authStorage(): AuthStorage {
    return this.#parts.services.auth;
  }

  get resourceLoader(): ResourceLoader {
    return this.#parts.services.resources;
  }

  /** Undefined without extensions. */
  get extensions(): SessionExtensions | undefined {
    return this.#parts.extensions.current;
  }

  /** Whether a text begins with a slash command of an extension or a feature. */
  isExtensionCommand(text: string): boolean {
    return this.#parts.features.isCommand(text) || (this.extensions?.isCommand(text) ?? false);
  }

  /** Lists the commands of extensions and features. */
  describeExtensionCommands(): SlashCommandData[] {
    return [...(this.extensions?.describeCommands() ?? []), ...this.#parts.features.describeCommands()];
  }

  /** The judge of calls, for isolated extensions. */
  get judgeParts(): JudgeParts {
    return this.#core.judge.parts;
  }

  /** How long answers to questions of the policy were waited for, all in all, in milliseconds. */
  get approvalWaitMs(): number {
    return this.#core.judge.waits.waitedMs;
  }

  /** All built-in tools, shown or not. */
  get knownTools(): readonly AgentTool[] {
    return Object.values(this.#parts.tools.builtIn).map(adaptTool);
  }

  /** Built-in tools that only the tools of features can call. */
  get internalTools(): readonly PipelineTool[] {
    return this.#parts.tools.internal;
  }

  /** Undefined as long as no model can be used. */
  get model(): Model | undefined {
    return this.#core.model.model;
  }

  /** Why the model that the settings ask for cannot be used; undefined when it can, or none was asked for. */
  get modelProblem(): string | undefined {
    return this.#core.model.problem;
  }

  /** The policy and the sandbox as surfaces show them. */
  get policy(): PolicyReport {
    return this.#parts.policy.report;
  }

  /** How much the session does without a question. */
  get permissions(): PermissionData {
    return this.policy.permissions;
  }

  /** Commands of the model that outlive the calls that started them. */
  get jobs(): Jobs {
    return this.#parts.jobs;
  }

  /** The role that the model was chosen by, such as `slow`. Undefined if a model was named. */
  get role(): string | undefined {
    return this.#core.model.role;
  }

  /**
   * Finds the model that a text names, such as `provider/id:thinking` or `@role`. A role without a model is the model that was
   * chosen otherwise. Throws `unknown_model`.
   */
  resolveModel(name: string): NamedModel {
    return this.#core.model.resolve(name);
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#core.model.thinkingLevel;
  }

  /** The settings as this session follows them. */
  get settings(): Settings {
    return this.#core.settings.get();
  }

  /** The messages of the conversation that the model is sent. */
  get messages(): readonly AgentMessage[] {
    return this.#core.transcript.messages;
  }

  /** The messages, each with the id of its entry. */
  get transcript(): readonly TranscriptMessage[] {
    return withIds(this.messages);
  }

  /** Why the session cannot be written; undefined when it can. */
  get readOnly(): ReadOnly | undefined {
    return this.#parts.sessionManager.readOnly;
  }

  /** The model and key that requests use, and why, if those have changed since the model was selected. */
  get modelUse(): ModelUse | undefined {
    return this.#core.used.use;
  }

  /** Lists the models of `retry.fallbackChains` that may be used instead of the selected one, in their order. */
  get fallbackModels(): readonly { model: Model; thinkingLevel?: ThinkingLevel }[] {
    return this.#core.used.chain;
  }

  /** Patterns of the models to choose from. Undefined for all. */
  get modelPatterns(): readonly string[] | undefined {
    return this.#parts.modelPatterns ?? this.settings.enabledModels;
  }

  /** The queued messages, oldest first. */
  get queue(): { steering: QueuedMessage[]; followUps: QueuedMessage[] } {
    const { inbox } = this.#core;
    return { steering: inbox.list("steer"), followUps: inbox.list("followUp") };
  }

  /** Notices for the user, the latest last; also those from before anyone listened. */
  get notices(): readonly Notice[] {
    return this.#core.notices.list;
  }

  /** The engine's own events and the facts of the session. Listeners are not waited for. */
  subscribe(listener: (event: AgentSessionEvent) => void): () => void {
    return this.#core.publisher.onEngineEvent(listener);
  }

  /** The eleven events of a run's life. */
  onEvent(listener: (event: LifecycleEvent) => void): () => void {
    return this.#core.publisher.onLifecycleEvent(listener);
  }

  /** Everything that a surface draws: see `reduce` of `@tau/protocol`. */
  onSessionEvent(listener: (event: SessionEvent) => void): () => void {
    return this.#core.publisher.onSessionEvent(listener);
  }

  /** Another session of the same host has started this one, and ends it. */
  get isChild(): boolean {
    return this.#parts.parent !== undefined;
  }

  /** Tokens, cost, cache hits and how full the context is. */
  async stats(): Promise<SessionStats> {
    const { model, sessionId } = this;
    const totals = await this.sessionManager.getTotals();
    const contextUse = model && getContextUse(this.#core.transcript.tokens, model.contextWindow);
    return { ...totals, sessionId, cacheHitRate: getCacheHitRate(totals), contextUse };
  }
}
