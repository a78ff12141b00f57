/** Offers to take the files back when the conversation goes back. */
import type { UndoData } from "@tau/protocol";
import type { RemoteSession } from "@tau/protocol/client";
import { parseTextWithDiffs, pluralise } from "@tau/protocol/surface";
import { describeProblem } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import { tell } from "../app/problems.tsx";
import { Hidden } from "../text/hidden.tsx";
import { toPlainOutput } from "../text/visible-text.ts";
import { Diff } from "../transcript/diff.tsx";

type FilesChoice = "nothing" | "conversation" | "files";

/** Asked until the user has chosen. */
export interface FilesQuestion {
  readonly shown: UndoData;
  readonly answer: (choice: FilesChoice) => void;
}

/**
 * Shows what would be written so that the files fit the branch that ends at `entryId` (null: before the first entry), and writes it
 * if the user wants that. False if they changed their mind about going there.
 */
export async function offerFiles(
  session: RemoteSession,
  entryId: string | null,
  ask: (shown: UndoData) => Promise<FilesChoice>,
): Promise<boolean> {
  const shown = await findChanges(session, entryId);
  if (!shown) return true;
  const choice = await ask(shown);
  if (choice !== "files") return choice === "conversation";
  const wanted = { entryId, apply: true, digest: shown.digest };
  const { done, conflicts } = await session.call("undo", wanted, { isLasting: false });
  if (!done) throw new Error(`Nothing was written: ${pluralise(conflicts.length, "conflict")}.`);
  tell(`${pluralise(shown.files.length, "file")} written. /redo writes them as they were.`);
  return true;
}

/** Undefined where there is nothing to write, or nothing can be written; then that is said. */
async function findChanges(session: RemoteSession, entryId: string | null): Promise<UndoData | undefined> {
  const { commands } = await session.call("get_commands");
  // The feature may be turned off.
  if (!commands.some(({ name }) => name === "undo")) return undefined;
  try {
    const shown = await session.call("undo", { entryId }, { isLasting: false });
    if (shown.conflicts.length > 0) tell(`The files stay as they are.\n${shown.summary}`);
    return shown.conflicts.length > 0 || shown.files.length === 0 ? undefined : shown;
  } catch (error) {
    tell(`The files stay as they are: ${describeProblem(error)}`);
    return undefined;
  }
}

export function FilesDialog({ question: { shown, answer } }: { question: FilesQuestion }) {
  const rows = parseTextWithDiffs(toPlainOutput(shown.diff));
  return (
    <Dialog title="Take the files back too?" shape="wide" onClose={() => answer("nothing")}>
      <p class="lines">
        <Hidden text={toPlainOutput(shown.summary)} />
      </p>
      {rows && <Diff rows={rows} />}
      <div class="buttons">
        <button class="button" onClick={() => answer("conversation")}>
          Only the conversation
        </button>
        <button class="button primary" onClick={() => answer("files")}>
          The conversation and the files ({pluralise(shown.files.length, "file")})
        </button>
      </div>
    </Dialog>
  );
}
