/** Hands what is to be said about runs to the outbox of channels, once. */
import type { Clock } from "@tau/ai";
import type { ChannelAccounts } from "../channels/accounts.ts";
import type { ChannelOutbox } from "../channels/outbox.ts";
import { createReplies } from "../channels/session-replies.ts";
import type { GatewaySettings } from "../settings.ts";
import type { ScheduleMessage } from "./records.ts";
import type { Schedule } from "./schedule.ts";
import { appendAlways } from "./scheduled-runs.ts";
import type { ScheduleStore } from "./store.ts";

interface MessagesParts {
  store: ScheduleStore;
  accounts: Pick<ChannelAccounts, "find">;
  outbox: Pick<ChannelOutbox, "addOnce">;
  findSchedule: (scheduleId: string) => Schedule | undefined;
  getSettings: () => GatewaySettings;
  clock: Clock;
}

export class ScheduleMessages {
  readonly #parts: MessagesParts;

  constructor(parts: MessagesParts) {
    this.#parts = parts;
  }

  /** Messages of an account that is not open now wait; those of a schedule or an account that was removed are dropped. */
  async tell(): Promise<void> {
    const { store, accounts, findSchedule, getSettings } = this.#parts;
    const waiting = Array.from(store.table.messages());
    for (const message of waiting) {
      const conversation = findSchedule(message.scheduleId)?.conversation;
      const account = conversation && accounts.find(conversation.accountId);
      if (conversation && account) await this.#send(message, conversation, account.channel.limits.maxTextLength);
      // Another node may have the account.
      else if (conversation && (store.isShared || Object.hasOwn(getSettings().channels, conversation.accountId)))
        continue;
      await appendAlways(store, { type: "told", messageId: message.id });
    }
  }

  async #send(
    { id, sessionId = "", text }: ScheduleMessage,
    { accountId, address, peer }: NonNullable<Schedule["conversation"]>,
    maxTextLength: number,
  ): Promise<void> {
    const { outbox, clock } = this.#parts;
    const source = `schedule/${id}`;
    const conversation = {
      sessionId,
      accountId,
      address,
      peer,
      sourceMessageId: "",
      key: "",
      senderId: "",
      isExpecting: false,
    };
    const replies = createReplies(text, source, { conversation, maxTextLength, nowMs: clock.now() });
    // They answer no message.
    await outbox.addOnce(
      source,
      replies.map(({ replyTo: _replyTo, ...reply }) => reply),
    );
  }
}
