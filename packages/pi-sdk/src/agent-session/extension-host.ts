/** Connects extensions to their session: what they can do to it, what the program gives to them, and reloading them. */
import type { Agent } from "@tau/agent";
import type { ExtensionContext, ExtensionUi } from "@tau/extensions";
import type { CommandActions } from "../extensions/extension.ts";
import type { ExtensionError } from "../extensions/runner.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { ActiveTools } from "./active-tools.ts";
import type { CurrentRunner } from "./current-runner.ts";
import { toExtendedPaths } from "./discovered-paths.ts";
import { type ActionParts, createActions, createContextActions } from "./extension-actions.ts";
import type { ModelChoice } from "./model-choice.ts";
import type { ResourceSource } from "./resource-source.ts";
import type { SessionStartEvent } from "./types.ts";

/** Handlers and interface that a program gives to its extensions. */
export interface ExtensionBindings {
  uiContext?: ExtensionUi;
  mode?: ExtensionContext["mode"];
  commandContextActions?: CommandActions;
  /** In place of the session's own `abort`. */
  abortHandler?: () => void;
  shutdownHandler?: () => void;
  onError?: (error: ExtensionError) => void;
}

interface HostParts {
  agent: Agent;
  cwd: string;
  settingsManager: SettingsManager;
  resourceLoader: ResourceSource;
  extensions: CurrentRunner;
  models: ModelChoice;
  tools: ActiveTools;
  startEvent: SessionStartEvent;
  /** For what extensions do to the session. */
  actions: ActionParts;
}

export class ExtensionHost {
  readonly #parts: HostParts;
  /** Undefined until extensions were bound: only then do they learn of the session's start. */
  #bindings: ExtensionBindings | undefined;

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#connect();
  }

  /** Starts the extensions. What an earlier call bound stays unless it is given again. */
  async bind(bindings: ExtensionBindings): Promise<void> {
    this.#bindings = { ...this.#bindings, ...bindings };
    this.#applyBindings();
    await this.#start(this.#parts.startEvent);
  }

  async reload(): Promise<void> {
    const { settingsManager, resourceLoader, extensions, tools } = this.#parts;
    const previous = extensions.runner;
    await previous.emit({ type: "session_shutdown", reason: "reload" });
    const flagValues = previous.getFlagValues();
    previous.invalidate();
    await settingsManager.reload?.();
    await resourceLoader.reload();
    const active = tools.names;
    const runner = extensions.replace();
    this.#connect();
    for (const [name, value] of flagValues) runner.setFlagValue(name, value);
    tools.activateAgain(active);
    if (this.#bindings) await this.#start({ type: "session_start", reason: "reload" });
  }

  /** Gives the current runner the session to act on. */
  #connect(): void {
    const { extensions, models, tools, actions } = this.#parts;
    const { runner } = extensions;
    tools.refresh(runner);
    const context = createContextActions(actions, () => this.#bindings ?? {});
    runner.bindCore(createActions(actions), context, () => models.refresh());
    runner.onError((error) => this.#bindings?.onError?.(error));
    this.#applyBindings();
  }

  #applyBindings(): void {
    const { runner } = this.#parts.extensions;
    runner.setUIContext(this.#bindings?.uiContext, this.#bindings?.mode);
    runner.bindCommandContext(this.#bindings?.commandContextActions);
  }

  async #start(event: SessionStartEvent): Promise<void> {
    const { agent, cwd, resourceLoader, extensions, tools } = this.#parts;
    await extensions.runner.emit({ ...event });
    if (!extensions.runner.hasHandlers("resources_discover")) return;
    const reason = event.reason === "reload" ? "reload" : "startup";
    const discovered = await extensions.runner.emitResourcesDiscover(cwd, reason);
    resourceLoader.extendResources?.(toExtendedPaths(discovered, cwd));
    agent.setSystemPrompt(tools.buildPrompt());
  }
}
