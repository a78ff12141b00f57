/** Takes messages of channels to their sessions. What a session says goes back by `follow-sessions.ts`. */
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Clock, Ids, ImageContent } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import { customTypes } from "@tau/protocol";
import type { ChannelData, ChannelPeerData, ChannelReplyData, MethodData, QueueMode } from "@tau/protocol/gateway";
import { detectImageType } from "@tau/tools/platform";
import { GatewayError, isGatewayError } from "../errors.ts";
import { getDigest } from "../idempotency/digest.ts";
import type { Recovered, RequestKeys } from "../idempotency/idempotency-keys.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { getSessionKey, resolveRoute, type Route, type RouteFacts } from "../routing/index.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import type { GatewaySettings } from "../settings.ts";
import { resolveAccountSettings } from "./account-settings.ts";
import type { Account, AccountEvents, ChannelAccounts } from "./accounts.ts";
import type { ChannelPress, IncomingMessage, ReceivedRequest } from "./channel.ts";
import { type ChatCommand, parseChatCommand } from "./chat-commands.ts";
import { decideIncoming } from "./decide-incoming.ts";
import { describeAccount, describePeer, describeReply, formatAddress } from "./describe.ts";
import { FollowedSessions, getChannelDevice } from "./follow-sessions.ts";
import { formatMessage } from "./format-message.ts";
import type { ChannelOutbox } from "./outbox.ts";
import { type ChannelPeers, toPlainName } from "./peers.ts";
import type { Conversation } from "./records.ts";
import { runChatCommand } from "./run-chat-command.ts";
import { createReplies } from "./session-replies.ts";
import type { ChannelStore } from "./store.ts";

export interface ChannelsParts {
  store: ChannelStore;
  accounts: ChannelAccounts;
  outbox: ChannelOutbox;
  peers: ChannelPeers;
  sessions: OpenSessions;
  inbox: Inbox;
  requestKeys: RequestKeys;
  getSettings: () => GatewaySettings;
  agentDir: string;
  ids: Ids;
  clock: Clock;
  log: (line: string) => void;
}

/** A message with everything that decides where it goes. */
interface RoutedMessage {
  readonly account: Account;
  readonly message: IncomingMessage;
  readonly route: Route;
  /** Messages with the same key share a session. */
  readonly key: string;
}

interface NewSessionOptions {
  readonly account: Account;
  readonly route: Route;
  /** Binds a session to the conversation. */
  readonly record: (sessionId: string) => Promise<void>;
}

const queueModes: readonly string[] = ["steer", "followup", "collect", "interrupt"] satisfies QueueMode[];

/** How many conversations are looked at together after a crash. */
const maxRecovering = 4;

export class Channels implements AccountEvents {
  readonly #parts: ChannelsParts;
  readonly #followed: FollowedSessions;
  /** Keep the order of messages in each conversation. */
  readonly #queues = new Map<string, { readonly queue: SerialQueue; users: number }>();

