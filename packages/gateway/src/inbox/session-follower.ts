/** Follows the log of a session that is open: what the log says of a message is what has happened to it. */
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { AgentSession } from "@tau/harness";
import type { HostedSession } from "@tau/harness/host";
import type { SessionEntry } from "@tau/protocol";
import type { GatewaySettings } from "../settings.ts";
import { toAdopted } from "./adopt.ts";
import { decideRecovery, toOutcome } from "./decide.ts";
import type { InboxStore } from "./inbox-store.ts";
import { getLogId, type StoredMessage } from "./message.ts";
import type { SessionMessages } from "./session-messages.ts";

export interface SessionFollowerParts {
  store: InboxStore;
  /** `deviceId`: whom it is opened for, if it is not open. */
  openSession: (sessionId: string, deviceId?: string) => Promise<{ hosted: HostedSession }>;
  getSettings: () => GatewaySettings;
  clock: Clock;
  /** When the gateway was started, by the clock. */
  startedAt: number;
  log: (line: string) => void;
  onGivenUp: (message: StoredMessage) => void;
}

export class SessionFollower {
  readonly #sessionId: string;
  readonly #parts: SessionFollowerParts;
  readonly #messages: SessionMessages;
  /** `ready` resolves when the log was compared with what has no outcome. */
  #followed: { readonly hosted: HostedSession; readonly ready: Promise<void> } | undefined;
  #stopListening = () => {};
  /** Ids in the log of messages that the session has, or is about to get. */
  readonly #handed = new Set<string>();
  /** The session's own queue has messages from before it was opened. */
  hasLeftovers = false;

  constructor(sessionId: string, messages: SessionMessages, parts: SessionFollowerParts) {
    this.#sessionId = sessionId;
    this.#messages = messages;
    this.#parts = parts;
  }

  /** Undefined before it was opened. */
  get session(): AgentSession | undefined {
    return this.#followed?.hosted.session;
  }

  isHanded(message: StoredMessage): boolean {
    return this.#handed.has(getLogId(message));
  }

  /** The messages that were not handed to the session yet, oldest first. */
  listWaiting(): StoredMessage[] {
    return this.#messages.listUnsettled().filter((message) => !this.isHanded(message));
  }

  markHanded(logIds: readonly string[]): void {
    for (const logId of logIds) this.#handed.add(logId);
  }

  unmarkHanded(logIds: readonly string[]): void {
    for (const logId of logIds) this.#handed.delete(logId);
  }

  /** Opens the session if it is not open, and follows it from then on. */
  async open(deviceId?: string): Promise<HostedSession> {
    const { hosted } = await this.#parts.openSession(this.#sessionId, deviceId);
    if (hosted !== this.#followed?.hosted) this.#follow(hosted);
    await this.#followed?.ready;
    return hosted;
  }

  stop(): void {
    this.#stopListening();
    this.#followed = undefined;
  }

  #follow(hosted: HostedSession): void {
    const { session } = hosted;
    this.#stopListening();
    this.#handed.clear();
    this.#stopListening = session.onSessionEvent((event) => {
      if (event.type === "entry_appended") this.#takeEntry(event.entry);
    });
    this.#followed = { hosted, ready: this.#reconcile(session) };
  }

  async #reconcile(session: AgentSession): Promise<void> {
    const unsettled = this.#messages.listUnsettled();
    if (unsettled.length === 0) return;
    const { clock, startedAt, getSettings } = this.#parts;
    const { ttlMs } = getSettings().queue;
    const logged = await session.sessionManager.findQueued(new Set(unsettled.map(getLogId)));
    for (const message of unsettled) {
      const recovery = decideRecovery(message, {
        logged: logged.get(getLogId(message)),
        isFromBefore: message.acceptedAt < startedAt,
        ageMs: clock.now() - message.acceptedAt,
        ttlMs,
      });
      if (recovery.kind === "settle") await this.#messages.settle([message], recovery.outcome);
      else if (recovery.kind === "queued") {
        this.#handed.add(getLogId(message));
        this.hasLeftovers = true;
      }
    }
  }

  #takeEntry(entry: SessionEntry): void {
    const isSaid = entry.type === "message" && entry.queueId !== undefined;
    if (!isSaid && entry.type !== "queue") return;
    const { queueId } = entry as { queueId: string };
    const messages = this.#messages.listUnsettled().filter((message) => getLogId(message) === queueId);
    if (messages.length === 0) return this.#adopt(entry);
    if (entry.type === "queue" && entry.state === "accepted") return void this.#handed.add(queueId);
    this.#handed.delete(queueId);
    const state = entry.type === "queue" ? (entry.state as "cancelled" | "refused") : "said";
    void this.#messages.settle(messages, toOutcome(state));
  }

  /** A message that came into the session's queue in another way, such as an edited one, is kept like the others. */
  #adopt(entry: SessionEntry): void {
    if (entry.type !== "queue" || entry.state !== "accepted" || this.#messages.isSettled(entry.queueId)) return;
    const { store, clock, log } = this.#parts;
    this.#handed.add(entry.queueId);
    const adopted = toAdopted(entry, { sessionId: this.#sessionId, acceptedAt: clock.now() });
    store.accept(adopted).catch((error: unknown) => log(getErrorMessage(error)));
  }
}
