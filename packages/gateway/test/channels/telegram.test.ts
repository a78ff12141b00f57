import { systemClock } from "@tau/ai";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ChannelPress, ChannelState, IncomingMessage } from "@tau/extensions";
import { GatewayError } from "../../src/errors.ts";
import { telegramChannel } from "../../src/channels/telegram/telegram-channel.ts";
import { toTelegramHtml } from "../../src/channels/telegram/telegram-html.ts";
import { TelegramServer, telegramToken } from "./telegram-server.ts";

async function openTelegram({ token = telegramToken, keep = async () => {}, settings = {} }: OpenOptions = {}) {
  const server = new TelegramServer();
  const baseUrl = await server.listen();
  const [messages, presses, states]: [IncomingMessage[], ChannelPress[], ChannelState[]] = [[], [], []];
  const channel = await telegramChannel.open({
    accountId: "phone",
    settings: { baseUrl, ...settings },
    getSecret: async () => token,
    clock: systemClock,
    log: () => {},
  });
  const closing = new AbortController();
  const onMessage = async (message: IncomingMessage) => {
    await keep(message);
    messages.push(message);
  };
  const onPress = async (press: ChannelPress) => void presses.push(press);
  const running = channel.run({ onMessage, onPress, onState: (state) => void states.push(state) }, closing.signal);
  onTestFinished(async () => {
    closing.abort();
    server.close();
    await running;
  });
  const send = (text: string, others: object = {}) =>
    channel.send({ address: { channelId: "7" }, text, nonce: "n", ...others });
  return { server, channel, messages, presses, states, send };
}

interface OpenOptions {
  token?: string;
  keep?: (message: IncomingMessage) => Promise<void>;
  settings?: object;
}

const group = { chat: { id: -100, type: "supergroup" } };

describe("what people write", () => {
  test("arrives with who wrote it and where, and is confirmed once it is kept", async () => {
    let failures = 2;
    const { server, messages } = await openTelegram({
      keep: async () => {
        if (failures-- > 0) throw new Error("The disk is full.");
      },
    });
    const first = server.write("Hello");
    server.write("Hello again");
    await expect.poll(() => messages.map(({ text }) => text)).toEqual(["Hello", "Hello again"]);
    expect(messages[0]).toEqual({
      id: `7/${first}`,
      address: { channelId: "7" },
      peer: { kind: "direct", id: "7" },
      sender: { id: "7", name: "Ann" },
      text: "Hello",
      isMentioned: false,
    });
    // Both are confirmed by the next request.
    await expect.poll(() => server.callsOf("getUpdates").at(-1)!["offset"]).toBe(3);
  });

  test("in a group counts as meant for the account if it is named, answered or commanded", async () => {
    const { server, messages } = await openTelegram();
    server.write("Talk among others", group);
    server.write("@taubot what now?", { ...group, entities: [{ type: "mention", offset: 0, length: 7 }] });
    server.write("And you?", { ...group, reply_to_message: { from: { id: 4711 } } });
    server.write("/status@TauBot", { ...group, entities: [{ type: "bot_command", offset: 0, length: 14 }] });
    server.write("@other you?", { ...group, entities: [{ type: "mention", offset: 0, length: 6 }] });
    await expect.poll(() => messages.length).toBe(5);
    expect(messages.map(({ text, isMentioned }) => [text, isMentioned])).toEqual([
      ["Talk among others", false],
      ["what now?", true],
      ["And you?", true],
      ["/status", true],
      ["@other you?", false],
    ]);
    expect(messages[0]!.peer).toEqual({ kind: "group", id: "-100" });
  });

  test("in a topic has a conversation of its own, and bots are not answered", async () => {
    const { server, messages } = await openTelegram();
    server.write("I am a bot", { from: { id: 8, is_bot: true, first_name: "Bot" } });
    server.write("Here", { ...group, is_topic_message: true, message_thread_id: 42 });
    await expect.poll(() => messages.length).toBe(1);
    expect(messages[0]).toMatchObject({
      address: { channelId: "-100", threadId: "42" },
      peer: { kind: "thread", id: "42" },
      parentPeer: { kind: "group", id: "-100" },
    });
  });

  test("brings files, which are loaded only when they are wanted", async () => {
    const { server, messages } = await openTelegram();
    server.files.set("big", Buffer.from("pixels")).set("doc", Buffer.from("figures"));
    server.write("", {
      caption: "Look",
      photo: [{ file_id: "small" }, { file_id: "big" }],
      document: { file_id: "doc", file_name: "a.csv", mime_type: "text/csv" },
    });
    server.write("", { caption: "Too old", document: { file_id: "gone", file_name: "b.csv" } });
    await expect.poll(() => messages.length).toBe(2);
    expect(server.callsOf("getFile")).toEqual([]);
    const files = await messages[0]!.loadFiles!();
    expect(files.map(({ name, mimeType, bytes }) => [name, mimeType, Buffer.from(bytes).toString()])).toEqual([
      ["photo.jpg", "image/jpeg", "pixels"],
      ["a.csv", "text/csv", "figures"],
    ]);
    const [missing] = await messages[1]!.loadFiles!();
    expect(Buffer.from(missing!.bytes).toString()).toBe('The file "b.csv" was not loaded: The answer was 404.\n');
  });

  test("of buttons is answered, so that they stop blinking", async () => {
    const { server, presses } = await openTelegram();
    const message = { message_id: 5, chat: { id: 7, type: "private" } };
    server.add({ callback_query: { id: "q1", from: { id: 7, first_name: "Ann" }, message, data: "/approve x yes" } });
    await expect.poll(() => presses).toHaveLength(1);
    expect(presses[0]).toMatchObject({ address: { channelId: "7" }, sender: { id: "7" }, value: "/approve x yes" });
    await expect.poll(() => server.callsOf("answerCallbackQuery")).toEqual([{ callback_query_id: "q1" }]);
  });
});

