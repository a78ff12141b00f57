/** Opens the session that answers a conversation, or begins one. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { customTypes } from "@tau/protocol";
import { isGatewayError } from "../errors.ts";
import type { Route } from "../routing/index.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import type { Account } from "./accounts.ts";
import type { ChannelStore } from "./store.ts";

interface ConversationParts {
  readonly store: ChannelStore;
  readonly sessions: OpenSessions;
  readonly agentDir: string;
}

interface ConversationOptions {
  readonly account: Account;
  readonly route: Route;
  /** Messages with the same key share a session. */
  readonly key: string;
  /** Binds a session to the conversation. Called before the session is opened, because its tools are those of its conversation. */
  readonly record: (sessionId: string) => Promise<void>;
}

/** The session of a key, or a new one if there is none or it was deleted. */
export async function openConversation(parts: ConversationParts, options: ConversationOptions): Promise<OpenSession> {
  const known = parts.store.table.findByKey(options.key);
  if (!known) return await createSession(parts, options);
  try {
    await options.record(known.sessionId);
    return await parts.sessions.open(known.sessionId);
  } catch (error) {
    if (!isGatewayError(error) || error.code !== "not_found") throw error;
    return await createSession(parts, options);
  }
}

async function createSession(
  { sessions, agentDir }: ConversationParts,
  { account, route, record }: ConversationOptions,
): Promise<OpenSession> {
  const { accountId, settings } = account;
  const { agent } = route;
  const cwd = settings.cwd ?? join(agentDir, "channels", accountId);
  if (settings.cwd === undefined) await mkdir(cwd, { recursive: true, mode: 0o700 });
  return await sessions.create(cwd, {
    ...(agent !== undefined && { agentName: agent }),
    policyProfile: settings.policy,
    isAnyDirectory: true,
    // From its beginning the session counts as one that has read text of others.
    fill: async (log) => {
      await record(log.id);
      await log.appendCustomEntry(customTypes.tainted, { source: "message", detail: `the channel ${accountId}` });
    },
  });
}
