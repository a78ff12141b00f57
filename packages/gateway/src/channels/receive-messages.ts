/** Takes messages of channels to their sessions. What a session says goes back by `follow-sessions.ts`. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import { GatewayError, toFault } from "../errors.ts";
import { getDigest } from "../idempotency/digest.ts";
import type { Recovered, RequestKeys } from "../idempotency/idempotency-keys.ts";
import type { MessageDraft } from "../inbox/session-inbox.ts";
import { getSessionKey, resolveRoute, type Route, type RouteFacts } from "../routing/index.ts";
import type { ChannelLog } from "../log-lines.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import type { GatewaySettings } from "../settings.ts";
import type { Account, AccountEvents, ChannelAccounts } from "./accounts.ts";
import type { ChannelPress, IncomingMessage } from "@tau/extensions";
import { type ChatCommand, isLongCommand, parseChatCommand } from "./chat-commands.ts";
import { decideIncoming } from "./decide-incoming.ts";
import { type FollowedSessions, getChannelDevice } from "./follow-sessions.ts";
import { formatFailure } from "./format-failure.ts";
import { formatMessage } from "./format-message.ts";
import { type OpenConversation, openConversation } from "./open-conversation.ts";
import type { ChannelOutbox } from "./outbox.ts";
import type { ChannelPeers } from "./peers.ts";
import { toIdentity } from "./records.ts";
import type { ChatCommands } from "./run-chat-command.ts";
import { createReplies } from "./session-replies.ts";
import type { ChannelStore } from "./store.ts";
import { takeFiles } from "./take-files.ts";

export interface ReceiverParts {
  store: ChannelStore;
  accounts: ChannelAccounts;
  outbox: ChannelOutbox;
  peers: ChannelPeers;
  sessions: OpenSessions;
  requestKeys: RequestKeys;
  /** Puts a message into the inbox of whichever node runs its session. Resolves when it is on the disk. */
  accept: (draft: MessageDraft) => Promise<unknown>;
  /** Whether the message that a request with this key brought is in the inbox of any node. */
  wasAccepted: (requestKey: string) => Promise<boolean>;
  getSettings: () => GatewaySettings;
  agentDir: string;
  clock: Clock;
  log: ChannelLog;
  followed: FollowedSessions;
  commands: ChatCommands;
}

/** A message with everything that decides where it goes. */
interface RoutedMessage {
  readonly account: Account;
  readonly message: IncomingMessage;
  readonly route: Route;
  /** Messages with the same key share a session. */
  readonly key: string;
}

export class MessageReceiver implements AccountEvents {
  readonly #parts: ReceiverParts;
  /** Keep the order of messages in each conversation. */
  readonly #queues = new Map<string, { readonly queue: SerialQueue; users: number }>();

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  onOpen(accountId: string): void {
    this.#parts.outbox.wake(accountId);
  }

  async onMessage(accountId: string, message: IncomingMessage): Promise<void> {
    const { accounts, peers, getSettings, outbox, clock } = this.#parts;
    const account = accounts.find(accountId);
    if (!account) throw new GatewayError("unavailable", "The account is being closed.");
    const isPaired = peers.isPaired(accountId, message.sender.id);
    const step = decideIncoming({ message, isPaired, groups: account.settings.groups });
    if (step.kind === "ignore") return;
    if (step.kind === "offer_code") {
      const code = await peers.offer(accountId, message.sender, message.id);
      if (code === undefined) return;
      const text = `Hello. I answer people whom my owner knows. If that is you, ask for this: tau channels pair ${code}`;
      const id = `code/${accountId}/${message.id}`;
      const reply = { id, sessionId: "", accountId, address: message.address, text, recordedAt: clock.now() };
      return await outbox.addOnce(id, [reply]);
    }
    const facts = toFacts(account, message);
    const { bindings, defaultAgent, session } = getSettings();
    const route = resolveRoute(facts, bindings, defaultAgent);
    const base = getSessionKey(facts, { ...session, agent: route.agent });
    await this.#inOrder(base, () => this.#answerOrGiveUp({ account, message, route, key: base }));
  }

  async onPress(accountId: string, press: ChannelPress): Promise<void> {
    const { peers, store, clock, outbox, accounts, commands } = this.#parts;
    const command = parseChatCommand(press.value);
    if (!command || !peers.isPaired(accountId, press.sender.id)) return;
    const conversation = [...store.table.conversations()].findLast(
      (each) => each.accountId === accountId && getDigest(each.address) === getDigest(press.address),
    );
    if (!conversation) return;
    const identity = toIdentity(accountId, press.sender.id);
    const text = await commands.run({ command, identity, key: conversation.key, conversation });
    const maxTextLength = accounts.find(accountId)?.channel.limits.maxTextLength ?? 2_000;
    const id = `press/${conversation.sessionId}/${getDigest(press)}`;
    await outbox.add(createReplies(text, id, { conversation, maxTextLength, nowMs: clock.now() }));
  }

