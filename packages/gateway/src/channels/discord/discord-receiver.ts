/** Takes what Discord sends to the gateway of tau: in order in each channel, and again until it is kept. */
import {
  GatewayDispatchEvents,
  type GatewayDispatchPayload,
  type GatewayInteractionCreateDispatchData,
  InteractionType,
} from "@discordjs/core";
import type { Clock } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import type { ChannelEvents } from "@tau/extensions";
import { keepMessage } from "../keep-message.ts";
import { pause } from "../pause.ts";
import type { DiscordApi } from "./discord-api.ts";
import { type DiscordMessage, type DiscordPlace, isByPerson, parseMessage, parsePress } from "./discord-event.ts";
import { loadFiles } from "./discord-files.ts";
import { DiscordPlaces } from "./discord-places.ts";
import type { DiscordPosition } from "./discord-position.ts";

interface ReceiverParts {
  api: DiscordApi;
  position: DiscordPosition;
  events: ChannelEvents;
  /** The id of the account. */
  selfId: string;
  baseUrl: string | undefined;
  clock: Clock;
  log: (line: string) => void;
  signal: AbortSignal;
}

/** Messages that are older are not answered any more, however long there was no connection. */
const maxMissedAgeMs = 12 * 60 * 60_000;
const pageSize = 100;
/** Each dispatch changes the position: it is written at most this often. */
const saveIntervalMs = 250;
/** The milliseconds from which Discord's ids count. */
const idEpochMs = 1_420_070_400_000n;

export class DiscordReceiver {
  readonly #parts: ReceiverParts;
  readonly #places: DiscordPlaces;
  readonly #queues = new Map<string, SerialQueue>();
  #isSaving = false;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    this.#places = new DiscordPlaces(parts);
  }

  take(payload: GatewayDispatchPayload): void {
    const { position, selfId } = this.#parts;
    switch (payload.t) {
      case GatewayDispatchEvents.MessageCreate: {
        const mark = position.begin(payload.s);
        const message = payload.d;
        return void this.#queue(message.channel_id, async () => {
          const place = message.guild_id === undefined ? ({ kind: "direct" } as const) : undefined;
          if (await this.#takeMessage(message, place)) position.end(mark);
        });
      }
      case GatewayDispatchEvents.InteractionCreate:
        position.receive(payload.s);
        return void this.#takePress(payload.d).catch((error: unknown) => this.#report("A button", error));
      default:
        position.receive(payload.s);
        this.#places.learn(payload, selfId);
    }
  }

  /** Looks in the conversations for messages that were written while there was no session. */
  async catchUp(): Promise<void> {
    const { position, signal } = this.#parts;
    const sessionId = position.getSession()?.sessionId;
    const reads = position
      .listLastMessages()
      .map(([channelId, messageId]) => this.#queue(channelId, () => this.#takeMissed(channelId, messageId)));
    await Promise.all(reads);
    if (signal.aborted) return;
    position.setComplete(sessionId);
    void this.#savePosition();
  }

  /** Resolves when nothing is being taken any more. */
  async whenIdle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.whenIdle()));
  }

  /** Resolves when the work is over. Never rejects. */
  async #queue(channelId: string, work: () => Promise<void>): Promise<void> {
    const queue = this.#queues.get(channelId) ?? new SerialQueue();
    this.#queues.set(channelId, queue);
    await queue.add(work).catch((error: unknown) => this.#report("A message", error));
    if (queue.isIdle) this.#queues.delete(channelId);
    void this.#savePosition();
  }

  /** False: it is not handled, because the account was closed. */
  async #takeMessage(message: DiscordMessage, knownPlace?: DiscordPlace): Promise<boolean> {
    const { position, selfId, baseUrl, clock, signal } = this.#parts;
    if (!isByPerson(message)) return true;
    const place = knownPlace ?? (await this.#places.find(message.channel_id, message.guild_id));
    if (!place) return false;
    const isRoleNamed = place.kind !== "direct" && message.mention_roles.length > 0;
    const roles = isRoleNamed ? await this.#places.findRoles(place.guildId, selfId) : [];
    const parsed = parseMessage(message, place, { id: selfId, roles });
    if (!parsed) return true;
    const { files } = parsed;
    const isMeant = place.kind === "direct" || parsed.message.isMentioned;
    const { channel_id: channelId, id } = message;
    // If the process is killed now, and the session is gone, the message is found in the history.
    if (isMeant && !position.hasLastMessage(channelId)) position.setLastMessage(channelId, String(BigInt(id) - 1n));
    const load = () => loadFiles(files, { baseUrl, clock, signal });
    const isKept = await this.#keep({ ...parsed.message, ...(files.length > 0 && { loadFiles: load }) });
    if (isKept && isMeant) position.setLastMessage(channelId, id);
    return isKept;
  }

  /** Discord sends nothing twice by itself. */
  async #keep(message: Parameters<ChannelEvents["onMessage"]>[0]): Promise<boolean> {
    const { events, clock, log, signal } = this.#parts;
    return await keepMessage(() => events.onMessage(message), {
      name: `The message ${message.id}`,
      clock,
      log,
      signal,
    });
  }

  /** Discord shows an error to the person if nobody confirms a button within three seconds. */
  async #takePress(interaction: GatewayInteractionCreateDispatchData): Promise<void> {
    const { api, events } = this.#parts;
    const channelId = interaction.channel?.id;
    if (interaction.type !== InteractionType.MessageComponent || channelId === undefined) return;
    const { id, token, guild_id: guildId } = interaction;
    const confirmed = api.call((platform) => platform.interactions.deferMessageUpdate(id, token));
    const place = guildId === undefined ? ({ kind: "direct" } as const) : await this.#places.find(channelId, guildId);
    const press = place && parsePress(interaction, place);
    if (press) await events.onPress(press);
    const answer = await confirmed;
    if (answer.kind !== "ok") throw new Error(answer.reason);
  }

  async #takeMissed(channelId: string, lastMessageId: string): Promise<void> {
    const { api, clock } = this.#parts;
    const place = await this.#places.find(channelId);
    if (!place) return;
    for (let after = lastMessageId; ;) {
      const query = { after, limit: pageSize };
      const answer = await this.#places.ask(() =>
        api.call((platform) => platform.channels.getMessages(channelId, query)),
      );
      if (answer?.kind !== "ok") return;
      const messages = answer.value.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
      for (const message of messages) {
        after = message.id;
        if (clock.now() - getTime(message.id) > maxMissedAgeMs || !isByPerson(message)) continue;
        if (!(await this.#takeMessage(await this.#complete(message, place), place))) return;
      }
      if (messages.length < pageSize) return;
    }
  }

  /** The history does not say which roles the author of a message has. */
  async #complete(message: DiscordMessage, place: DiscordPlace): Promise<DiscordMessage> {
    if (place.kind === "direct") return message;
    const member = await this.#places.findMember(place.guildId, message.author.id);
    return { ...message, guild_id: place.guildId, ...(member && { member }) };
  }

  async #savePosition(): Promise<void> {
    const { position, clock, signal } = this.#parts;
    if (this.#isSaving) return;
    this.#isSaving = true;
    while (!signal.aborted && position.isChanged) {
      await position.save().catch((error: unknown) => this.#report("The position", error));
      await pause(clock, saveIntervalMs, signal);
    }
    this.#isSaving = false;
  }

  #report(what: string, error: unknown): void {
    this.#parts.log(`${what} of Discord was lost: ${getErrorMessage(error)}`);
  }
}

/** When a message was written, by its id, in milliseconds since the epoch. */
const getTime = (id: string): number => Number((BigInt(id) >> 22n) + idEpochMs);
