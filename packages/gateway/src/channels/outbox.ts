/**
 * Sends what is recorded, in order in each conversation. Each reply is recorded before it is sent, and an attempt before it
 * begins, so that a crash never makes a second message of one: it is sent again only where the platform can tell.
 */
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { ChannelLog } from "../log-lines.ts";
import type { Channel, Delivery } from "@tau/extensions";
import type { ChannelCounts } from "./counts.ts";
import type { FileCopies } from "./file-copies.ts";
import { type AfterAttempt, decideAfterAttempt, decideAfterCrash, isProven } from "./decide-delivery.ts";
import type { ChannelRecord, OutboxReply, StoredReply } from "./records.ts";
import { ShownDrafts } from "./shown-drafts.ts";
import type { ChannelStore } from "./store.ts";

interface OutboxParts {
  store: ChannelStore;
  /** Undefined while the account is not open: its replies wait. */
  findChannel: (accountId: string) => Channel | undefined;
  fileCopies: FileCopies;
  clock: Clock;
  counts: ChannelCounts;
  log: ChannelLog;
}

/** Replies of one conversation, in the order in which they are sent. */
interface Lane {
  readonly key: string;
  readonly accountId: string;
  readonly ids: string[];
  isWorking: boolean;
  /** Ends the pause before the next attempt. Undefined: there is none. */
  endPause: (() => void) | undefined;
}

