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

export interface OpenConversation {
  readonly sessionId: string;
  readonly cwd: string;
  /** Undefined: another node of the cluster runs the session, and answers. */
  readonly open?: OpenSession;
}

/** The session of a key, or a new one if there is none or it was deleted. */
export async function openConversation(
  parts: ConversationParts,
  options: ConversationOptions,
): Promise<OpenConversation> {
  const known = parts.store.table.findByKey(options.key);
  if (!known) return toConversation(await createSession(parts, options));
  const { sessionId } = known;
  await options.record(sessionId);
  try {
    return toConversation(await parts.sessions.open(sessionId));
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    if (error.code === "moved") return { sessionId, cwd: await openDirectory(parts, options) };
    if (error.code !== "not_found") throw error;
    return toConversation(await createSession(parts, options));
  }
}

function toConversation(open: OpenSession): OpenConversation {
  const { sessionId, cwd } = open.hosted.session;
  return { sessionId, cwd, open };
}

async function openDirectory(
  { agentDir }: ConversationParts,
  { account: { accountId, settings } }: ConversationOptions,
): Promise<string> {
  if (settings.cwd !== undefined) return settings.cwd;
  const cwd = join(agentDir, "channels", accountId);
  await mkdir(cwd, { recursive: true, mode: 0o700 });
  return cwd;
}

async function createSession(parts: ConversationParts, options: ConversationOptions): Promise<OpenSession> {
  const { accountId, settings } = options.account;
  const { agent } = options.route;
  return await parts.sessions.create(await openDirectory(parts, options), {
    ...(agent !== undefined && { agentName: agent }),
    policyProfile: settings.policy,
    isAnyDirectory: true,
    // From its beginning the session counts as one that has read text of others.
    fill: async (log) => {
      await options.record(log.id);
      await log.appendCustomEntry(customTypes.tainted, { source: "message", detail: `the channel ${accountId}` });
    },
  });
}