describe("what is sent", () => {
  test("answers a message in its topic, with buttons and without previews of links", async () => {
    const { server, send } = await openTelegram();
    const address = { channelId: "-100", threadId: "42" };
    const buttons = [{ label: "Yes", value: "/approve x yes" }];
    expect(await send("**Hi** <b>", { address, replyTo: "-100/9", buttons })).toMatchObject({ kind: "sent" });
    expect(server.callsOf("sendMessage")).toEqual([
      {
        chat_id: -100,
        message_thread_id: 42,
        text: "<b>Hi</b> &lt;b&gt;",
        parse_mode: "HTML",
        link_preview_options: { is_disabled: true },
        reply_parameters: { message_id: 9, allow_sending_without_reply: true },
        reply_markup: { inline_keyboard: [[{ text: "Yes", callback_data: "/approve x yes" }]] },
      },
    ]);
  });

  test.each([
    [
      { status: 429, body: { ok: false, description: "Too Many Requests", parameters: { retry_after: 3 } } },
      { kind: "not_sent", reason: "Too Many Requests", retryAfterMs: 3_000 },
    ],
    [
      { status: 403, body: { ok: false, description: "Forbidden: bot was blocked by the user" } },
      { kind: "refused", reason: "Forbidden: bot was blocked by the user" },
    ],
    [
      { status: 502, body: { ok: false, description: "Bad Gateway" } },
      { kind: "unknown", reason: "Bad Gateway" },
    ],
    ["cut" as const, { kind: "unknown", reason: expect.any(String) }],
  ])("%j means %j", async (fault, delivery) => {
    const { server, send } = await openTelegram();
    server.faults.set("sendMessage", [fault]);
    expect(await send("Hi")).toEqual(delivery);
    expect(server.callsOf("sendMessage")).toHaveLength(1);
  });

  test("is certainly not delivered if there is no connection, and the token is not told", async () => {
    const { server, send } = await openTelegram();
    server.close();
    const delivery = await send("Hi");
    expect(delivery).toMatchObject({ kind: "not_sent" });
    expect(JSON.stringify(delivery)).not.toContain(telegramToken);
  });

  test("is sent as plain text if Telegram cannot read it", async () => {
    const { server, send } = await openTelegram();
    const body = { ok: false, description: "Bad Request: can't parse entities: unclosed tag" };
    server.faults.set("sendMessage", [{ status: 400, body }]);
    expect(await send("*Hi*")).toMatchObject({ kind: "sent" });
    expect(server.callsOf("sendMessage").map(({ text, parse_mode }) => [text, parse_mode])).toEqual([
      ["<i>Hi</i>", "HTML"],
      ["*Hi*", undefined],
    ]);
  });

  test("is sent as plain text if its markup makes it too long", async () => {
    const { server, send } = await openTelegram();
    const body = { ok: false, error_code: 400, description: "Bad Request: message is too long" };
    server.faults.set("sendMessage", [{ status: 400, body }]);
    const text = `${"[a][1] ".repeat(100)}\n\n[1]: https://example.com/${"long/".repeat(100)}`;
    expect(await send(text)).toMatchObject({ kind: "sent" });
    const [html, plain] = server.callsOf("sendMessage");
    expect(String(html!["text"]).length).toBeGreaterThan(4_096);
    expect(plain).toMatchObject({ text });
    expect(plain).not.toHaveProperty("parse_mode");
  });

  test("as a picture that Telegram does not take is sent as a document", async () => {
    const { server, channel } = await openTelegram();
    const description = "Bad Request: PHOTO_INVALID_DIMENSIONS";
    server.faults.set("sendPhoto", [{ status: 400, body: { ok: false, error_code: 400, description } }]);
    const file = { name: "chart.png", mimeType: "image/png", bytes: Buffer.from("png") };
    expect(await channel.sendFile!({ address: { channelId: "7" }, file, nonce: "n" })).toMatchObject({ kind: "sent" });
    expect(server.callsOf("sendDocument")).toHaveLength(1);
  });

  test("files are sent as pictures or documents, reactions as emoji", async () => {
    const { server, channel } = await openTelegram();
    const file = { name: 'a"\r\nx: y.txt', mimeType: "text/plain", bytes: Buffer.from("figures") };
    await channel.sendFile!({ address: { channelId: "7" }, file, nonce: "n" });
    const { body } = server.calls.find(({ method }) => method === "sendDocument")!;
    expect(body.toString()).toContain('name="chat_id"\r\n\r\n7\r\n');
    expect(body.toString()).toContain('filename="a___x: y.txt"');
    await channel.sendFile!({ address: { channelId: "7" }, file: { ...file, mimeType: "image/png" }, nonce: "n" });
    expect(server.calls.map(({ method }) => method)).toContain("sendPhoto");
    await channel.react!({ channelId: "7" }, "7/9", "👍");
    expect(server.callsOf("setMessageReaction")).toEqual([
      { chat_id: 7, message_id: 9, reaction: [{ type: "emoji", emoji: "👍" }] },
    ]);
  });
});