  constructor(parts: ChannelsParts) {
    this.#parts = parts;
    const { store, outbox, accounts, sessions, inbox, clock, log } = parts;
    this.#followed = new FollowedSessions({
      store,
      outbox,
      findAccount: (accountId) => accounts.find(accountId),
      redact: (sessionId, text) => sessions.find(sessionId)?.redactLine(text) ?? text,
      inbox,
      clock,
      log,
    });
    sessions.watch({
      onOpened: (hosted) => this.#followed.follow(hosted),
      onClosed: (sessionId) => this.#followed.onClosed(sessionId),
    });
  }

  get peers(): ChannelPeers {
    return this.#parts.peers;
  }

  get outbox(): ChannelOutbox {
    return this.#parts.outbox;
  }

  /** Takes a request of a platform. An account that takes none answers like one that does not exist. */
  async receiveRequest(accountId: string, request: ReceivedRequest): Promise<{ status: number; body?: unknown }> {
    const answer = await this.#parts.accounts.find(accountId)?.channel.receiveRequest?.(request);
    return answer ?? { status: 404 };
  }

  /** Lists the accounts of the settings, also those that are turned off. */
  list(): ChannelData[] {
    const { accounts, store, getSettings } = this.#parts;
    const open = new Map(accounts.list().map((health) => [health.accountId, health]));
    const replies = [...store.table.replies()];
    return Object.entries(getSettings().channels).map(([name, written]) =>
      describeAccount(name, {
        type: resolveAccountSettings(written).type,
        health: open.get(name),
        replies: replies.filter(({ accountId }) => accountId === name),
      }),
    );
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
    return [...this.#parts.store.table.replies()].map(describeReply);
  }

  /** Sends a short message to the conversation of the account that was used last. */
  async test(accountId: string): Promise<MethodData<"channels.test">> {
    const { accounts, store, ids } = this.#parts;
    const account = accounts.find(accountId);
    if (!account) return { sent: false, reason: "It is not open; tau channels list says why." };
    const conversation = [...store.table.conversations()].findLast((each) => each.accountId === accountId);
    if (!conversation) return { sent: false, reason: "Nobody has written to it yet, so there is nobody to write to." };
    const { address } = conversation;
    const delivery = await account.channel.send({ address, text: "This is a test of the connection.", nonce: ids() });
    const to = formatAddress(address);
    return delivery.kind === "sent" ? { sent: true, to } : { sent: false, to, reason: delivery.reason };
  }

  /** Opens the accounts, and continues with what a crash has cut. */
  async start(): Promise<void> {
    const { accounts, getSettings } = this.#parts;
    await accounts.start(getSettings().channels, this);
    const cut = [...this.#parts.store.table.conversations()].filter(({ isExpecting }) => isExpecting);
    const recover = async () => {
      for (let next = cut.shift(); next; next = cut.shift()) await this.#recover(next);
    };
    await Promise.all(Array.from({ length: maxRecovering }, recover));
  }

  /** Sends nothing more. What waits stays on the disk. */
  async stop(): Promise<void> {
    this.#parts.outbox.stop();
    await this.#parts.accounts.close();
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
      const code = await peers.offer(accountId, message.sender);
      if (code === undefined) return;
      const text = `Hello. I answer people whom my owner knows. If that is you, ask for this: tau channels pair ${code}`;
      const reply = { id: `code/${accountId}/${message.id}`, sessionId: "", accountId, address: message.address, text };
      return await outbox.add([{ ...reply, recordedAt: clock.now() }]);
    }
    const facts = toFacts(account, message);
    const { bindings, defaultAgent, session } = getSettings();
    const route = resolveRoute(facts, bindings, defaultAgent);
    const base = getSessionKey(facts, { ...session, agent: route.agent });
    await this.#inOrder(base, () => this.#answer({ account, message, route, key: base }));
  }

  async onPress(accountId: string, press: ChannelPress): Promise<void> {
    const { peers, store, clock, outbox, accounts } = this.#parts;
    const command = parseChatCommand(press.value);
    if (!command || !peers.isPaired(accountId, press.sender.id)) return;
    const conversation = [...store.table.conversations()].findLast(
      (each) => each.accountId === accountId && getDigest(each.address) === getDigest(press.address),
    );
    if (!conversation) return;
    const text = await this.#runCommand(command, { senderId: press.sender.id, key: conversation.key, conversation });
    const maxTextLength = accounts.find(accountId)?.channel.limits.maxTextLength ?? 2_000;
    const id = `press/${conversation.sessionId}/${getDigest(press)}`;
    await outbox.add(createReplies(text, id, { conversation, maxTextLength, nowMs: clock.now() }));
  }

  async #answer(routed: RoutedMessage): Promise<void> {
    const { message, account, key } = routed;
    const command = parseChatCommand(message.text);
    const requestKey = `${getChannelDevice(account.accountId)}\n${message.id}`;
    const work = command ? () => this.#answerCommand(routed, command) : () => this.#accept(routed, requestKey);
    await this.#parts.requestKeys.once(requestKey, {
      body: getDigest({ key, text: message.text }),
      run: async () => {
        await work();
        return null;
      },
      recover: () => this.#findAccepted(requestKey),
    });
  }

  /** After a crash: a message that is in the inbox is not accepted again. */
  async #findAccepted(requestKey: string): Promise<Recovered> {
    const request = this.#parts.inbox.findRequest(requestKey);
    return request ? { kind: "payload", payload: null } : { kind: "no_effect" };
  }

  async #accept({ account, message, route, key }: RoutedMessage, requestKey: string): Promise<void> {
    const { store, inbox, getSettings } = this.#parts;
    const { accountId, settings } = account;
    const { address, id: sourceMessageId, sender } = message;
    const from = { accountId, address, sourceMessageId, senderId: sender.id, peer: message.peer };
    const received = { ...from, key: this.#getFullKey(key) };
    // Before it is opened, because its tools are those of its conversation.
    const record = (sessionId: string) => store.append({ type: "received", conversation: { ...received, sessionId } });
    const open = await this.#openSession({ account, route, key: received.key, record });
    const { session } = open.hosted;
    const { images, saved } = await this.#takeFiles(message, session.cwd);
    const { sessionId } = session;
    this.#followed.follow(open.hosted);
    await inbox.accept({
      sessionId,
      text: formatMessage(message, saved),
      ...(images.length > 0 && { images }),
      // Nothing that people write in a chat is a command of the session, a template or the name of a file.
      isVerbatim: true,
      mode: store.table.getQueueMode(key) ?? settings.queue ?? getSettings().queue.mode,
      origin: { kind: "client", deviceId: getChannelDevice(accountId), scopes: [] },
      requestKey,
    });
  }

  async #answerCommand({ account, message, key }: RoutedMessage, command: ChatCommand): Promise<void> {
    const { store, outbox, clock } = this.#parts;
    const { accountId, channel } = account;
    const conversation = store.table.findByKey(this.#getFullKey(key));
    const text = await this.#runCommand(command, { senderId: message.sender.id, key, conversation });
    const { address, id: sourceMessageId } = message;
    const to = { sessionId: conversation?.sessionId ?? "", accountId, address, sourceMessageId };
    const replies = createReplies(text, `command/${accountId}/${message.id}`, {
      conversation: { ...to, key, senderId: message.sender.id, peer: message.peer, isExpecting: false },
      maxTextLength: channel.limits.maxTextLength,
      nowMs: clock.now(),
    });
    await outbox.add(replies);
  }

  async #runCommand(
    command: ChatCommand,
    { senderId, key, conversation }: { senderId: string; key: string; conversation: Conversation | undefined },
  ): Promise<string> {
    const { store, sessions, getSettings } = this.#parts;
    return await runChatCommand({
      command,
      senderId,
      conversation,
      openSession: async () => conversation && (await sessions.open(conversation.sessionId)),
      renew: () => store.append({ type: "renewed", key, generation: store.table.getGeneration(key) + 1 }),
      queue: {
        get: () => store.table.getQueueMode(key) ?? getSettings().queue.mode,
        set: async (mode) => {
          if (!queueModes.includes(mode)) return false;
          await store.append({ type: "queue", key, mode: mode as QueueMode });
          return true;
        },
      },
    });
  }

  /** The session of a key, or a new one if there is none or it was deleted. `record` binds it to its conversation. */
  async #openSession({ key, ...options }: NewSessionOptions & { key: string }): Promise<OpenSession> {
    const { store, sessions } = this.#parts;
    const known = store.table.findByKey(key);
    if (!known) return await this.#createSession(options);
    try {
      await options.record(known.sessionId);
      return await sessions.open(known.sessionId);
    } catch (error) {
      if (!isGatewayError(error) || error.code !== "not_found") throw error;
      return await this.#createSession(options);
    }
  }

  async #createSession({ account, route, record }: NewSessionOptions): Promise<OpenSession> {
    const { accountId, settings } = account;
    const { agent } = route;
    const { sessions, agentDir } = this.#parts;
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

  /** Images are shown to the model; other files are put into the workspace. */
  async #takeFiles(message: IncomingMessage, cwd: string): Promise<{ images: ImageContent[]; saved: string[] }> {
    const [images, saved]: [ImageContent[], string[]] = [[], []];
    for (const { name, bytes } of (await message.loadFiles?.()) ?? []) {
      const imageType = detectImageType(bytes);
      if (imageType !== undefined) {
        images.push({ type: "image", data: Buffer.from(bytes).toString("base64"), mimeType: imageType });
        continue;
      }
      const directory = join("received", getDigest(message.id).slice(0, 12));
      const path = join(directory, toFileName(name));
      await mkdir(join(cwd, directory), { recursive: true });
      await writeFile(join(cwd, path), bytes);
      saved.push(path);
    }
    return { images, saved };
  }

  async #recover({ sessionId }: Conversation): Promise<void> {
    const { sessions, store, log } = this.#parts;
    try {
      const { hosted } = await sessions.open(sessionId);
      await this.#followed.recover(hosted);
    } catch (error) {
      if (isGatewayError(error) && error.code === "not_found") await store.append({ type: "idle", sessionId });
      else log(`The conversation of the session ${sessionId} could not be continued: ${getErrorMessage(error)}`);
    }
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

/** A name of a file that is no path, is not hidden, and has no characters that commands read in another way. */
const toFileName = (name: string): string =>
  basename(toPlainName(name))
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, "_")
    .replace(/^[.-]+/, "") || "file";
