/** Knows where messages are written: which channels are threads, and which roles the account has. Asks Discord for the rest. */
import { type APIChannel, GatewayDispatchEvents, type GatewayDispatchPayload } from "@discordjs/core";
import type { Clock } from "@tau/ai";
import { pause } from "../pause.ts";
import type { DiscordAnswer, DiscordApi } from "./discord-api.ts";
import type { DiscordPlace } from "./discord-event.ts";

interface PlacesParts {
  api: DiscordApi;
  clock: Clock;
  log: (line: string) => void;
  /** Ends the waiting for an answer of Discord. */
  signal: AbortSignal;
}

interface ListedChannel {
  readonly id: string;
  readonly type: number;
  readonly parent_id?: string | null;
  readonly guild_id?: string;
}

/** Types of channels whose messages are in threads. */
const threadTypes: readonly number[] = [10, 11, 12];
const retryMs = 2_000;
const maxPlaces = 20_000;

export class DiscordPlaces {
  readonly #parts: PlacesParts;
  readonly #places = new Map<string, DiscordPlace>();
  /** By guild. */
  readonly #roles = new Map<string, readonly string[]>();

  constructor(parts: PlacesParts) {
    this.#parts = parts;
  }

  /** Takes what the gateway says about channels and about the account. */
  learn(payload: GatewayDispatchPayload, selfId: string): void {
    switch (payload.t) {
      case GatewayDispatchEvents.GuildCreate: {
        const { id, channels = [], threads = [], members = [] } = payload.d as unknown as Partial<ListedGuild>;
        if (id === undefined) return;
        for (const channel of [...channels, ...threads]) this.#learnChannel(channel, id);
        const self = members.find(({ user }) => user?.id === selfId);
        if (self) this.#roles.set(id, self.roles);
        return;
      }
      case GatewayDispatchEvents.ThreadListSync:
        for (const thread of payload.d.threads) this.#learnChannel(thread as ListedChannel, payload.d.guild_id);
        return;
      case GatewayDispatchEvents.ChannelCreate:
      case GatewayDispatchEvents.ChannelUpdate:
      case GatewayDispatchEvents.ThreadCreate:
      case GatewayDispatchEvents.ThreadUpdate: {
        const channel = payload.d as ListedChannel;
        return this.#learnChannel(channel, channel.guild_id);
      }
      case GatewayDispatchEvents.GuildMemberUpdate:
        if (payload.d.user.id === selfId) this.#roles.set(payload.d.guild_id, payload.d.roles);
        return;
      default:
        return;
    }
  }

  /** `guildId` is that of the message, if it says so. Resolves to undefined if the signal was aborted before Discord answered. */
  async find(channelId: string, guildId?: string): Promise<DiscordPlace | undefined> {
    const known = this.#places.get(channelId);
    if (known) return known;
    const { api } = this.#parts;
    const answer = await this.ask(() => api.call((platform) => platform.channels.get(channelId)));
    if (!answer) return undefined;
    if (answer.kind === "ok") this.#learnChannel(answer.value as ListedChannel, guildId ?? getGuildId(answer.value));
    // Discord does not show it: it is gone, or the account may not see it any more.
    return this.#places.get(channelId) ?? (guildId === undefined ? { kind: "direct" } : { kind: "channel", guildId });
  }

  /** The roles of the account in a guild. */
  async findRoles(guildId: string, selfId: string): Promise<readonly string[]> {
    const known = this.#roles.get(guildId);
    if (known) return known;
    const roles = (await this.findMember(guildId, selfId))?.roles ?? [];
    this.#roles.set(guildId, roles);
    return roles;
  }

  /** Undefined if Discord does not say. */
  async findMember(guildId: string, userId: string): Promise<{ roles: string[]; nick?: string | null } | undefined> {
    const { api } = this.#parts;
    const answer = await this.ask(() => api.call((platform) => platform.guilds.getMember(guildId, userId)));
    return answer?.kind === "ok" ? answer.value : undefined;
  }

  #learnChannel({ id, type, parent_id: parentId }: ListedChannel, guildId: string | undefined): void {
    if (guildId === undefined) {
      this.#places.set(id, { kind: "direct" });
      return;
    }
    const isThread = threadTypes.includes(type) && typeof parentId === "string";
    this.#places.set(id, isThread ? { kind: "thread", guildId, parentId } : { kind: "channel", guildId });
    const [oldest] = this.#places.keys();
    if (this.#places.size > maxPlaces && oldest !== undefined) this.#places.delete(oldest);
  }

  /** Asks until there is an answer. Undefined if the signal was aborted before. */
  async ask<T>(work: () => Promise<DiscordAnswer<T>>): Promise<DiscordAnswer<T> | undefined> {
    const { clock, log, signal } = this.#parts;
    while (!signal.aborted) {
      const answer = await work();
      if (answer.kind === "ok" || answer.kind === "refused") return answer;
      log(`Discord does not answer a question about a message: ${answer.reason}`);
      await pause(clock, answer.kind === "limited" ? answer.retryAfterMs : retryMs, signal);
    }
    return undefined;
  }
}

interface ListedGuild {
  readonly id: string;
  readonly channels: readonly ListedChannel[];
  readonly threads: readonly ListedChannel[];
  readonly members: readonly { readonly user?: { readonly id: string }; readonly roles: readonly string[] }[];
}

const getGuildId = (channel: APIChannel): string | undefined => ("guild_id" in channel ? channel.guild_id : undefined);