describe("an update that cannot be kept", () => {
  test("holds up no other chat, and is taken once however often Telegram sends it", async () => {
    let isFull = true;
    const { server, messages } = await openTelegram({
      keep: async ({ address }) => {
        if (isFull && address.channelId === "7") throw new GatewayError("rate_limited", "Too many wait.");
      },
    });
    server.write("First");
    server.write("Second");
    for (let index = 0; index < 3; index++) {
      server.write(`Other ${index}`, { from: { id: 8, first_name: "Bob" }, chat: { id: 8, type: "private" } });
    }
    await expect.poll(() => messages.map(({ text }) => text)).toEqual(["Other 0", "Other 1", "Other 2"]);
    isFull = false;
    await expect
      .poll(() => messages.map(({ text }) => text).slice(3), { timeout: 10_000 })
      .toEqual(["First", "Second"]);
    await expect.poll(() => Number(server.callsOf("getUpdates").at(-1)!["offset"])).toBe(6);
    expect(messages).toHaveLength(5);
  });

  test("for ever is given up, and the next one is taken", async () => {
    const { server, messages } = await openTelegram({
      keep: async ({ text }) => {
        if (text === "Poison") throw new GatewayError("invalid_parameters", "This cannot be read.");
      },
    });
    server.write("Poison");
    server.write("Hello");
    await expect.poll(() => messages.map(({ text }) => text)).toEqual(["Hello"]);
    await expect.poll(() => Number(server.callsOf("getUpdates").at(-1)!["offset"])).toBe(3);
  });
});

test("updates that Telegram counts from a smaller number after a quiet week are not lost", async () => {
  const { server, messages } = await openTelegram();
  server.renumber(900);
  server.write("Before");
  await expect.poll(() => Number(server.callsOf("getUpdates").at(-1)!["offset"])).toBe(901);
  const asked = server.callsOf("getUpdates").length;
  server.renumber(5);
  await expect.poll(() => server.callsOf("getUpdates").length).toBeGreaterThan(asked);
  server.write("After");
  await expect.poll(() => messages.map(({ text }) => text)).toEqual(["Before", "After"]);
});

