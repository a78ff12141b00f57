/** Tests what the gateway expects of every channel, whatever platform it is of. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@tau/ai";
import type { Channel, ChannelOptions, ChannelState, ChannelType, IncomingMessage } from "@tau/extensions";
import { describe, expect, onTestFinished, test } from "vitest";
import { discordType } from "../../src/channels/discord/discord-type.ts";
import { slackChannel } from "../../src/channels/slack/slack-channel.ts";
import { telegramChannel } from "../../src/channels/telegram/telegram-channel.ts";
import { sign } from "../../src/channels/webhook/signature.ts";
import { webhookChannel } from "../../src/channels/webhook/webhook-channel.ts";
import { directId, DiscordServer, discordToken } from "./discord-server.ts";
import { SlackServer, slackTokens } from "./slack-server.ts";
import { TelegramServer, telegramToken } from "./telegram-server.ts";

/** Plays a platform on which one person has a direct conversation with the account. */
interface Platform {
  readonly type: ChannelType;
  readonly settings: ChannelOptions["settings"];
  readonly secrets: Readonly<Record<string, string>>;
  readonly channelId: string;
  /** The person writes, and the platform reports it. */
  write(channel: Channel, text: string): unknown;
  /** The platform reports again what was not taken, if it does not do so by itself. */
  repeat(channel: Channel): unknown;
  /** Everything that the person got. */
  listTexts(): readonly string[];
  /** The next text is read by the platform, which then closes the connection without an answer. */
  cutNext(): void;
  close(): void;
}

const webhookSecret = "0123456789abcdef0123456789abcdef";

const platforms: Readonly<Record<string, () => Promise<Platform>>> = {
  async discord() {
    const server = new DiscordServer();
    let isCut = false;
    server.chooseFault = ({ method, path }) => {
      if (!isCut || method !== "POST" || !path.endsWith("/messages")) return undefined;
      isCut = false;
      return { kind: "cut", isAfter: false };
    };
    return {
      type: discordType,
      settings: { baseUrl: await server.listen() },
      secrets: { token: discordToken },
      channelId: directId!,
      write: (_channel, text) => server.write(text),
      repeat: () => {},
      listTexts: () => server.textsTo(),
      cutNext: () => void (isCut = true),
      close: () => server.close(),
    };
  },
  async slack() {
    const server = new SlackServer();
    return {
      type: slackChannel,
      settings: { baseUrl: await server.listen() },
      secrets: { token: slackTokens.bot, app: slackTokens.app },
      channelId: "D1",
      write: (_channel, text) => void server.write(text),
      repeat: () => server.sendAgain(),
      listTexts: () => server.posted.map((post) => String(post["text"])),
      cutNext: () => void server.faults.set("chat.postMessage", ["cut"]),
      close: () => server.close(),
    };
  },
  async telegram() {
    const server = new TelegramServer();
    return {
      type: telegramChannel,
      settings: { baseUrl: await server.listen() },
      secrets: { token: telegramToken },
      channelId: "7",
      write: (_channel, text) => server.write(text),
      repeat: () => {},
      listTexts: () => [...server.shown.values()].map(({ text }) => text),
      cutNext: () => void server.faults.set("sendMessage", ["cut"]),
      close: () => server.close(),
    };
  },
  async webhook() {
    const texts: string[] = [];
    let isCut = false;
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        if (isCut) {
          isCut = false;
          return void request.socket.destroy();
        }
        texts.push((JSON.parse(body) as { text: string }).text);
        response.end(JSON.stringify({ messageId: `w${texts.length}` }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    let last = Buffer.alloc(0);
    const report = async (channel: Channel) => {
      const seconds = String(Math.floor(Date.now() / 1_000));
      const signature = `v1=${sign(webhookSecret, seconds, last)}`;
      const headers = { "x-tau-timestamp": seconds, "x-tau-signature": signature };
      await channel.receiveRequest!({ headers, body: last });
    };
    return {
      type: webhookChannel,
      settings: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` },
      secrets: { secret: webhookSecret },
      channelId: "c",
      async write(channel, text) {
        last = Buffer.from(
          JSON.stringify({ type: "message", id: "1", address: { channelId: "c" }, sender: { id: "ann" }, text }),
        );
        await report(channel);
      },
      repeat: report,
      listTexts: () => texts,
      cutNext: () => void (isCut = true),
      close() {
        server.closeAllConnections();
        server.close();
      },
    };
  },
};

async function openPlatform(name: string, keep: (message: IncomingMessage) => Promise<void> = async () => {}) {
  const platform = await platforms[name]!();
  onTestFinished(() => platform.close());
  const channel = await platform.type.open({
    accountId: "mine",
    settings: platform.settings,
    getSecret: async (secret) => platform.secrets[secret]!,
    clock: systemClock,
    log: () => {},
  });
  const [kept, states]: [IncomingMessage[], ChannelState[]] = [[], []];
  const closing = new AbortController();
  const running = channel.run(
    {
      async onMessage(message) {
        await keep(message);
        kept.push(message);
      },
      onPress: async () => {},
      onState: (state) => void states.push(state),
    },
    closing.signal,
  );
  const close = async () => {
    closing.abort();
    await running;
  };
  onTestFinished(close);
  await expect.poll(() => states.at(-1)).toEqual({ kind: "connected" });
  const send = (text: string, nonce = text) =>
    channel.send({ address: { channelId: platform.channelId }, text, nonce });
  return { platform, channel, kept, close, send };
}

describe.each(Object.keys(platforms))("a channel of the type %s", (name) => {
  test("reports a message until it is kept, with its conversation and who wrote it", async () => {
    let failures = 1;
    const ids = new Set<string>();
    const { platform, channel, kept } = await openPlatform(name, async ({ id }) => {
      ids.add(id);
      if (failures-- > 0) throw new Error("The disk is full.");
    });
    await platform.write(channel, "Hello");
    await expect.poll(() => ids.size).toBe(1);
    await platform.repeat(channel);
    await expect.poll(() => kept.length, { timeout: 10_000 }).toBe(1);
    expect(kept[0]).toMatchObject({
      text: "Hello",
      address: { channelId: platform.channelId },
      peer: { kind: "direct" },
    });
    expect(kept[0]!.peer.id).toBe(kept[0]!.sender.id);
    // However often it is reported, it is the same.
    expect(ids.size).toBe(1);
  });

  test("sends the longest text as one message, and says which it is", async () => {
    const { platform, channel, send } = await openPlatform(name);
    const text = "word ".repeat(channel.limits.maxTextLength / 5).trim();
    const delivery = await send(text);
    expect(delivery).toMatchObject({ kind: "sent" });
    expect(delivery).not.toMatchObject({ messageId: "" });
    expect(platform.listTexts()).toEqual([text]);
  });

  test("does not know of an attempt without an answer, and is certain if nobody could be reached", async () => {
    const { platform, send } = await openPlatform(name);
    platform.cutNext();
    expect(await send("one")).toMatchObject({ kind: "unknown" });
    expect(platform.listTexts()).toEqual([]);
    platform.close();
    expect(await send("two")).toMatchObject({ kind: "not_sent" });
  });

  test("ends when its account is closed, and reports nothing afterwards", async () => {
    const { platform, channel, kept, close } = await openPlatform(name);
    await close();
    await platform.write(channel, "Too late");
    await platform.repeat(channel);
    expect(kept).toEqual([]);
  });
});
