/**
 * The port of a channel: one account on one platform. An adapter translates between the platform and these types, and
 * decides nothing: who may write, which session answers, and what is sent again is decided outside of it.
 */
import type { Clock } from "@tau/ai";

/** The kinds of conversations that a message can come from. A thread belongs to a group or a channel. */
export type PeerKind = "direct" | "group" | "channel" | "thread";

export interface Peer {
  readonly kind: PeerKind;
  /** The platform's id. */
  readonly id: string;
}

/** Facts about a message that choose the agent and the session, and are known before it is read. */
export interface ConversationFacts {
  /** The conversation: a person in a direct one. */
  readonly peer: Peer;
  /** The conversation that a thread belongs to. */
  readonly parentPeer?: Peer;
  /** A server of Discord, or what a platform has in its place. */
  readonly guildId?: string;
  /** The sender's roles in the guild. */
  readonly roles?: readonly string[];
  /** A workspace of Slack. */
  readonly teamId?: string;
}

/** Where messages of a conversation are sent to, in the platform's own ids. */
export interface ChannelAddress {
  readonly channelId: string;
  readonly threadId?: string;
}

export interface ChannelSender {
  /** The identity. It never changes and nobody else can have it; names are neither. */
  readonly id: string;
  readonly name: string;
}

export interface ChannelFile {
  /** Chosen by the sender. Not a path. */
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A message as an adapter reports it. */
export interface IncomingMessage extends ConversationFacts {
  /** The platform's id: the same message has the same one, however often it is reported. */
  readonly id: string;
  readonly address: ChannelAddress;
  readonly sender: ChannelSender;
  readonly text: string;
  /** Whether it is meant for the account, where a conversation has more than two members. */
  readonly isMentioned: boolean;
  /** Loads what came with the message. Called only for a sender who may write. */
  readonly loadFiles?: () => Promise<readonly ChannelFile[]>;
}

/** A button that somebody pressed below a message. */
export interface ChannelPress {
  readonly address: ChannelAddress;
  readonly sender: ChannelSender;
  /** The value of the button. */
  readonly value: string;
}

export interface ChannelButton {
  readonly label: string;
  readonly value: string;
}

export interface OutgoingText {
  readonly address: ChannelAddress;
  /** Markdown, at most `limits.maxTextLength` characters. The adapter takes away what would notify or mislead people. */
  readonly text: string;
  /** The message that this answers, where the platform shows that. */
  readonly replyTo?: string;
  readonly buttons?: readonly ChannelButton[];
  /** Identifies the message in each attempt to send it. A platform that takes it makes one message of all attempts. */
  readonly nonce: string;
}

export interface OutgoingFile {
  readonly address: ChannelAddress;
  readonly file: ChannelFile;
  readonly replyTo?: string;
  readonly nonce: string;
}

/** How an attempt to send something ended. */
export type Delivery =
  | { readonly kind: "sent"; readonly messageId: string }
  /** The platform does not take it, now or later. */
  | { readonly kind: "refused"; readonly reason: string }
  /** It is certain that nothing was delivered: it may be sent again. */
  | { readonly kind: "not_sent"; readonly reason: string; readonly retryAfterMs?: number }
  /** Perhaps it was delivered. */
  | { readonly kind: "unknown"; readonly reason: string };

export interface ChannelLimits {
  /** In UTF-16 units. */
  readonly maxTextLength: number;
  readonly maxFileBytes: number;
  /** How often a message may be edited. Undefined: not at all. */
  readonly minEditIntervalMs?: number;
  /** Whether sending twice with one nonce makes one message. */
  readonly provesNonce: boolean;
  /** How long after the first attempt that is certain. Default: always. */
  readonly nonceExpiresInMs?: number;
}

export type ChannelState =
  | { readonly kind: "connecting" }
  | { readonly kind: "connected" }
  | { readonly kind: "waiting"; readonly reason: string; readonly forMs: number }
  /** It does not connect again by itself. */
  | { readonly kind: "failed"; readonly reason: string };

export interface ChannelEvents {
  /**
   * Resolves when the message needs not be reported again: it is on the disk, or nobody will answer it. Rejects if the
   * platform should report it again later.
   */
  readonly onMessage: (message: IncomingMessage) => Promise<void>;
  readonly onPress: (press: ChannelPress) => Promise<void>;
  readonly onState: (state: ChannelState) => void;
}

/** A request of the platform itself, to the address of the account: `/channels/NAME` of the gateway. */
export interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** An open account. Methods that a platform does not have are undefined. */
export interface Channel {
  readonly limits: ChannelLimits;
  /** Receives until the signal is aborted, and connects again whenever the connection is lost. Rejects only for a bug. */
  run(events: ChannelEvents, signal: AbortSignal): Promise<void>;
  send(message: OutgoingText): Promise<Delivery>;
  edit?(message: OutgoingText & { readonly messageId: string }): Promise<Delivery>;
  react?(address: ChannelAddress, messageId: string, emoji: string): Promise<Delivery>;
  sendFile?(file: OutgoingFile): Promise<Delivery>;
  /** Shows for some seconds that an answer is being written. Never rejects. */
  showTyping?(address: ChannelAddress): Promise<void>;
  /** Takes a request that claims to come from the platform. It proves that before anything of it is used. */
  receiveRequest?(request: ReceivedRequest): Promise<{ readonly status: number; readonly body?: unknown }>;
}

/** Passed to an adapter to open an account. */
export interface ChannelOptions {
  /** The name of the account in the settings. */
  readonly accountId: string;
  readonly settings: ChannelSettings;
  /** Reads one of the account's secrets, such as `token`. Throws if the user has stored none. */
  readonly getSecret: (name: string) => Promise<string>;
  readonly clock: Clock;
  /** Keeps where the account has got to. Undefined: it begins anew with each start. */
  readonly position?: ChannelPosition;
  /** Writes a line to the gateway's log. */
  readonly log: (line: string) => void;
}

/** Where an account has got to among what its platform sends, kept over restarts. Only the adapter knows the format. */
export interface ChannelPosition {
  /** Undefined if there is none. */
  read(): Promise<string | undefined>;
  /** Resolves when a killed process would not lose it. A power cut may. */
  write(text: string): Promise<void>;
}

/** The settings of an account that are the adapter's concern. */
export interface ChannelSettings {
  /** The address of the platform, for servers of one's own and for tests. */
  readonly baseUrl?: string;
  readonly mode?: string;
  readonly url?: string;
  readonly command?: string;
  readonly args?: readonly string[];
}

export interface ChannelType {
  /** Names of the secrets that `tau channels login` asks for, with what to write. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Its tools are called after it: `NAME_reply`. */
  readonly open: (options: ChannelOptions) => Promise<Channel>;
}
