/** Branches of a session as sessions of their own, and the entry that the model asked to move to when its run is over. */
import { HarnessError } from "@tau/protocol";
import type { Publisher } from "../run/publisher.ts";
import type { SessionManager } from "../session/session-manager.ts";

interface TreeMovesParts {
  session: SessionManager;
  publisher: Publisher;
}

export class TreeMoves {
  readonly #parts: TreeMovesParts;
  #planned: string | undefined;

  constructor(parts: TreeMovesParts) {
    this.#parts = parts;
  }

  /** Creates a log of its own that continues from an entry. Publishes `session_branched`. */
  async branchOff(entryId: string): Promise<SessionManager> {
    const { session, publisher } = this.#parts;
    const branched = await session.branchSession(session.id, entryId);
    publisher.fact({ type: "session_branched", branchId: branched.id, branchPoint: entryId });
    return branched;
  }

  /** Branches off before the answer with a call, so that the branch has no call without a result. */
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

  /** Plans a move for the end of the run. Throws `unknown_entry`. */
  async plan(entryId: string): Promise<void> {
    if (!(await this.#parts.session.getEntry(entryId))) {
      throw new HarnessError("unknown_entry", `The session has no entry ${JSON.stringify(entryId)}.`);
    }
    this.#planned = entryId;
  }

  /** Returns the entry that `plan` named last, once. */
  takePlanned(): string | undefined {
    const entryId = this.#planned;
    this.#planned = undefined;
    return entryId;
  }
}
