/** Describes the state of channels for people. Pure. */
import type { ChannelData, ChannelPeerData, ChannelReplyData } from "@tau/protocol/gateway";
import { getFirstWords } from "../inbox/message.ts";
import type { AccountHealth } from "./accounts.ts";
import type { ChannelAddress } from "@tau/extensions";
import type { OutboxReply } from "./records.ts";

interface AccountFacts {
  readonly type: string;
  /** Undefined: it is not open here. */
  readonly health: AccountHealth | undefined;
  /** Whether another node of the cluster connects it. */
  readonly isElsewhere: boolean;
  /** Its replies that are not delivered. */
  readonly replies: readonly OutboxReply[];
}

export function describeAccount(name: string, { type, health, isElsewhere, replies }: AccountFacts): ChannelData {
  const state = health?.state;
  const isOver = ({ state: replyState }: OutboxReply) => replyState === "refused" || replyState === "uncertain";
  const undelivered = replies.filter(isOver).length;
  return {
    name,
    type,
    state: state?.kind ?? (isElsewhere ? "waiting" : "off"),
    ...(isElsewhere && { reason: "Another node of the cluster connects it." }),
    ...(state?.kind === "failed" && { reason: state.reason }),
    ...(state?.kind === "waiting" && { reason: `${state.reason} (pause of ${Math.ceil(state.forMs / 1_000)} s)` }),
    ...(health?.lastMessageAt !== undefined && { lastMessageAt: new Date(health.lastMessageAt).toISOString() }),
    waiting: replies.length - undelivered,
    undelivered,
  };
}

export const describePeer = (
  { accountId, id, name }: { accountId: string; id: string; name: string },
  state: ChannelPeerData["state"],
  sinceMs: number,
): ChannelPeerData => ({ channel: accountId, id, name, state, since: new Date(sinceMs).toISOString() });

/** Nothing for a reply that is being written where people see it. */
export function describeReply(reply: OutboxReply): ChannelReplyData[] {
  const { id, accountId, address, state, reason, text, file, recordedAt } = reply;
  if (state === "shown") return [];
  return [
    {
      id,
      channel: accountId,
      to: formatAddress(address),
      state,
      ...(reason !== undefined && { reason }),
      text: file ? `the file ${file.name}` : getFirstWords(text),
      recordedAt: new Date(recordedAt).toISOString(),
    },
  ];
}

export const formatAddress = ({ channelId, threadId }: ChannelAddress): string =>
  threadId === undefined ? channelId : `${channelId}/${threadId}`;
