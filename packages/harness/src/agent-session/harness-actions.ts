/** Implements the actions that the harness's own tools take on their session. */
import type { HarnessActions } from "@tau/extensions/internal";
import { describeEntries } from "../session/describe-entries.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { CurrentRun } from "./current-run.ts";
import type { TreeMoves } from "./tree-moves.ts";

interface HarnessActionsParts {
  sessionManager: SessionManager;
  moves: TreeMoves;
  currentRun: CurrentRun;
  reload: HarnessActions["reload"];
}

/** How many of the last entries are read to list those that were said. */
const maxListedRows = 200;

export function createHarnessActions(parts: HarnessActionsParts): HarnessActions {
  const { sessionManager, moves, currentRun, reload } = parts;
  return {
    async branch(entryId, toolCallId) {
      const branched = await (entryId === undefined ? moves.branchOffBefore(toolCallId) : moves.branchOff(entryId));
      await branched.close();
      return branched.id;
    },
    listEntries: async () => describeEntries(await sessionManager.getEntries(maxListedRows)),
    navigate: (entryId) => moves.plan(entryId),
    reload,
    interrupt: (reason) => currentRun.run?.stopAfterTurn({ kind: "aborted", by: "agent", reason }),
  };
}
