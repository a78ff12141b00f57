/** Moves in the tree of a session: to another entry, now or when a run is over, and to a session of its own. */
import { HarnessError } from "../errors.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { navigate, type NavigateOptions, type NavigateParts } from "./navigate.ts";
import type { Publisher } from "./publisher.ts";

export interface TreeMovesParts extends Omit<NavigateParts, "session" | "signal"> {
  session: SessionManager;
  publisher: Publisher;
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

  /** `entryId` null: before the first entry. Not during a run. */
  async navigate(entryId: string | null, options: NavigateOptions, signal: AbortSignal): Promise<void> {
    await navigate({ ...this.#parts, signal }, entryId, options);
    await this.#parts.afterMove();
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
