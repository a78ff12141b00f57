import { type CommandPort, showOther } from "./slash-commands.ts";

/** A new session with what was said before a message of the user, which is there to be said otherwise. */
export async function forkSession({ client, session }: CommandPort, entryId: string): Promise<void> {
  showOther(client, await session.call("fork", { entryId }, { isLasting: false }));
}
