/** The settings as one session follows them. */
import type { QueueMode } from "@tau/agent";
import type { Settings, SettingsManager } from "@tau/config/settings";
import type { BudgetLimits } from "../budget/budget.ts";

/** Where one session departs from the settings, until it ends. */
export interface SessionOverrides {
  autoCompaction?: boolean;
  autoRetry?: boolean;
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
  /** Limits for each run, besides those of the settings. */
  budgets?: BudgetLimits;
}

type Execution = Settings["tools"]["execution"];

export class SessionSettings {
  readonly #manager: SettingsManager;
  /** Departs from the setting `tools.execution`. */
  readonly #execution: Execution | undefined;
  #overrides: SessionOverrides = {};

  constructor(manager: SettingsManager, execution: Execution | undefined) {
    this.#manager = manager;
    this.#execution = execution;
  }

  get overrides(): SessionOverrides {
    return this.#overrides;
  }

  override(changes: SessionOverrides): void {
    this.#overrides = { ...this.#overrides, ...changes };
  }

  get(): Settings {
    const settings = this.#manager.get();
    const { autoCompaction, autoRetry, steeringMode, followUpMode } = this.#overrides;
    const execution = this.#execution;
    const isOverridden = [autoCompaction, autoRetry, steeringMode, followUpMode, execution].some(
      (value) => value !== undefined,
    );
    // Read several times a turn.
    if (!isOverridden) return settings;
    return {
      ...settings,
      ...(autoCompaction !== undefined && { compaction: { ...settings.compaction, enabled: autoCompaction } }),
      ...(autoRetry !== undefined && { retry: { ...settings.retry, enabled: autoRetry } }),
      ...(steeringMode !== undefined && { steeringMode }),
      ...(followUpMode !== undefined && { followUpMode }),
      ...(execution !== undefined && { tools: { ...settings.tools, execution } }),
    };
  }
}
