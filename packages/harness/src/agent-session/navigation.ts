/** Moves the leaf of a session to another entry, now or when a run is over. */
import { withoutUndefined } from "@tau/ai/internal";
import type { ExtensionHooks } from "@tau/extensions";
import type { SessionManager } from "../session/session-manager.ts";
import { navigate, type NavigateOptions, type NavigateParts } from "./navigate.ts";
import type { TreeMoves } from "./tree-moves.ts";

interface NavigationParts extends Omit<NavigateParts, "session" | "signal"> {
  session: SessionManager;
  moves: TreeMoves;
  getExtensions: () => ExtensionHooks | undefined;
  /** Called before the leaf moves: calls that wait for an answer get an outcome on the branch that is left. */
  beforeMove: () => Promise<void>;
  /** Called when the leaf is another entry: what was read of the log is out of date. */
  afterMove: () => Promise<void>;
  /** Loads the features whose results the new branch has. They need no event: they start with the new branch. */
  loadFeatures: () => Promise<void>;
}

export class Navigation {
  readonly #parts: NavigationParts;

  constructor(parts: NavigationParts) {
    this.#parts = parts;
  }

  /** `entryId` null: before the first entry. Not during a run. False when an extension cancelled it. */
  async navigate(entryId: string | null, options: NavigateOptions, signal: AbortSignal): Promise<boolean> {
    const { session, beforeMove, afterMove, loadFeatures } = this.#parts;
    const extensions = this.#parts.getExtensions();
    const oldLeafId = session.getLeafId();
    const decided = await this.#askExtensions(entryId, options, signal);
    if (decided === "cancelled") return false;
    await beforeMove();
    await navigate({ ...this.#parts, signal }, entryId, decided);
    await afterMove();
    if (extensions?.has("session_tree")) {
      const newLeafId = session.getLeafId();
      const leaf = newLeafId === null ? undefined : await session.getEntry(newLeafId);
      const summary = leaf?.type === "branch_summary" ? { summaryEntry: leaf } : {};
      const fromExtension = decided.summary !== undefined;
      await extensions.emit({ type: "session_tree", newLeafId, oldLeafId, fromExtension, ...summary });
    }
    await loadFeatures();
    return true;
  }

  /** Handlers may cancel the move, write the summary themselves, or change how it is written. */
  async #askExtensions(
    targetId: string | null,
    options: NavigateOptions,
    signal: AbortSignal,
  ): Promise<NavigateOptions | "cancelled"> {
    const { session } = this.#parts;
    const extensions = this.#parts.getExtensions();
    if (!extensions?.has("session_before_tree")) return options;
    const oldBranch = await session.getBranch();
    const newIds = new Set((targetId === null ? [] : await session.getBranch(targetId)).map(({ id }) => id));
    const common = oldBranch.findLastIndex(({ id }) => newIds.has(id));
    const answer = await extensions.emit({
      type: "session_before_tree",
      preparation: {
        targetId: targetId ?? "",
        oldLeafId: session.getLeafId(),
        commonAncestorId: oldBranch[common]?.id ?? null,
        entriesToSummarize: oldBranch.slice(common + 1),
        userWantsSummary: options.summarise ?? false,
        ...withoutUndefined({ customInstructions: options.instructions, label: options.label }),
      },
      signal,
    });
    if (answer?.cancel) return "cancelled";
    const { summary, customInstructions, replaceInstructions, label } = answer ?? {};
    return {
      ...options,
      ...withoutUndefined({ summary, instructions: customInstructions, replaceInstructions, label }),
    };
  }

  /** Moves to the entry that the model asked for during the run, if it did. */
  async navigatePlanned(signal: AbortSignal): Promise<void> {
    const entryId = this.#parts.moves.takePlanned();
    if (entryId !== undefined) await this.navigate(entryId, {}, signal);
  }
}
