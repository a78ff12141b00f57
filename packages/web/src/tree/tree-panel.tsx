/** All branches of a session. One can go back to any of them, or begin a new session from there. */
import { useMemo, useState } from "preact/hooks";
import type { RemoteSession } from "@tau/protocol/client";
import { useAttempt } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import type { Draft } from "../app/draft.ts";
import { useLoaded } from "../app/loaded.ts";
import { showSession } from "../app/route.ts";
import { Name } from "../text/name.tsx";
import { VirtualList } from "../transcript/virtual-list.tsx";
import { listPanelRows, type PanelRow, toTarget } from "./tree-rows.ts";

const maxDepth = 8;

interface TreePanelProps {
  session: RemoteSession;
  draft: Draft;
  /** Offers to take the files back to where the conversation goes. False: the user changed their mind. */
  offerFiles: (entryId: string | null) => Promise<boolean>;
  onClose: () => void;
}

export function TreePanel({ session, draft, offerFiles, onClose }: TreePanelProps) {
  const [loaded] = useLoaded(() => session.getTree(), [session]);
  const [chosen, setChosen] = useState<PanelRow>();
  const attempt = useAttempt();
  const rows = useMemo(
    () => (loaded.kind === "loaded" ? listPanelRows(loaded.value.entries, loaded.value.leafId) : []),
    [loaded],
  );
  const go = (row: PanelRow, summarise: boolean) =>
    attempt.run(async () => {
      const { entryId, text } = toTarget(row);
      if (!(await offerFiles(entryId))) return;
      // Not later: by then the conversation may have gone on.
      await session.call("navigate", { entryId, ...(summarise && { summarise }) }, { isLasting: false });
      if (text !== undefined) draft.text = text;
      onClose();
    });
  const branch = (row: PanelRow) =>
    attempt.run(async () => {
      const { sessionId } = await session.call("branch", { entryId: row.entry.id });
      onClose();
      showSession(sessionId);
    });
  const draw = (row: PanelRow) => (
    <TreeItem row={row} isChosen={row.key === chosen?.key} onChoose={() => setChosen(row)} />
  );
  return (
    <Dialog title="Tree" shape="side" onClose={onClose}>
      {loaded.kind === "loading" && <p class="muted">Loading…</p>}
      {loaded.kind === "failed" && <p class="problem">{loaded.message}</p>}
      {loaded.kind === "loaded" && rows.length === 0 && <p class="muted">Nothing has been said yet.</p>}
      <div class="tree">
        <VirtualList items={rows} draw={draw} estimatedHeight={34} label="Entries" />
      </div>
      {attempt.problem !== "" && (
        <p class="problem" role="alert">
          {attempt.problem}
        </p>
      )}
      <div class="buttons">
        <button class="button" disabled={!chosen || attempt.isBusy} onClick={() => chosen && void branch(chosen)}>
          New session from here
        </button>
        <button class="button" disabled={!chosen || attempt.isBusy} onClick={() => chosen && void go(chosen, true)}>
          Go here with a summary
        </button>
        <button
          class="button primary"
          disabled={!chosen || attempt.isBusy}
          onClick={() => chosen && void go(chosen, false)}
        >
          Go here
        </button>
      </div>
    </Dialog>
  );
}

function TreeItem({ row, isChosen, onChoose }: { row: PanelRow; isChosen: boolean; onChoose: () => void }) {
  const classes = ["tree-row", `depth-${Math.min(row.depth, maxDepth)}`];
  if (row.isOnBranch) classes.push("on-branch");
  if (isChosen) classes.push("chosen");
  return (
    <button class={classes.join(" ")} aria-pressed={isChosen} onClick={onChoose}>
      <span class="tree-author">{row.author}</span>
      <span class="cut">
        <Name text={row.text} />
      </span>
      {row.entry.label !== undefined && (
        <span class="tag">
          <Name text={row.entry.label} />
        </span>
      )}
      {row.isLeaf && <span class="tag">here</span>}
    </button>
  );
}
