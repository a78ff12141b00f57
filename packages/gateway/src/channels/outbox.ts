/**
 * Sends what is recorded, in order in each conversation. Each reply is recorded before it is sent, and an attempt before it
 * begins, so that a crash never makes a second message of one: it is sent again only where the platform can tell.
 */
import { readFile } from "node:fs/promises";
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { Channel, Delivery } from "./channel.ts";
import { type AfterAttempt, decideAfterAttempt, decideAfterCrash, isProven } from "./decide-delivery.ts";
import type { OutboxReply, StoredReply } from "./records.ts";
import type { ChannelStore } from "./store.ts";

interface OutboxParts {
  store: ChannelStore;
  /** Undefined while the account is not open: its replies wait. */
  findChannel: (accountId: string) => Channel | undefined;
  clock: Clock;
  log: (line: string) => void;
}

/** Replies of one conversation, in the order in which they are sent. */
interface Lane {
  readonly accountId: string;
  readonly ids: string[];
  isWorking: boolean;
  cancelTimer: () => void;
}

export class ChannelOutbox {
  readonly #parts: OutboxParts;
  readonly #lanes = new Map<string, Lane>();
  #isStopped = false;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    for (const reply of parts.store.table.replies()) this.#queue(reply);
  }

  /** Resolves when the replies are on the disk. Those that are recorded already stay as they are. */
  async add(replies: readonly StoredReply[]): Promise<void> {
    if (replies.length > 0) await this.#parts.store.append({ type: "replies", replies });
    this.onRecorded(replies);
  }

  /** Sends replies that are on the disk. */
  onRecorded(replies: readonly StoredReply[]): void {
    const { table } = this.#parts.store;
    for (const { id } of replies) {
      const reply = table.getReply(id);
      if (reply) this.#queue(reply);
    }
    for (const { accountId } of replies) this.wake(accountId);
  }

  /** Sends what waits for an account that is open now. */
  wake(accountId: string): void {
    for (const lane of this.#lanes.values()) if (lane.accountId === accountId) void this.#work(lane);
  }

  /** Sends a reply again that was refused or is uncertain, because a person says so. False if there is none. */
  async sendAgain(id: string): Promise<boolean> {
    const { store } = this.#parts;
    const reply = store.table.getReply(id);
    if (reply?.state !== "refused" && reply?.state !== "uncertain") return false;
    await store.append({ type: "not_sent", id });
    this.onRecorded([reply]);
    return true;
  }

  /** Forgets a reply that was refused or is uncertain. False if there is none. */
  async drop(id: string): Promise<boolean> {
    const { store } = this.#parts;
    const state = store.table.getReply(id)?.state;
    if (state !== "refused" && state !== "uncertain") return false;
    await store.append({ type: "dropped", id });
    return true;
  }

  /** Begins no more attempts. What waits stays on the disk. */
  stop(): void {
    this.#isStopped = true;
    for (const { cancelTimer } of this.#lanes.values()) cancelTimer();
  }

  #queue(reply: OutboxReply): void {
    if (reply.state !== "waiting" && reply.state !== "sending") return;
    const key = JSON.stringify([reply.accountId, reply.address]);
    const lane = this.#lanes.get(key) ?? {
      accountId: reply.accountId,
      ids: [],
      isWorking: false,
      cancelTimer: () => {},
    };
    this.#lanes.set(key, lane);
    if (!lane.ids.includes(reply.id)) lane.ids.push(reply.id);
  }

  async #work(lane: Lane): Promise<void> {
    if (lane.isWorking) return;
    lane.isWorking = true;
    lane.cancelTimer();
    try {
      for (let [id] = lane.ids; id !== undefined && !this.#isStopped; [id] = lane.ids) {
        const channel = this.#parts.findChannel(lane.accountId);
        if (!channel) return;
        const afterMs = await this.#send(channel, id);
        if (afterMs === undefined) lane.ids.shift();
        else if (afterMs > 0) {
          // A stop during the attempt has cancelled the timers that were there.
          if (!this.#isStopped) lane.cancelTimer = this.#parts.clock.setTimer(afterMs, () => void this.#work(lane));
          return;
        }
      }
    } catch (error) {
      // The disk refuses. What was not recorded is not sent.
      this.#parts.log(`Replies of ${lane.accountId} cannot be sent: ${getErrorMessage(error)}`);
      if (!this.#isStopped) lane.cancelTimer = this.#parts.clock.setTimer(diskRetryMs, () => void this.#work(lane));
    } finally {
      lane.isWorking = false;
    }
  }

  /** Returns after how long the reply is to be sent again; undefined if it is done with. */
  async #send(channel: Channel, id: string): Promise<number | undefined> {
    const { store, clock } = this.#parts;
    const reply = store.table.getReply(id);
    if (reply?.state !== "waiting" && reply?.state !== "sending") return undefined;
    const now = clock.now();
    // An attempt whose end is not known: the process that made it is gone, or the platform did not answer.
    const wasUncertain = reply.state === "sending";
    const provesNonce = isProven(channel.limits, wasUncertain ? now - (reply.uncertainSince ?? 0) : 0);
    if (wasUncertain && !provesNonce) return await this.#settle(reply, decideAfterCrash(provesNonce));
    await store.append({ type: "attempt", id, at: now });
    const delivery = await attempt(channel, reply);
    const attempts = reply.attempts + 1;
    const ageMs = clock.now() - reply.recordedAt;
    return await this.#settle(reply, decideAfterAttempt({ delivery, attempts, ageMs, provesNonce, wasUncertain }));
  }

  async #settle({ id, accountId }: OutboxReply, next: AfterAttempt): Promise<number | undefined> {
    const { store, log } = this.#parts;
    switch (next.kind) {
      case "sent":
        await store.append({ type: "sent", id });
        return undefined;
      case "over": {
        await store.append({ type: "over", id, state: next.state, reason: next.reason });
        const what = next.state === "refused" ? "was not delivered" : "may not have been delivered";
        log(`A reply of ${accountId} ${what}: ${next.reason} tau channels outbox shows it.`);
        return undefined;
      }
      case "retry":
        if (next.isKnownUnsent) await store.append({ type: "not_sent", id });
        return next.afterMs;
    }
  }
}

const diskRetryMs = 5_000;

/** An adapter that throws has perhaps delivered it. */
async function attempt(channel: Channel, reply: OutboxReply): Promise<Delivery> {
  const { id: nonce, address, text, replyTo, buttons, file } = reply;
  const to = { address, nonce, ...(replyTo !== undefined && { replyTo }) };
  try {
    if (!file) return await channel.send({ ...to, text, ...(buttons && { buttons }) });
    if (!channel.sendFile) return { kind: "refused", reason: "The platform takes no files." };
    const bytes = await readFile(file.path);
    return await channel.sendFile({ ...to, file: { name: file.name, mimeType: file.mimeType, bytes } });
  } catch (error) {
    return { kind: "unknown", reason: getErrorMessage(error) };
  }
}
