import { getConnected } from "../app/get-connected.ts";
import { type CommandPort, showOther } from "./slash-commands.ts";

/**
 * A new session with what was said before a message of the user, which is there to be said otherwise. `offerFiles` offers to take
 * the files back to that, and resolves with false if the user changed their mind.
 */
export async function forkSession(
  page: CommandPort,
  entryId: string,
  offerFiles: (entryId: string | null) => Promise<boolean>,
): Promise<void> {
  const session = getConnected(page);
  const entry = session.view.log.entries.find(({ id }) => id === entryId);
  if (entry && !(await offerFiles(entry.parentId))) return;
  showOther(page.client, await session.call("fork", { entryId }));
}
