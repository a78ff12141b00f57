/** The part of a session that the terminal needs. It may be in this process or on another machine. */
import type { Command, CommandData, CommandName, JobSummary, SessionEvent, View } from "@tau/protocol";

import type { ExtensionClient } from "./extensions/extension-client.ts";

interface ExecuteOptions {
  /** Gets the output of `bash` as it comes. */
  onOutput?: (text: string) => void;
}

export interface SessionClient {
  readonly sessionId: string;
  execute<Name extends CommandName>(command: Command<Name>, options?: ExecuteOptions): Promise<CommandData<Name>>;
  /** Calls `onSnapshot` first, and again where events were lost; then `onEvent` with every event. Returns how to stop. */
  subscribe(onSnapshot: (view: View) => void, onEvent: (event: SessionEvent) => void): () => void;
  /** Returns a client of another session of the same host, which is open already. */
  to(sessionId: string): SessionClient;
  readonly extensions?: ExtensionClient;
  /** Its runs continue when another session is shown, and when the terminal is left. */
  readonly outlivesTerminal?: boolean;
  /** The jobs of other sessions that end with this terminal too. */
  listOtherJobs?(): readonly JobSummary[];
  /** Takes the messages that other programs send to the session, while it is shown. Returns how to stop. */
  receiveMessages?(): () => void;
  /** Closes the session if it has extensions, because another one is shown instead. */
  leaveFor?(next: SessionClient): Promise<void>;
}