  /** A message that can never be answered is not asked for again: the platform would send nothing else. */
  async #answerOrGiveUp(routed: RoutedMessage): Promise<void> {
    try {
      await this.#answer(routed);
    } catch (error) {
      const { code, retryable } = toFault(error);
      if (retryable || code === "internal") throw error;
      const { account, message } = routed;
      const { accountId } = account;
      this.#parts.log(
        `The message ${message.id} of ${accountId} is not answered: ${getErrorMessage(error)}`,
        accountId,
      );
      await this.#sayOnce(routed, { name: "failed", text: formatFailure({ code: "unknown" }) });
    }
  }

  async #answer(routed: RoutedMessage): Promise<void> {
    const { message, account } = routed;
    const command = parseChatCommand(message.text);
    const requestKey = `${getChannelDevice(account.accountId)}\n${message.id}`;
    const work = command ? () => this.#answerCommand(routed, command) : () => this.#accept(routed, requestKey);
    await this.#parts.requestKeys.once(requestKey, {
      // Not the session: changed settings may choose another one before the platform sends the message again.
      body: getDigest({ text: message.text }),
      run: async () => {
        await work();
        return null;
      },
      recover: () => this.#findAccepted(routed, requestKey),
    });
  }

  /** After a crash: a message that is in the inbox is not accepted again, and a command whose reply is recorded not executed. */
  async #findAccepted(routed: RoutedMessage, requestKey: string): Promise<Recovered> {
    const isDone =
      this.#parts.store.table.hasSource(getReplyId(routed, "command")) || (await this.#parts.wasAccepted(requestKey));
    return isDone ? { kind: "payload", payload: null } : { kind: "no_effect" };
  }

  async #accept(routed: RoutedMessage, requestKey: string): Promise<void> {
    const { account, message, route, key } = routed;
    const { store } = this.#parts;
    const { address, id: sourceMessageId, sender, peer } = message;
    const from = { accountId: account.accountId, address, sourceMessageId, senderId: sender.id, peer };
    const received = { ...from, key: this.#getFullKey(key) };
    const arrivals: (() => void)[] = [];
    const record = async (sessionId: string) => {
      arrivals.push(this.#parts.followed.expect(sessionId));
      await store.append({ type: "received", conversation: { ...received, sessionId } });
    };
    const options = { account, route, key: received.key, record };
    try {
      const conversation = await openConversation(this.#parts, options);
      await this.#acceptIn(conversation, routed, requestKey);
    } finally {
      for (const end of arrivals) end();
    }
  }

  async #acceptIn(
    { sessionId, cwd, open }: OpenConversation,
    { account, message, key }: RoutedMessage,
    requestKey: string,
  ): Promise<void> {
    const { store, accept, getSettings } = this.#parts;
    const { accountId, settings } = account;
    const { address, id: sourceMessageId, sender } = message;
    const { images, saved } = await takeFiles(message, cwd);
    if (open) this.#parts.followed.follow(open.hosted);
    await accept({
      sessionId,
      text: formatMessage(message, saved),
      ...(images.length > 0 && { images }),
      // Nothing that people write in a chat is a command of the session, a template or the name of a file.
      isVerbatim: true,
      mode: store.table.getQueueMode(key) ?? settings.queue ?? getSettings().queue.mode,
      origin: {
        kind: "client",
        deviceId: getChannelDevice(accountId),
        scopes: [],
        identity: toIdentity(accountId, sender.id),
      },
      requestKey,
    });
    this.#parts.followed.signs.onReceived(sessionId, { accountId, address, messageId: sourceMessageId });
  }

  async #answerCommand(routed: RoutedMessage, command: ChatCommand): Promise<void> {
    const { message, account, key } = routed;
    const conversation = this.#parts.store.table.findByKey(this.#getFullKey(key));
    const identity = toIdentity(account.accountId, message.sender.id);
    const execute = async () => {
      const text = await this.#parts.commands.run({ command, identity, key, conversation });
      await this.#sayOnce(routed, { name: "command", text });
    };
    if (!isLongCommand(command)) return await execute();
    // Other messages do not wait for the minutes that it may take.
    execute().catch((error: unknown) => {
      this.#parts.log(`/${command.name} could not be answered: ${getErrorMessage(error)}`, account.accountId);
    });
  }

  /** Answers a message with a text that no session has said. Twice for the same message makes one reply. */
  async #sayOnce(routed: RoutedMessage, { name, text }: { name: string; text: string }): Promise<void> {
    const { store, outbox, clock } = this.#parts;
    const { account, message, key } = routed;
    const { accountId, channel } = account;
    const { address, id: sourceMessageId, sender, peer } = message;
    const sessionId = store.table.findByKey(this.#getFullKey(key))?.sessionId ?? "";
    const id = getReplyId(routed, name);
    const replies = createReplies(text, id, {
      conversation: {
        sessionId,
        accountId,
        address,
        sourceMessageId,
        key,
        senderId: sender.id,
        peer,
        isExpecting: false,
      },
      maxTextLength: channel.limits.maxTextLength,
      nowMs: clock.now(),
    });
    await outbox.addOnce(id, replies);
  }

  /** People can begin a new session in the same conversation: then its key is another. */
  #getFullKey(key: string): string {
    const generation = this.#parts.store.table.getGeneration(key);
    return generation === 0 ? key : `${key} ${generation}`;
  }

  async #inOrder<T>(key: string, work: () => Promise<T>): Promise<T> {
    const known = this.#queues.get(key) ?? { queue: new SerialQueue(), users: 0 };
    this.#queues.set(key, known);
    known.users++;
    try {
      return await known.queue.add(work);
    } finally {
      known.users--;
      if (known.users === 0) this.#queues.delete(key);
    }
  }
}

/** Names the reply to a message, which is the same however often the platform sends the message. */
const getReplyId = ({ account, message }: RoutedMessage, name: string): string =>
  `${name}/${account.accountId}/${message.id}`;

const toFacts = (
  { accountId, settings }: Account,
  { peer, parentPeer, guildId, roles, teamId }: IncomingMessage,
): RouteFacts => ({
  channel: settings.type,
  accountId,
  peer,
  ...(parentPeer && { parentPeer }),
  ...(guildId !== undefined && { guildId }),
  ...(roles && { roles }),
  ...(teamId !== undefined && { teamId }),
});
