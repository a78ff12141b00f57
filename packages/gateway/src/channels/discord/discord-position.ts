/**
 * Keeps up to where everything is handled that Discord has sent, so that nothing is lost when the process is killed: a
 * session is resumed from there, and the history of a conversation is read from its last message. Sending again what is
 * handled does no harm.
 */
import type { SessionInfo } from "@discordjs/ws";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import type { ChannelPosition } from "@tau/extensions";

/** A dispatch of the gateway that is being handled. */
interface PositionMark {
  readonly sessionId: string | undefined;
  readonly sequence: number;
}

/** More conversations than this are not looked at after a long time without a connection. */
const maxChannels = 200;

export class DiscordPosition {
  readonly #storage: ChannelPosition | undefined;
  /** The session as the library has it: with everything that was received. */
  #session: SessionInfo | null = null;
  /** The last dispatch that was received, of this session. */
  #seen = 0;
  readonly #handling = new Set<PositionMark>();
  /** The session before which nothing is left to read. No other is stored: whoever resumes a session reads no history. */
  #completeId: string | undefined;
  /** The last message that was handled in each conversation. The one that was used last is the last. */
  readonly #lastMessages = new Map<string, string>();
  #isChanged = false;

  constructor(storage: ChannelPosition | undefined) {
    this.#storage = storage;
  }

  async load(): Promise<void> {
    const stored = tryParseJson((await this.#storage?.read()) ?? "");
    if (!isRecord(stored)) return;
    if (isSession(stored["session"])) {
      this.setSession(stored["session"]);
      this.#completeId = stored["session"].sessionId;
    }
    const last = stored["lastMessages"];
    for (const entry of Array.isArray(last) ? (last as unknown[]) : []) {
      if (Array.isArray(entry)) this.#lastMessages.set(String(entry[0]), String(entry[1]));
    }
  }

  /** Whether something changed since it was written. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  getSession(): SessionInfo | null {
    return this.#session;
  }

  /** Takes a session whose address no WebSocket can have as none. */
  setSession(session: SessionInfo | null): void {
    if (session && session.sessionId !== this.#session?.sessionId) this.#seen = session.sequence;
    this.#session = session && isSession(session) ? session : null;
    this.#isChanged = true;
  }

  /** Marks that everything is handled that was written before this session. */
  setComplete(sessionId: string | undefined): void {
    this.#completeId = sessionId;
    this.#isChanged = true;
  }

  /** Marks that a dispatch is received. Everything before it is done, except for what was begun. */
  receive(sequence: number): void {
    this.#seen = Math.max(this.#seen, sequence);
    this.#isChanged = true;
  }

  /** Marks that a dispatch is being handled, until `end`. */
  begin(sequence: number): PositionMark {
    this.receive(sequence);
    const mark = { sessionId: this.#session?.sessionId, sequence };
    this.#handling.add(mark);
    return mark;
  }

  end(mark: PositionMark): void {
    this.#handling.delete(mark);
    this.#isChanged = true;
  }

  /** Remembers a conversation: its messages after this one are not handled yet. */
  setLastMessage(channelId: string, messageId: string): void {
    const previous = this.#lastMessages.get(channelId);
    const last = previous !== undefined && BigInt(previous) > BigInt(messageId) ? previous : messageId;
    this.#lastMessages.delete(channelId);
    this.#lastMessages.set(channelId, last);
    const [oldest] = this.#lastMessages.keys();
    if (this.#lastMessages.size > maxChannels && oldest !== undefined) this.#lastMessages.delete(oldest);
    this.#isChanged = true;
  }

  /** The conversations with their last messages, the one that was used last first. */
  listLastMessages(): [channelId: string, messageId: string][] {
    return [...this.#lastMessages].toReversed();
  }

  hasLastMessage(channelId: string): boolean {
    return this.#lastMessages.has(channelId);
  }

  /** Writes what has changed. */
  async save(): Promise<void> {
    if (!this.#isChanged || !this.#storage) return;
    this.#isChanged = false;
    try {
      await this.#storage.write(JSON.stringify(this.#toStored()));
    } catch (error) {
      this.#isChanged = true;
      throw error;
    }
  }

  #toStored() {
    const session = this.#session?.sessionId === this.#completeId ? this.#session : null;
    const open = [...this.#handling].filter(({ sessionId }) => sessionId === session?.sessionId);
    const sequence = Math.min(this.#seen, ...open.map((mark) => mark.sequence - 1));
    return { session: session && { ...session, sequence }, lastMessages: [...this.#lastMessages] };
  }
}

const isSession = (value: unknown): value is SessionInfo =>
  isRecord(value) &&
  typeof value["sessionId"] === "string" &&
  typeof value["sequence"] === "number" &&
  typeof value["shardCount"] === "number" &&
  typeof value["resumeURL"] === "string" &&
  /^wss?:\/\//.test(value["resumeURL"]) &&
  URL.canParse(value["resumeURL"]);
