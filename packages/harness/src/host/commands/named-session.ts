/** Finds the other sessions that commands name: files, or logs of the storage that the session of the command is in. */
import { HarnessError } from "@tau/protocol";
import type { AgentSession } from "../../agent-session/agent-session.ts";
import { findSession, mustBeInSessionDirectory } from "../../session/find-session.ts";
import { SessionManager, type SessionManagerOptions } from "../../session/session-manager.ts";
import { StoredSessions } from "../../session/stored-sessions.ts";
import { type MovedSession, trashSession } from "../../session/trash.ts";
import type { HostedSession } from "../hosted-session.ts";
import { type CommandContext, getLookup } from "./command.ts";

interface NamedSession {
  /** Undefined for a session that is not in a file. */
  readonly file: string | undefined;
  /** For messages. */
  readonly name: string;
  findOpen(): Promise<HostedSession | undefined>;
  open(options: SessionManagerOptions): Promise<SessionManager>;
  /** Throws `invalid_input` for a file outside of the session directories. */
  mustBeOwn(): Promise<void>;
  /** Throws `read_only` while another process writes it. */
  delete(): Promise<MovedSession>;
}

/** The sessions beside this one in its storage. Undefined for a session in a file, and for one that the program keeps in memory. */
export function getStoredSessions({ sessionManager, isTenant }: AgentSession): StoredSessions | undefined {
  const { customStorage } = sessionManager;
  if (!customStorage || sessionManager.getSessionDir() !== undefined) return undefined;
  if (!isTenant) return new StoredSessions(customStorage);
  throw new HarnessError("denied", 'A session with isolation "tenant" does not see other sessions of its storage.');
}

/** Throws `session_not_found`. */
export async function findNamed(context: CommandContext, reference: string): Promise<NamedSession> {
  const { host, session } = context;
  const stored = getStoredSessions(session);
  if (stored) {
    const { id } = await stored.find(reference);
    return {
      file: undefined,
      name: id,
      findOpen: async () => host.find(id),
      open: (options) => stored.open(id, options),
      mustBeOwn: async () => {},
      delete: () => stored.delete(id),
    };
  }
  const file = await findSession(reference, getLookup(context));
  return {
    file,
    name: file,
    findOpen: () => host.findOpen(file),
    open: (options) => SessionManager.open(file, options),
    mustBeOwn: () => mustBeInSessionDirectory(file, getLookup(context)),
    delete: () => trashSession(file),
  };
}