describe("the connection", () => {
  test("fails for good with a wrong token, and says so", async () => {
    const { states } = await openTelegram({ token: "1:wrong" });
    await expect
      .poll(() => states.at(-1))
      .toEqual({ kind: "failed", reason: "Telegram does not know the token: Unauthorized" });
  });

  test("is made again after it was lost", async () => {
    const { server, states, messages } = await openTelegram();
    await expect.poll(() => states.at(-1)).toEqual({ kind: "connected" });
    server.faults.set("getUpdates", ["cut"]);
    server.write("Before");
    server.write("After");
    await expect.poll(() => messages.map(({ text }) => text)).toEqual(["Before", "After"]);
  });

  test.each([{}, { mode: "webhook", url: "https://tau.example.com/channels/phone" }])(
    "ends also if the account is closed just when it is made (%j)",
    async (settings) => {
      const closing = new AbortController();
      const { channel } = await openTelegram({ settings });
      const states: string[] = [];
      const onState = ({ kind }: ChannelState) => {
        states.push(kind);
        if (kind === "connected") closing.abort();
      };
      await channel.run({ onMessage: async () => {}, onPress: async () => {}, onState }, closing.signal);
      expect(states).toEqual(["connecting", "connected"]);
    },
  );

  test("by a webhook takes only requests with the secret that Telegram was given", async () => {
    const settings = { mode: "webhook", url: "https://tau.example.com/channels/phone" };
    const { server, channel, messages } = await openTelegram({ settings });
    await expect.poll(() => server.callsOf("setWebhook")).toHaveLength(1);
    const [{ url, secret_token: secret }] = server.callsOf("setWebhook") as [{ url: string; secret_token: string }];
    expect(url).toBe("https://tau.example.com/channels/phone");
    expect(secret).not.toContain(telegramToken);
    const message = { message_id: 1, from: { id: 7, first_name: "Ann" }, chat: { id: 7, type: "private" }, text: "Hi" };
    const body = Buffer.from(JSON.stringify({ update_id: 1, message }));
    const post = (value: string) =>
      channel.receiveRequest!({ headers: { "x-telegram-bot-api-secret-token": value }, body });
    expect(await post("wrong")).toEqual({ status: 401 });
    expect(messages).toEqual([]);
    expect(await post(secret)).toEqual({ status: 200 });
    expect(messages.map(({ text }) => text)).toEqual(["Hi"]);
    expect(server.callsOf("setWebhook")[0]).toMatchObject({ max_connections: 1 });
  });

  test("by a webhook asks again for what could not be kept, and for nothing that never can be", async () => {
    const errors = [new GatewayError("unavailable", "Later."), new GatewayError("not_found", "Never.")];
    const { server, channel } = await openTelegram({
      settings: { mode: "webhook", url: "https://tau.example.com/channels/phone" },
      keep: async () => {
        const error = errors.shift();
        if (error) throw error;
      },
    });
    await expect.poll(() => server.callsOf("setWebhook")).toHaveLength(1);
    const { secret_token: secret } = server.callsOf("setWebhook")[0] as { secret_token: string };
    const message = { message_id: 1, from: { id: 7, first_name: "Ann" }, chat: { id: 7, type: "private" }, text: "Hi" };
    const body = Buffer.from(JSON.stringify({ update_id: 1, message }));
    const post = () => channel.receiveRequest!({ headers: { "x-telegram-bot-api-secret-token": secret }, body });
    expect(await post()).toEqual({ status: 503 });
    expect(await post()).toEqual({ status: 200 });
  });
});

test.each([
  ["a & b < c", "a &amp; b &lt; c"],
  [
    "# Title\n\nText *soft* **hard** ~~gone~~ `x<y`",
    "<b>Title</b>\n\nText <i>soft</i> <b>hard</b> <s>gone</s> <code>x&lt;y</code>",
  ],
  ["```ts\nlet a = 1 < 2;\n```", '<pre><code class="language-ts">let a = 1 &lt; 2;</code></pre>'],
  ['```"><b>\nx\n```', "<pre>x</pre>"],
  ["[bank](https://evil.example)", "bank (https://evil.example)"],
  ["<https://a.example>", "https://a.example"],
  ["- one\n- two\n  1. three", "• one\n• two\n  1. three"],
  ["> quoted", "<blockquote>quoted</blockquote>"],
  ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
])("Markdown %j is written as %j", (markdown, html) => {
  expect(toTelegramHtml(markdown)).toBe(html);
});