export class ChannelOutbox {
  readonly #parts: OutboxParts;
  readonly #lanes = new Map<string, Lane>();
  readonly #drafts: ShownDrafts;
  #isStopped = true;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#drafts = new ShownDrafts(parts.clock);
  }

  /** Begins, or begins again, with what is recorded. */
  start(): void {
    this.#isStopped = false;
    // A draft of before is completed or dropped once its session is opened.
    for (const reply of this.#parts.store.table.replies()) if (!reply.isOpen) this.#queue(reply);
  }

  /** Resolves when the replies are on the disk. Those that are recorded already stay as they are. */
  async add(replies: readonly StoredReply[]): Promise<void> {
    if (replies.length > 0) await this.#parts.store.append({ type: "replies", replies });
    this.onRecorded(replies);
  }

  /** Like `add`, for messages that come from elsewhere: those of a source are recorded once, however often this is called. */
  async addOnce(source: string, replies: readonly StoredReply[]): Promise<void> {
    await this.#parts.store.append({ type: "told", source, replies });
    this.onRecorded(replies);
  }

  /** Takes what another node has recorded. */
  onRecord(record: ChannelRecord): void {
    if (record.type === "answered" || record.type === "replies" || record.type === "told")
      return this.onRecorded(record.replies);
    if (record.type === "not_sent") this.onRecorded([record]);
  }

  /** Sends replies that are on the disk. */
  onRecorded(replies: readonly Pick<StoredReply, "id">[]): void {
    const { table } = this.#parts.store;
    for (const { id } of replies) {
      const reply = table.getReply(id);
      const lane = reply && !this.#isStopped && this.#queue(reply);
      // A platform that wants a pause gets it.
      if (lane && !lane.endPause) void this.#work(lane);
    }
  }

  /**
   * Shows a newer text of a reply that is still being written. Nothing of it is recorded: the complete reply is. Undefined if
   * nobody sees the reply yet: then it begins with the newest text.
   */
  async showDraft(id: string, text: string): Promise<Delivery | undefined> {
    this.#drafts.write(id, text);
    const reply = this.#parts.store.table.getReply(id);
    if (reply?.state !== "shown" || this.#isStopped || this.#drafts.getShown(id) === text) return undefined;
    const { findChannel, fileCopies } = this.#parts;
    const channel = findChannel(reply.accountId);
    if (!channel) return undefined;
    return await this.#drafts.edit(id, text, () => attempt({ channel, fileCopies }, reply, text));
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
    const reply = store.table.getReply(id);
    if (reply?.state !== "refused" && reply?.state !== "uncertain") return false;
    await store.append({ type: "dropped", id });
    await this.#removeFile(reply);
    return true;
  }

  /** Forgets what was shown of an answer that nobody completes. What people see of it stays. */
  async dropDraft(id: string): Promise<void> {
    await this.#parts.store.append({ type: "dropped", id });
    this.#drafts.forget(id);
  }

  /** Begins no more attempts. What waits stays on the disk. */
  stop(): void {
    this.#isStopped = true;
    for (const { endPause } of this.#lanes.values()) endPause?.();
    this.#lanes.clear();
  }

  #queue(reply: OutboxReply): Lane | undefined {
    if (reply.state !== "waiting" && reply.state !== "sending") return undefined;
    const { accountId, address } = reply;
    const key = JSON.stringify([accountId, address]);
    const lane = this.#lanes.get(key) ?? {
      key,
      accountId,
      ids: [],
      isWorking: false,
      endPause: undefined,
    };
    this.#lanes.set(key, lane);
    if (!lane.ids.includes(reply.id)) lane.ids.push(reply.id);
    return lane;
  }

  async #work(lane: Lane): Promise<void> {
    if (lane.isWorking) return;
    lane.isWorking = true;
    lane.endPause?.();
    try {
      for (let [id] = lane.ids; id !== undefined && this.#isActive(lane); [id] = lane.ids) {
        const channel = this.#parts.findChannel(lane.accountId);
        if (!channel) return;
        const afterMs = await this.#send(channel, id);
        if (afterMs === undefined) {
          lane.ids.shift();
          // A draft may have been completed meanwhile.
          const reply = this.#parts.store.table.getReply(id);
          if (reply) this.#queue(reply);
        } else if (afterMs > 0) {
          return this.#pause(lane, afterMs);
        }
      }
    } catch (error) {
      // The disk refuses. What was not recorded is not sent.
      const { accountId } = lane;
      this.#parts.log(`Replies of ${accountId} cannot be sent: ${getErrorMessage(error)}`, accountId);
      this.#pause(lane, diskRetryMs);
    } finally {
      lane.isWorking = false;
      if (lane.ids.length === 0 && this.#isActive(lane)) this.#lanes.delete(lane.key);
    }
  }

  /** False for a lane of before a stop, whose replies are in another one when the outbox begins again. */
  #isActive(lane: Lane): boolean {
    return !this.#isStopped && this.#lanes.get(lane.key) === lane;
  }

  #pause(lane: Lane, forMs: number): void {
    // A stop during the attempt has ended the pauses that were there.
    if (!this.#isActive(lane)) return;
    const cancelTimer = this.#parts.clock.setTimer(forMs, () => void this.#work(lane));
    lane.endPause = () => {
      cancelTimer();
      lane.endPause = undefined;
    };
  }

  /** Returns after how long the reply is to be sent again; undefined if it is done with. */
  async #send(channel: Channel, id: string): Promise<number | undefined> {
    const { store, fileCopies, clock } = this.#parts;
    const reply = store.table.getReply(id);
    if (reply?.state !== "waiting" && reply?.state !== "sending") return undefined;
    const isEdit = reply.messageId !== undefined;
    const now = clock.now();
    // An attempt whose end is not known: the process that made it is gone, or the platform did not answer.
    const wasUncertain = reply.state === "sending";
    const isRepeatable = isEdit || isProven(channel.limits, wasUncertain ? now - (reply.uncertainSince ?? 0) : 0);
    if (wasUncertain && !isRepeatable) return await this.#settle(reply, decideAfterCrash(isRepeatable));
    const text = (reply.isOpen && this.#drafts.getNewest(id)) || reply.text;
    if (isEdit) {
      if (this.#drafts.getShown(id) === text) return await this.#settle(reply, { kind: "sent" });
      const waitMs = this.#drafts.getWaitMs(id, channel.limits.minEditIntervalMs ?? 0);
      if (waitMs > 0) return waitMs;
    }
    await store.append({ type: "attempt", id, at: now });
    const delivery = isEdit
      ? await this.#drafts.edit(id, text, () => attempt({ channel, fileCopies }, reply, text))
      : await attempt({ channel, fileCopies }, reply, text);
    // The message is gone, or too old. Nobody sees the reply, so it is sent as a new one.
    if (isEdit && delivery.kind === "refused") {
      await store.append({ type: "not_sent", id, isReplaced: true });
      return 0;
    }
    if (delivery.kind === "sent" && reply.isDraft && !isEdit) return await this.#show(reply, text, delivery.messageId);
    const attempts = reply.attempts + 1;
    const ageMs = clock.now() - reply.recordedAt;
    return await this.#settle(reply, decideAfterAttempt({ delivery, attempts, ageMs, isRepeatable, wasUncertain }));
  }

  /** People see a draft now. If it was completed meanwhile, what they see is compared with that. */
  async #show({ id, state }: OutboxReply, text: string, messageId: string): Promise<number | undefined> {
    const { store } = this.#parts;
    await store.append({ type: "shown", id, messageId });
    this.#drafts.write(id, this.#drafts.getNewest(id) ?? text);
    // The message of an earlier attempt may have an earlier text.
    if (state === "waiting") this.#drafts.setShown(id, text);
    return store.table.getReply(id)?.state === "waiting" ? 0 : undefined;
  }

  async #settle(reply: OutboxReply, next: AfterAttempt): Promise<number | undefined> {
    const { store, counts, log } = this.#parts;
    const { id, accountId } = reply;
    switch (next.kind) {
      case "sent":
        await store.append({ type: "sent", id });
        await this.#removeFile(reply);
        counts.add(accountId, "sent");
        this.#drafts.forget(id);
        return undefined;
      case "over": {
        await store.append({ type: "over", id, state: next.state, reason: next.reason });
        counts.add(accountId, next.state);
        this.#drafts.forget(id);
        const what = next.state === "refused" ? "was not delivered" : "may not have been delivered";
        log(`A reply of ${accountId} ${what}: ${next.reason} tau channels outbox shows it.`, accountId);
        return undefined;
      }
      case "retry":
        if (next.isKnownUnsent) await store.append({ type: "not_sent", id });
        return next.afterMs;
    }
  }

  /** Nobody needs the copy of a file any more. One that is left over is removed by the next start. */
  async #removeFile({ file, accountId }: OutboxReply): Promise<void> {
    if (!file) return;
    await this.#parts.fileCopies
      .remove(file.path)
      .catch((error: unknown) =>
        this.#parts.log(`A copy of ${file.name} was not removed: ${getErrorMessage(error)}`, accountId),
      );
  }
}

