/** A message that the gateway has accepted for a session, and what becomes of it. */
import type { ImageContent } from "@tau/ai";
import type { InboxMessageData, InboxRequestData, QueueMode } from "@tau/protocol/gateway";

/** The sender of a message. Runs of webhooks and schedules have a lane of their own. */
interface MessageOrigin {
  readonly kind: "client" | "scheduled";
  readonly deviceId?: string;
  /** The sender's scopes, for tools that ask for one. */
  readonly scopes?: readonly string[];
  /** The person in a channel who wrote it. */
  readonly identity?: string;
}

export interface InboxMessage {
  readonly id: string;
  readonly sessionId: string;
  readonly text: string;
  readonly images?: readonly ImageContent[];
  /** It is said as it is: nothing in it is a command, a template or the name of a file. */
  readonly isVerbatim?: boolean;
  /** Names the author, if that is not the device that sent it; see `SubmitOptions.sender`. The text has the name too. */
  readonly sender?: string;
  readonly mode: QueueMode;
  readonly origin: MessageOrigin;
  /** Names the request that brought it, if that had an idempotency key: the sender and the key. */
  readonly requestKey?: string;
  /** Milliseconds since the epoch. */
  readonly acceptedAt: number;
}

/** A message without a final outcome, or one that was given up. */
export interface StoredMessage extends InboxMessage {
  readonly state: "waiting" | "dead";
  /** Why it was given up. */
  readonly reason?: string;
  /** It was given up, and the next message of its session has to say so. */
  readonly isUntold?: boolean;
  /** It was handed to the session; see `Handover`. */
  readonly handover?: Handover;
}

/** Written before messages are handed to a session in another form than one message as it is. */
export interface Handover {
  /** The id of the message in the session's log, which may stand for several. */
  readonly logId: string;
  /** The given-up messages that are mentioned with it. */
  readonly told: readonly string[];
  /** It is a command of an extension, which leaves nothing in the log: it must not be handed over again. */
  readonly isCommand?: boolean;
}

/** How a message ends: exactly one of these. */
export type MessageOutcome =
  | { readonly kind: "injected" }
  | { readonly kind: "cancelled"; readonly reason: string }
  | { readonly kind: "dead"; readonly reason: string; readonly isUntold?: boolean };

/** The outcome of a request with an idempotency key that brought a message. It is kept longer than the message itself. */
export interface RequestRecord {
  readonly messageId: string;
  readonly sessionId: string;
  /** Milliseconds since the epoch. */
  readonly acceptedAt: number;
  /** Undefined while the message waits, and for one that was given up and can be replayed. */
  readonly outcome?: MessageOutcome;
}

/** The id of a message in the session's log. */
export const getLogId = ({ id, handover }: StoredMessage): string => handover?.logId ?? id;

/** Returns the scopes that all senders have. A sender that is not known any more has none. */
export const getCommonScopes = (messages: readonly InboxMessage[]): readonly string[] =>
  messages.map(({ origin }) => origin.scopes ?? []).reduce((all, one) => all.filter((scope) => one.includes(scope)));

const maxShownLength = 200;

/** The beginning of a message, on one line. */
export function getFirstWords(text: string, maxLength = maxShownLength): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxLength ? `${line.slice(0, maxLength).toWellFormed()}…` : line;
}

/** How the outcomes of messages are called on the wire. */
const outcomeStates = { injected: "said", cancelled: "cancelled", dead: "dead" } as const;

/** `message` is the stored one, while there is one. */
export function toRequestData(
  { messageId, sessionId, acceptedAt, outcome }: RequestRecord,
  message: StoredMessage | undefined,
): InboxRequestData {
  const state = message?.state ?? (outcome ? outcomeStates[outcome.kind] : "waiting");
  const reason = message ? message.reason : outcome?.kind === "injected" ? undefined : outcome?.reason;
  const at = new Date(acceptedAt).toISOString();
  return { messageId, sessionId, state, ...(reason !== undefined && { reason }), acceptedAt: at };
}

export const toMessageData = ({
  id,
  sessionId,
  text,
  mode,
  state,
  reason,
  acceptedAt,
}: StoredMessage): InboxMessageData => ({
  id,
  sessionId,
  text: getFirstWords(text),
  mode,
  state,
  ...(reason !== undefined && { reason }),
  acceptedAt: new Date(acceptedAt).toISOString(),
});
