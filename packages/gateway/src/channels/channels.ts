/** The channels of a gateway, as its methods see them: they begin, end, and describe themselves. */
import type { Ids } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type {
  ChannelCountsData,
  ChannelData,
  ChannelPeerData,
  ChannelReplyData,
  MethodData,
} from "@tau/protocol/gateway";
import { isGatewayError } from "../errors.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { StoredMessage } from "../inbox/message.ts";
import { resolveAccountSettings } from "./account-settings.ts";
import type { ChannelAccounts } from "./accounts.ts";
import type { ReceivedRequest } from "@tau/extensions";
import type { ChannelCounts } from "./counts.ts";
import { describeAccount, describePeer, describeReply, formatAddress } from "./describe.ts";
import type { FileCopies } from "./file-copies.ts";
import { FollowedSessions, getChannelDevice } from "./follow-sessions.ts";
import { createReplies } from "./session-replies.ts";
import type { ChannelOutbox } from "./outbox.ts";
import type { ChannelPeers } from "./peers.ts";
import { MessageReceiver, type ReceiverParts } from "./receive-messages.ts";
import { ChatCommands, type RunAtSession } from "./run-chat-command.ts";
import type { ClusterChannels } from "./store.ts";
import type { Conversation } from "./records.ts";

export interface ChannelsParts extends Omit<ReceiverParts, "followed" | "commands"> {
  inbox: Inbox;
  ids: Ids;
  /** Takes known secrets of a session out of a text. */
  redact: (sessionId: string, text: string) => string;
  /** Where files are kept that are to be sent. */
  fileCopies: FileCopies;
  /** The conversations of all nodes of a cluster. Undefined: this gateway is alone. */
  shared: ClusterChannels | undefined;
  counts: ChannelCounts;
  runAtSession: RunAtSession;
}

const givenUpText = "I did not read this message, and will not. Write it again if it still matters.";

/** How many conversations are looked at together after a crash. */
const maxRecovering = 4;

export class Channels {
  readonly #parts: ChannelsParts;
  readonly #followed: FollowedSessions;
  readonly #receiver: MessageReceiver;
  readonly commands: ChatCommands;