const diskRetryMs = 5_000;

const toNotSent = (error: unknown) => ({ kind: "not_sent", reason: getErrorMessage(error) }) as const;

/** An adapter that throws has perhaps delivered it. */
async function attempt(
  { channel, fileCopies }: { channel: Channel; fileCopies: FileCopies },
  reply: OutboxReply,
  text: string,
): Promise<Delivery> {
  const { id, address, replyTo, buttons, file, messageId, isReplaced } = reply;
  // With the same one, the platform would find the message that cannot be edited.
  const nonce = isReplaced ? `${id}/new` : id;
  const to = { address, nonce, ...(replyTo !== undefined && { replyTo }) };
  try {
    if (messageId !== undefined) {
      if (!channel.edit) return { kind: "refused", reason: "The platform edits no messages." };
      return await channel.edit({ ...to, text, messageId });
    }
    if (!file) return await channel.send({ ...to, text, ...(buttons && { buttons }) });
    if (!channel.sendFile) return { kind: "refused", reason: "The platform takes no files." };
    const bytes = await fileCopies.read(file.path).catch(toNotSent);
    if (!bytes) return { kind: "refused", reason: `The file ${file.name} is not on this machine.` };
    if ("kind" in bytes) return bytes;
    return await channel.sendFile({ ...to, file: { name: file.name, mimeType: file.mimeType, bytes } });
  } catch (error) {
    return { kind: "unknown", reason: getErrorMessage(error) };
  }
}
