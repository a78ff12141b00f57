/** People who write to an account of Slack while Slack has a bad day, at moments that depend on a seed only. */
import { setTimeout as sleep } from "node:timers/promises";
import { slackBotId, type SlackFault, type SlackServer } from "./slack-server.ts";

interface Conversation {
  /** Where its answers are. */
  readonly channel: string;
  readonly thread?: string;
  readonly user: string;
}

export interface BadDay {
  readonly messageCount: number;
  readonly conversationCount: number;
  readonly seed: number;
  /** How often the connection is cut or renewed. */
  readonly disconnectCount: number;
}

/** A third of the conversations each are direct, in a channel, and in a thread. */
const createConversations = (count: number): Conversation[] =>
  Array.from({ length: count }, (_, index) => {
    const user = `U${index}`;
    if (index % 3 === 0) return { channel: `D${index}`, user };
    return { channel: `C${index}`, user, ...(index % 3 === 1 && { thread: "1600000000.000100" }) };
  });

/** A generator of numbers from 0 to 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const limited: SlackFault = { status: 429, headers: { "retry-after": "1" }, body: { ok: false, error: "ratelimited" } };
const broken: SlackFault = { status: 500, body: "Internal Server Error" };

export class SlackPeople {
  readonly conversations: readonly Conversation[];
  /** How often each thing went wrong. */
  readonly mishaps = { limited: 0, broken: 0, cut: 0, unheard: 0, repeated: 0, disconnected: 0 };
  readonly #server: SlackServer;
  readonly #day: BadDay;
  /** A sequence of numbers for each kind of thing, which does not depend on what happens between two of them. */
  readonly #draw: Readonly<Record<"fault" | "hearing" | "order" | "repetition" | "pause" | "reason", () => number>>;
  #written = 0;

  constructor(server: SlackServer, day: BadDay) {
    this.#server = server;
    this.#day = day;
    const [fault, hearing, order, repetition, pause, reason] = Array.from({ length: 6 }, (_, index) =>
      createRandom(day.seed * 6 + index),
    ) as [() => number, () => number, () => number, () => number, () => number, () => number];
    this.#draw = { fault, hearing, order, repetition, pause, reason };
    this.conversations = createConversations(day.conversationCount);
    server.decideFault = (method) => this.#decideFault(method);
    server.hearsAcknowledgement = () => this.#draw.hearing() > 0.03 || this.#count("unheard", false);
  }

  /** Everybody writes their next message once Slack knows that the one before it has arrived. */
  async writeAll(): Promise<void> {
    const timer = setInterval(() => this.#server.sendAgain(), 500);
    await Promise.all(this.conversations.map((_, index) => this.#writeIn(index)));
    clearInterval(timer);
  }

  /** The numbers of the messages that were answered in a conversation, in the order of the answers. */
  listAnswered({ channel, thread }: Conversation): number[] {
    const answers = this.#server.posted.filter((post) => post["channel"] === channel && post["thread_ts"] === thread);
    return answers.flatMap(({ text }) => toNumbers(String(text)));
  }

  async #writeIn(index: number): Promise<void> {
    const { messageCount, conversationCount } = this.#day;
    const { channel, thread, user } = this.conversations[index]!;
    const isDirect = channel.startsWith("D");
    let last: Record<string, unknown> | undefined;
    for (let number = index; number < messageCount; number += conversationCount) {
      const text = isDirect ? `question ${number}` : `<@${slackBotId}> question ${number}`;
      const others = { channel, user, channel_type: isDirect ? "im" : "channel", ...(thread && { thread_ts: thread }) };
      const message = this.#server.createMessage(text, others);
      const { channel_type: _, ...event } = message["event"] as Record<string, unknown>;
      const mention = { ...message, event: { ...event, type: "app_mention" } };
      const events = isDirect ? [message] : this.#draw.order() < 0.5 ? [message, mention] : [mention, message];
      // An earlier one comes once more.
      if (last && this.#draw.repetition() < 0.1) events.push(this.#count("repeated", last));
      const delivered = events.map((payload) => this.#server.deliver("events_api", payload));
      this.#disconnectSometimes();
      await Promise.all(delivered);
      last = message;
      await sleep(this.#draw.pause() * 20);
    }
  }

  #disconnectSometimes(): void {
    const { messageCount, disconnectCount } = this.#day;
    if (++this.#written % Math.ceil(messageCount / (disconnectCount + 1)) !== 0) return;
    this.mishaps.disconnected++;
    const reasons = [undefined, "refresh_requested", "warning"];
    this.#server.disconnect(reasons[Math.floor(this.#draw.reason() * reasons.length)]);
  }

  #decideFault(method: string): { at: "before" | "after"; fault: SlackFault } | undefined {
    if (!method.startsWith("chat.")) return undefined;
    const [chance, at] = [this.#draw.fault(), this.#draw.fault() < 0.5 ? "before" : "after"] as const;
    if (chance < 0.04) return this.#count("limited", { at: "before", fault: limited });
    if (chance < 0.055) return this.#count("broken", { at, fault: broken });
    return chance < 0.07 ? this.#count("cut", { at, fault: "cut" }) : undefined;
  }

  #count<T>(mishap: keyof SlackPeople["mishaps"], result: T): T {
    this.mishaps[mishap]++;
    return result;
  }
}

/** The messages that an answer is for. A number at its end may be cut: people see the beginning of a lost answer. */
export const toNumbers = (text: string): number[] =>
  [...text.matchAll(/\d+(?=[ .])/g)].map(([digits]) => Number(digits));
