/** What the harness's own tools do with the session that they belong to. */
import type { HarnessActions } from "@tau/extensions/internal";
import { describeEntries } from "../session/describe-entries.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Activity } from "./activity.ts";
import type { TreeMoves } from "./tree-moves.ts";

export interface HarnessActionsParts {
  sessionManager: SessionManager;
  getTree: () => TreeMoves;
  getActivity: () => Activity;
  reload: HarnessActions["reload"];
}

/** How many of the last entries are read to list those that were said. */
const maxListedRows = 200;

export function createHarnessActions(parts: HarnessActionsParts): HarnessActions {
  const { sessionManager, getTree, getActivity, reload } = parts;
  return {
    async branch(entryId, toolCallId) {
      const tree = getTree();
      const branched = await (entryId === undefined ? tree.branchOffBefore(toolCallId) : tree.branchOff(entryId));
      await branched.close();
      return branched.id;
    },
    listEntries: async () => describeEntries(await sessionManager.getEntries(maxListedRows)),
    navigate: (entryId) => getTree().plan(entryId),
    reload,
    interrupt: (reason) => getActivity().run?.stopAfterTurn({ kind: "aborted", by: "agent", reason }),
  };
}
