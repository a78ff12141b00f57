import { getConnected } from "../app/get-connected.ts";
import { type CommandPort, showOther } from "./slash-commands.ts";

/** A new session with what was said before a message of the user, which is there to be said otherwise. */
export async function forkSession(page: CommandPort, entryId: string): Promise<void> {
  showOther(page.client, await getConnected(page).call("fork", { entryId }));
}
