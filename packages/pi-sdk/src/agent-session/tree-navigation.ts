/** Moves a session to another entry of its tree, with a summary of the branch that is left if one is wanted. */
import type { Agent } from "@tau/agent";
import type { Usage } from "@tau/ai";
import {
  type BranchSummaryOptions,
  collectEntriesForBranchSummary,
  contentText,
  generateBranchSummary,
  type SessionManager,
} from "@tau/pi/internal";
import type { SessionEntry } from "@tau/protocol";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { Activity } from "./activity.ts";
import type { CurrentRunner } from "./current-runner.ts";
import type { ModelChoice } from "./model-choice.ts";
import { reloadMessages } from "./reload-messages.ts";

export interface NavigateOptions {
  summarize?: boolean;
  customInstructions?: string;
  replaceInstructions?: boolean;
  label?: string;
}

export interface NavigateResult {
  editorText?: string;
  cancelled: boolean;
  aborted?: boolean;
  summaryEntry?: unknown;
}

interface NavigationParts {
  agent: Agent;
  sessionManager: SessionManager;
  settingsManager: SettingsManager;
  modelRegistry: ModelRegistry;
  models: ModelChoice;
  extensions: CurrentRunner;
  activity: Activity;
}

type SummaryInstructions = Pick<BranchSummaryOptions, "customInstructions" | "replaceInstructions">;

/** The summary of a branch, by a model or by an extension. */
interface NewBranchSummary {
  summary: string;
  details?: unknown;
  usage?: Usage | undefined;
}

/** The answer of extensions before a session moves. */
interface TreeVerdict extends SummaryInstructions {
  cancel?: boolean;
  label?: string;
  summary?: NewBranchSummary;
}

export class TreeNavigation {
  readonly #parts: NavigationParts;

  constructor(parts: NavigationParts) {
    this.#parts = parts;
  }

  async navigate(targetId: string, options: NavigateOptions): Promise<NavigateResult> {
    const { agent, sessionManager: session, extensions } = this.#parts;
    const target = session.getEntry(targetId);
    if (!target) throw new Error(`Entry ${targetId} not found`);
    const oldLeafId = session.getLeafId();
    if (oldLeafId === targetId) return { cancelled: false };
    const { entries, commonAncestorId } = collectEntriesForBranchSummary(session, oldLeafId, targetId);
    const { summarize = false, customInstructions, replaceInstructions } = options;
    const verdict = await this.#askExtensions({
      targetId,
      oldLeafId,
      commonAncestorId,
      entriesToSummarize: entries,
      userWantsSummary: summarize,
      customInstructions,
      replaceInstructions,
      label: options.label,
    });
    if (verdict.cancel) return { cancelled: true };
    const editorText = getEditableText(target);
    const newLeafId = editorText === undefined ? targetId : target.parentId;
    let summaryId: string | undefined;
    if (summarize && entries.length > 0) {
      const summary = verdict.summary ?? (await this.#summarize(entries, { ...options, ...verdict }));
      if (!summary) return { cancelled: true, aborted: true };
      const { details, usage } = summary;
      const isFromExtension = verdict.summary !== undefined;
      summaryId = session.branchWithSummary(newLeafId, summary.summary, details, isFromExtension, usage);
    } else if (newLeafId === null) session.resetLeaf();
    else session.branch(newLeafId);
    const label = verdict.label ?? options.label;
    if (label !== undefined) session.appendLabelChange(summaryId ?? targetId, label);
    reloadMessages(agent, session);
    const summaryEntry = summaryId === undefined ? undefined : session.getEntry(summaryId);
    const fromExtension = summaryEntry ? verdict.summary !== undefined : undefined;
    const newLeaf = session.getLeafId();
    await extensions.runner.emit({ type: "session_tree", newLeafId: newLeaf, oldLeafId, summaryEntry, fromExtension });
    return { cancelled: false, ...(editorText !== undefined && { editorText }), ...(summaryEntry && { summaryEntry }) };
  }

  /** Fields that extensions leave out are not in the answer. */
  async #askExtensions(preparation: object): Promise<TreeVerdict> {
    const signal = new AbortController().signal;
    const event = { type: "session_before_tree", preparation, signal };
    const verdict = (await this.#parts.extensions.runner.emit(event)) ?? {};
    const fields = Object.entries(verdict).filter(([, value]) => value !== undefined && value !== null);
    return Object.fromEntries(fields) as TreeVerdict;
  }

  /** Undefined if it was aborted. */
  async #summarize(
    entries: Parameters<typeof generateBranchSummary>[0],
    { customInstructions, replaceInstructions }: SummaryInstructions,
  ): Promise<NewBranchSummary | undefined> {
    const { agent, settingsManager, modelRegistry, models, activity } = this.#parts;
    const model = models.require();
    const apiKey = await modelRegistry.getApiKey(model);
    const { reserveTokens } = settingsManager.getBranchSummarySettings();
    const result = await activity.during("summarizing", (signal) =>
      generateBranchSummary(entries, {
        model,
        apiKey,
        signal,
        streamFn: agent.streamFn,
        reserveTokens,
        ...(customInstructions !== undefined && { customInstructions }),
        ...(replaceInstructions !== undefined && { replaceInstructions }),
      }),
    );
    if (result.error !== undefined) throw new Error(result.error);
    const { summary, readFiles = [], modifiedFiles = [], usage } = result;
    return summary === undefined ? undefined : { summary, details: { readFiles, modifiedFiles }, usage };
  }
}

/** The text of a message that is written anew: one of the user or of an extension. */
function getEditableText(entry: SessionEntry): string | undefined {
  if (entry.type === "custom_message") return contentText(entry.content, "");
  return entry.type === "message" && entry.message.role === "user" ? contentText(entry.message.content) : undefined;
}
