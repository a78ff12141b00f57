/** Finds what a session that answers in a channel is opened with: the channel's tools, and which others it has. */
import type { Clock, Ids } from "@tau/ai";
import type { AgentSessionParams } from "@tau/harness";
import type { GatewaySettings } from "../settings.ts";
import { resolveAccountSettings } from "./account-settings.ts";
import type { ChannelAccounts } from "./accounts.ts";
import type { FileCopies } from "./file-copies.ts";
import type { ChannelOutbox } from "./outbox.ts";
import type { ChannelStore } from "./store.ts";
import { createChannelTools, getToolNames } from "./tools.ts";

interface SessionParamsParts {
  store: ChannelStore;
  accounts: ChannelAccounts;
  outbox: ChannelOutbox;
  getSettings: () => GatewaySettings;
  /** Takes known secrets of a session out of a text. */
  redact: (sessionId: string, text: string) => string;
  fileCopies: FileCopies;
  clock: Clock;
  ids: Ids;
}

/** Undefined for a session that answers in no channel. `cwd` is its directory. */
export function getChannelSessionParams(
  parts: SessionParamsParts,
  sessionId: string,
  cwd: string,
): Pick<AgentSessionParams, "binding" | "allowedTools"> | undefined {
  const { store, accounts, outbox, getSettings, redact, fileCopies, clock, ids } = parts;
  const conversation = store.table.getConversation(sessionId);
  if (!conversation) return undefined;
  // Without the account nobody can be answered, and the session may only read.
  const { type, tools: allowed } = resolveAccountSettings(getSettings().channels[conversation.accountId]);
  const tools = createChannelTools({
    type,
    cwd,
    getConversation: () => store.table.getConversation(sessionId),
    findAccount: (accountId) => accounts.find(accountId),
    outbox,
    redact: (text) => redact(sessionId, text),
    fileCopies,
    clock,
    ids,
  });
  const { accountId, address, sourceMessageId, peer } = conversation;
  return {
    binding: { channel: type, accountId, channelId: address.channelId, sourceMessageId, peer, tools },
    ...(!allowed.includes("*") && { allowedTools: [...allowed, ...Object.values(getToolNames(type))] }),
  };
}
