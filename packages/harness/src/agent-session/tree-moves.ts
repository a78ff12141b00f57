/** Moves in the tree of a session: to another entry, now or when a run is over, and to a session of its own. */
import { withoutUndefined } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import type { ExtensionHooks } from "@tau/extensions";
import type { SessionManager } from "../session/session-manager.ts";
import { navigate, type NavigateOptions, type NavigateParts } from "./navigate.ts";
import type { Publisher } from "./publisher.ts";

export interface TreeMovesParts extends Omit<NavigateParts, "session" | "signal"> {
  session: SessionManager;
  publisher: Publisher;
  getExtensions: () => ExtensionHooks | undefined;
  /** The leaf is another entry: what was read of the log no longer counts. */
  afterMove: () => Promise<void>;
}

export class TreeMoves {
  readonly #parts: TreeMovesParts;
  /** Where the model asked to go when the run is over. */
  #planned: string | undefined;

  constructor(parts: TreeMovesParts) {
    this.#parts = parts;
  }

  /** A log of its own that continues from an entry. Publishes `session_branched`. */
  async branchOff(entryId: string): Promise<SessionManager> {
    const { session, publisher } = this.#parts;
    const branched = await session.branchSession(session.id, entryId);
    publisher.fact({ type: "session_branched", branchId: branched.id, branchPoint: entryId });
    return branched;
  }

  /** The same from the entry before the answer with a call: a branch from there has no call without a result. */
  async branchOffBefore(toolCallId: string): Promise<SessionManager> {
    const branch = await this.#parts.session.getBranch();
    const answer = branch.findLast(
      (entry) =>
        entry.type === "message" &&
        entry.message.role === "assistant" &&
        entry.message.content.some((block) => block.type === "toolCall" && block.id === toolCallId),
    );
    return await this.branchOff(answer?.parentId ?? "");
  }

  /** `entryId` null: before the first entry. Not during a run. False when an extension cancelled it. */
  async navigate(entryId: string | null, options: NavigateOptions, signal: AbortSignal): Promise<boolean> {
    const { session, afterMove } = this.#parts;
    const extensions = this.#parts.getExtensions();
    const oldLeafId = session.getLeafId();
    const decided = await this.#askExtensions(entryId, options, signal);
    if (decided === "cancelled") return false;
    await navigate({ ...this.#parts, signal }, entryId, decided);
    await afterMove();
    if (extensions?.has("session_tree")) {
      const newLeafId = session.getLeafId();
      const leaf = newLeafId === null ? undefined : await session.getEntry(newLeafId);
      const summary = leaf?.type === "branch_summary" ? { summaryEntry: leaf } : {};
      const fromExtension = decided.summary !== undefined;
      await extensions.emit({ type: "session_tree", newLeafId, oldLeafId, fromExtension, ...summary });
    }
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

  /** Goes there when the run is over. Throws `unknown_entry`. */
  async plan(entryId: string): Promise<void> {
    if (!(await this.#parts.session.getEntry(entryId))) {
      throw new HarnessError("unknown_entry", `The session has no entry ${JSON.stringify(entryId)}.`);
    }
    this.#planned = entryId;
  }

  /** Goes where `plan` said last, if it was called since. */
  async navigatePlanned(signal: AbortSignal): Promise<void> {
    const entryId = this.#planned;
    this.#planned = undefined;
    if (entryId !== undefined) await this.navigate(entryId, {}, signal);
  }
}
