/** Replaces the beginning of the context by a summary. */
import type { Agent } from "@tau/agent";
import type { Listeners } from "@tau/ai/internal";
import { getErrorMessage } from "@tau/ai/internal";
import {
  type CompactionResult,
  hasMessages,
  prepareAnyCompaction,
  type SessionManager,
  summarizePreparation,
} from "@tau/pi/internal";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { Activity } from "./activity.ts";
import type { CurrentRunner } from "./current-runner.ts";
import type { ModelChoice } from "./model-choice.ts";
import { reloadMessages } from "./reload-messages.ts";
import type { AgentSessionEvent, CompactionEnd, CompactionReason } from "./types.ts";

interface CompactorParts {
  agent: Agent;
  sessionManager: SessionManager;
  settingsManager: SettingsManager;
  models: ModelChoice;
  extensions: CurrentRunner;
  activity: Activity;
  listeners: Listeners<AgentSessionEvent>;
}

export class Compactor {
  readonly #parts: CompactorParts;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  /** Compacts because somebody asked for it. Rejects if there is nothing to compact. */
  async compact(customInstructions: string | undefined): Promise<CompactionResult> {
    this.#parts.listeners.emit({ type: "compaction_start", reason: "manual" });
    try {
      const result = await this.#compactNow(customInstructions);
      if (!result) throw new Error(this.#describeNothing());
      this.end("manual", { result });
      return result;
    } catch (error) {
      this.end("manual", describeFailure(error, "Compaction failed"));
      throw error;
    }
  }

  /** Compacts by itself. False if it failed, or if there was nothing to compact. */
  async tryCompact(reason: "overflow" | "threshold", willRetry: boolean): Promise<boolean> {
    this.#parts.listeners.emit({ type: "auto_compaction_start", reason });
    this.#parts.listeners.emit({ type: "compaction_start", reason });
    try {
      const result = await this.#compactNow();
      this.end(reason, { result, willRetry: willRetry && result !== undefined });
      return result !== undefined;
    } catch (error) {
      const prefix = reason === "overflow" ? "Context overflow recovery failed" : "Auto-compaction failed";
      this.end(reason, describeFailure(error, prefix));
      return false;
    }
  }

  /** Reports to listeners how a compaction ended. */
  end(reason: CompactionReason, fields: Partial<CompactionEnd>): void {
    const { listeners } = this.#parts;
    const end: CompactionEnd = { result: undefined, aborted: false, willRetry: false, ...fields };
    if (reason !== "manual") listeners.emit({ type: "auto_compaction_end", ...end });
    listeners.emit({ type: "compaction_end", reason, ...end });
  }

  #describeNothing(): string {
    const isCompacted = this.#parts.sessionManager.getBranch().at(-1)?.type === "compaction";
    return isCompacted ? "Already compacted" : "Nothing to compact (session too small)";
  }

  /** Undefined if there is nothing to compact. */
  async #compactNow(customInstructions?: string): Promise<CompactionResult | undefined> {
    const { agent, sessionManager, settingsManager, models, extensions, activity } = this.#parts;
    const model = models.require();
    const apiKey = await models.requireApiKey(model);
    const branchEntries = sessionManager.getBranch();
    const preparation = prepareAnyCompaction(branchEntries, settingsManager.getCompactionSettings());
    if (!preparation) return undefined;
    return await activity.during("compacting", async (signal) => {
      const event = { preparation, branchEntries, customInstructions, signal };
      const verdict = await extensions.runner.emit({ type: "session_before_compact", ...event });
      if (verdict?.["cancel"]) throw new Error("Compaction cancelled");
      const provided = verdict?.["compaction"] as CompactionResult | undefined;
      if (!provided && !hasMessages(preparation)) return undefined;
      const instructions = customInstructions;
      const result =
        provided ??
        (await summarizePreparation(preparation, { model, apiKey, instructions, signal, streamFn: agent.streamFn }));
      if (signal.aborted) throw new Error("Compaction cancelled");
      const { summary, firstKeptEntryId, tokensBefore, details, usage } = result;
      const fromExtension = provided !== undefined;
      const id = sessionManager.appendCompaction(
        summary,
        firstKeptEntryId,
        tokensBefore,
        details,
        fromExtension,
        usage,
      );
      reloadMessages(agent, sessionManager);
      const compactionEntry = sessionManager.getEntry(id);
      await extensions.runner.emit({ type: "session_compact", compactionEntry, fromExtension });
      return result;
    });
  }
}

function describeFailure(error: unknown, prefix: string): Partial<CompactionEnd> {
  const message = getErrorMessage(error);
  return message === "Compaction cancelled" ? { aborted: true } : { errorMessage: `${prefix}: ${message}` };
}