  constructor(parts: ChannelsParts) {
    this.#parts = parts;
    const { store, outbox, accounts, sessions, inbox, clock, log } = parts;
    this.#followed = new FollowedSessions({
      store,
      outbox,
      findAccount: (accountId) => accounts.find(accountId),
      redact: parts.redact,
      inbox,
      isShared: parts.shared !== undefined,
      clock,
      log,
    });
    const followed = this.#followed;
    this.commands = new ChatCommands(parts);
    this.#receiver = new MessageReceiver({ ...parts, followed, commands: this.commands });
    sessions.watch({
      onOpened: (hosted) => this.#followed.follow(hosted),
      onClosed: (sessionId) => this.#followed.onClosed(sessionId),
    });
  }

  get peers(): ChannelPeers {
    return this.#parts.peers;
  }

  get accounts(): ChannelAccounts {
    return this.#parts.accounts;
  }

  get outbox(): ChannelOutbox {
    return this.#parts.outbox;
  }

  /** Finds the conversation of an account that was used last. */
  findLastConversation(accountId: string): Conversation | undefined {
    return [...this.#parts.store.table.conversations()].findLast((each) => each.accountId === accountId);
  }

  /** Takes a request of a platform. An account that takes none answers like one that does not exist. */
  async receiveRequest(accountId: string, request: ReceivedRequest): Promise<{ status: number; body?: unknown }> {
    const answer = await this.#parts.accounts.find(accountId)?.channel.receiveRequest?.(request);
    return answer ?? { status: 404 };
  }

  /** Lists the accounts of the settings, also those that are turned off. */
  list(): ChannelData[] {
    const { accounts, store, shared, getSettings } = this.#parts;
    const open = new Map(accounts.list().map((health) => [health.accountId, health]));
    const replies = [...store.table.replies()];
    return Object.entries(getSettings().channels).map(([name, written]) => {
      const { type, enabled } = resolveAccountSettings(written);
      return describeAccount(name, {
        type,
        health: open.get(name),
        isElsewhere: shared !== undefined && enabled && !open.has(name),
        replies: replies.filter(({ accountId }) => accountId === name),
      });
    });
  }

  /** Counts what happened in each account of the settings since the gateway was started. */
  getCounts(): Record<string, ChannelCountsData> {
    const { counts, getSettings } = this.#parts;
    return Object.fromEntries(Object.keys(getSettings().channels).map((name) => [name, counts.get(name)]));
  }

  /** Lists who may write, and who waits with a code. The codes are not told: people get them in their chats. */
  listPeers(): ChannelPeerData[] {
    const { peers } = this.#parts;
    return [
      ...peers.list().map((peer) => describePeer(peer, "paired", peer.pairedAt)),
      ...peers.listWaiting().map((peer) => describePeer(peer, "pending", peer.createdAt)),
    ];
  }

  async pair(code: string): Promise<ChannelPeerData> {
    const peer = await this.#parts.peers.pair(code);
    return describePeer(peer, "paired", peer.pairedAt);
  }

  /** Lists the replies that are not delivered, oldest first. */
  listUndelivered(): ChannelReplyData[] {
    return [...this.#parts.store.table.replies()].flatMap(describeReply);
  }

  /** Sends a short message to the conversation of the account that was used last. */
  async test(accountId: string): Promise<MethodData<"channels.test">> {
    const { accounts, ids } = this.#parts;
    const account = accounts.find(accountId);
    if (!account) return { sent: false, reason: "It is not open; tau channels list says why." };
    const conversation = this.findLastConversation(accountId);
    if (!conversation) return { sent: false, reason: "Nobody has written to it yet, so there is nobody to write to." };
    const { address } = conversation;
    const delivery = await account.channel.send({ address, text: "This is a test of the connection.", nonce: ids() });
    const to = formatAddress(address);
    return delivery.kind === "sent" ? { sent: true, to } : { sent: false, to, reason: delivery.reason };
  }

  /** Tells the person who wrote a message that it was given up. Of one that is left out for others, the agent is told. */
  onGivenUp({ id, sessionId, origin, requestKey = "", isUntold }: StoredMessage): void {
    const { store, outbox, clock, log } = this.#parts;
    const conversation = store.table.getConversation(sessionId);
    if (!conversation || isUntold || origin.deviceId !== getChannelDevice(conversation.accountId)) return;
    const [device, sourceMessageId] = requestKey.split("\n");
    const replies = createReplies(givenUpText, `given-up/${id}`, {
      conversation: device === origin.deviceId && sourceMessageId ? { ...conversation, sourceMessageId } : conversation,
      maxTextLength: givenUpText.length,
      nowMs: clock.now(),
    });
    outbox
      .addOnce(`given-up/${id}`, replies)
      .catch((error: unknown) => log(`A person was not told: ${getErrorMessage(error)}`, conversation.accountId));
  }

  /** Whether a run of the session answers a person. */
  isAnswering(sessionId: string): boolean {
    return this.#followed.isAnswering(sessionId);
  }

  /** Waits until everything that a session has said so far is recorded. */
  async settled(sessionId: string): Promise<void> {
    await this.#followed.settled(sessionId);
  }

  /** Opens the accounts, unless another node of the cluster has them. */
  async start(): Promise<void> {
    const { shared, outbox } = this.#parts;
    if (!shared) return await this.#begin();
    shared.lead({
      onBegin: () => this.#begin(),
      onEnd: () => this.#end(),
      onRecord: (record) => outbox.onRecord(record),
    });
  }

  /** Opens the accounts, and continues with what a crash has cut. */
  async #begin(): Promise<void> {
    const { accounts, getSettings, outbox, fileCopies, store, clock } = this.#parts;
    await fileCopies.removeUnused(store.table.replies(), clock.now());
    outbox.start();
    await accounts.start(getSettings().channels, this.#receiver);
    const cut = [...this.#parts.store.table.conversations()].filter(({ isExpecting }) => isExpecting);
    const recover = async () => {
      for (let next = cut.shift(); next; next = cut.shift()) await this.#recover(next);
    };
    await Promise.all(Array.from({ length: maxRecovering }, recover));
  }

  /** Sends nothing more. What waits stays on the disk. */
  async stop(): Promise<void> {
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#parts.outbox.stop();
    await this.#parts.accounts.close();
  }

  async #recover({ sessionId, accountId }: Conversation): Promise<void> {
    const { sessions, store, log } = this.#parts;
    try {
      const { hosted } = await sessions.open(sessionId);
      await this.#followed.recover(hosted);
    } catch (error) {
      if (isGatewayError(error) && error.code === "not_found") await store.append({ type: "idle", sessionId });
      else
        log(
          `The conversation of the session ${sessionId} could not be continued: ${getErrorMessage(error)}`,
          accountId,
        );
    }
  }
}
