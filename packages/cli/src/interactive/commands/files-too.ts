/** Offers to take the files back when the conversation goes back. */
import { getErrorMessage } from "@tau/ai/internal";
import type { UndoData } from "@tau/protocol";
import type { Interface } from "../interface.ts";

/**
 * Shows what would be written so that the files fit the branch that ends at `entryId` (null: before the first entry), and writes it
 * if the user wants that. False if they changed their mind about going there.
 */
export async function offerFiles(ui: Interface, entryId: string | null): Promise<boolean> {
  const shown = await findChanges(ui, entryId);
  if (!shown) return true;
  const { files, summary, diff, digest } = shown;
  ui.say(diff);
  const count = files.length === 1 ? "1 file" : `${files.length} files`;
  const choice = await ui.choose(summary, [
    { value: "conversation", label: "Only the conversation" },
    { value: "files", label: `The conversation and the files (${count})` },
  ]);
  if (choice === undefined) return false;
  if (choice === "conversation") return true;
  const { done, conflicts } = await ui.client.execute({ type: "undo", entryId, apply: true, digest });
  if (done) ui.say(`${count} written. /redo writes them as they were.`);
  else ui.say(`Nothing was written: ${conflicts.length} conflicts.`, "warning");
  return done;
}

/** Undefined where there is nothing to write, or nothing can be written; then that is said. */
async function findChanges(ui: Interface, entryId: string | null): Promise<UndoData | undefined> {
  const { commands } = await ui.client.execute({ type: "get_commands" });
  // The feature may be turned off.
  if (!commands.some(({ name }) => name === "undo")) return undefined;
  try {
    const shown = await ui.client.execute({ type: "undo", entryId });
    if (shown.conflicts.length > 0) ui.say(`The files stay as they are.\n${shown.summary}`, "warning");
    return shown.conflicts.length > 0 || shown.files.length === 0 ? undefined : shown;
  } catch (error) {
    ui.say(`The files stay as they are: ${getErrorMessage(error)}`, "warning");
    return undefined;
  }
}
