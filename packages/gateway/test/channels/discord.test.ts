import { type Clock, systemClock } from "@tau/ai";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ChannelPress, ChannelState, IncomingMessage } from "@tau/extensions";
import { toFailure } from "../../src/channels/discord/discord-answer.ts";
import { isOfDiscord } from "../../src/channels/discord/discord-files.ts";
import { toDiscordText } from "../../src/channels/discord/discord-text.ts";
import { discordType } from "../../src/channels/discord/discord-type.ts";
import { getToolNames } from "../../src/channels/tools.ts";
import { connectRaw, openTestGateway } from "../../src/testing/index.ts";
import {
  ann,
  directId,
  type DiscordFault,
  DiscordServer,
  discordToken,
  generalId,
  guildId,
  selfId,
  selfRole,
  threadId,
} from "./discord-server.ts";

/** Pauses are short, so that nobody waits for them. */
const fastClock: Clock = {
  ...systemClock,
  setTimer: (afterMs, fire) => systemClock.setTimer(Math.min(afterMs, 5), fire),
};

interface OpenOptions {
  token?: string;
  keep?: (message: IncomingMessage) => Promise<void>;
  prepare?: (server: DiscordServer) => void;
  server?: DiscordServer;
  /** Where the account has got to. */
  stored?: { text?: string };
}

async function openDiscord({
  token = discordToken,
  keep = async () => {},
  prepare,
  stored = {},
  ...given
}: OpenOptions = {}) {
  const server = given.server ?? new DiscordServer();
  prepare?.(server);
  const baseUrl = await server.listen();
  onTestFinished(() => server.close());
  return { server, baseUrl, ...(await openAccount({ baseUrl, token, keep, stored })) };
}

async function openAccount({
  baseUrl,
  token = discordToken,
  keep = async () => {},
  stored = {},
}: OpenOptions & { baseUrl: string }) {
  const [messages, presses, states]: [IncomingMessage[], ChannelPress[], ChannelState[]] = [[], [], []];
  const lines: string[] = [];
  const channel = await discordType.open({
    accountId: "club",
    settings: { baseUrl },
    getSecret: async () => token,
    clock: fastClock,
    position: { read: async () => stored.text, write: async (text) => void (stored.text = text) },
    log: (line) => void lines.push(line),
  });
  const closing = new AbortController();
  const onMessage = async (message: IncomingMessage) => {
    await keep(message);
    messages.push(message);
  };
  const onPress = async (press: ChannelPress) => void presses.push(press);
  const running = channel.run({ onMessage, onPress, onState: (state) => void states.push(state) }, closing.signal);
  const close = async () => {
    closing.abort();
    await running;
  };
  onTestFinished(close);
  const send = (text: string, others: object = {}) =>
    channel.send({ address: { channelId: directId }, text, nonce: "n", ...others });
  const isConnected = async () => {
    await expect.poll(() => states.at(-1)).toEqual({ kind: "connected" });
  };
  return { channel, messages, presses, states, lines, stored, send, close, isConnected };
}

const inGeneral = { channel_id: generalId };
const mention = { mentions: [{ id: selfId }] };

describe("what people write", () => {
  test("arrives in order with who wrote it and where, as often as it is kept", async () => {
    let failures = 2;
    const { server, messages, isConnected } = await openDiscord({
      keep: async () => {
        if (failures-- > 0) throw new Error("The disk is full.");
      },
    });
    await isConnected();
    const first = server.write("Hello");
    server.write("Hello again");
    await expect.poll(() => messages.map(({ text }) => text)).toEqual(["Hello", "Hello again"]);
    expect(messages[0]).toEqual({
      id: first,
      address: { channelId: directId },
      peer: { kind: "direct", id: "7" },
      sender: { id: "7", name: "Ann" },
      text: "Hello",
      isMentioned: false,
    });
  });

  test("in a server has its guild and the roles of who wrote it, and is meant for the account if that is named", async () => {
    const { server, messages, isConnected } = await openDiscord();
    await isConnected();
    server.write("Talk among others", inGeneral);
    server.write(`<@${selfId}> what now?`, { ...inGeneral, ...mention });
    server.write(`<@&${selfRole}> and you?`, { ...inGeneral, mention_roles: [selfRole] });
    server.write("Why?", { ...inGeneral, type: 19, referenced_message: { author: { id: selfId } } });
    server.write("Another's answer", { ...inGeneral, type: 19, referenced_message: { author: ann } });
    server.write("@everyone look", { ...inGeneral, mention_everyone: true });
    server.write("<@&1> others", { ...inGeneral, mention_roles: ["1"] });
    await expect.poll(() => messages.length).toBe(7);
    expect(messages.map(({ text, isMentioned }) => [text, isMentioned])).toEqual([
      ["Talk among others", false],
      ["what now?", true],
      [`<@&${selfRole}> and you?`, true],
      ["Why?", true],
      ["Another's answer", false],
      ["@everyone look", false],
      ["<@&1> others", false],
    ]);
    expect(messages[0]).toMatchObject({ peer: { kind: "channel", id: generalId }, guildId, roles: ["11"] });
    expect(messages[0]!.parentPeer).toBeUndefined();
  });

  test.each([true, false])(
    "in a thread belongs to its channel, whether Discord has told of it or is asked (%s)",
    async (isTold) => {
      const { server, messages, isConnected } = await openDiscord({
        prepare: (server) => (server.isGuildTold = isTold),
      });
      await isConnected();
      server.faults.set("GET /channels/:id", [
        { kind: "answer", status: 500 },
        { kind: "cut", isAfter: false },
      ]);
      server.write(`<@&${selfRole}> here`, {
        channel_id: threadId,
        mention_roles: [selfRole],
        member: { roles: [], nick: "Anna" },
      });
      await expect.poll(() => messages.length).toBe(1);
      expect(messages[0]).toMatchObject({
        address: { channelId: generalId, threadId },
        peer: { kind: "thread", id: threadId },
        parentPeer: { kind: "channel", id: generalId },
        guildId,
        sender: { id: "7", name: "Anna" },
        isMentioned: true,
      });
    },
  );

  test("is not answered if a bot, a webhook or Discord itself says it, nor when it is edited", async () => {
    const { server, messages, send, isConnected } = await openDiscord();
    await isConnected();
    await send("My own words");
    server.write("I am a bot", { author: { ...ann, bot: true } });
    server.write("A hook", { webhook_id: "5" });
    server.write("Ann has joined", { type: 7 });
    server.write("");
    const id = server.write("Hello");
    server.dispatch("MESSAGE_UPDATE", { id, channel_id: directId, author: ann, content: "Hello!" });
    server.write("End");
    await expect.poll(() => messages.map(({ text }) => text)).toEqual(["Hello", "End"]);
  });

  test("brings files from Discord's servers only, which are loaded when they are wanted, without the token", async () => {
    const { server, baseUrl, messages, isConnected } = await openDiscord();
    await isConnected();
    server.files.set("/attachments/a.csv", Buffer.from("figures"));
    const file = { id: "1", filename: "a.csv", size: 7, content_type: "text/csv" };
    const attachments = [
      { ...file, url: `${baseUrl}/attachments/a.csv` },
      { ...file, filename: "b.csv", url: "http://127.0.0.1:9/b.csv" },
      { ...file, filename: "c.csv", url: `${baseUrl}/gone.csv` },
      { ...file, filename: "d.csv", url: `${baseUrl}/attachments/a.csv`, size: 1e9 },
    ];
    server.write("", { attachments });
    await expect.poll(() => messages.length).toBe(1);
    expect(server.calls.some(({ path }) => path.endsWith(".csv"))).toBe(false);
    const files = await messages[0]!.loadFiles!();
    expect(files.map(({ name, mimeType, bytes }) => [name, mimeType, Buffer.from(bytes).toString().trim()])).toEqual([
      ["a.csv", "text/csv", "figures"],
      ["b.csv.not-loaded.txt", "text/plain", 'The file "b.csv" was not loaded: its address is not one of Discord\'s.'],
      ["c.csv.not-loaded.txt", "text/plain", 'The file "c.csv" was not loaded: the answer was 401.'],
      ["d.csv.not-loaded.txt", "text/plain", 'The file "d.csv" was not loaded: it has more than 20 MiB.'],
    ]);
  });

  test("of buttons is confirmed at once, with who pressed them", async () => {
    const { server, presses, isConnected } = await openDiscord();
    await isConnected();
    const press = {
      id: "77",
      token: "secret-of-it",
      type: 3,
      data: { custom_id: "/approve x yes", component_type: 2 },
    };
    server.dispatch("INTERACTION_CREATE", { ...press, channel: { id: directId, type: 1 }, user: ann });
    const inThread = {
      channel: { id: threadId, type: 11 },
      guild_id: guildId,
      member: { user: ann, nick: "Anna", roles: [] },
    };
    server.dispatch("INTERACTION_CREATE", { ...press, id: "78", ...inThread });
    await expect.poll(() => presses).toHaveLength(2);
    expect(presses).toEqual([
      { address: { channelId: directId }, sender: { id: "7", name: "Ann" }, value: "/approve x yes" },
      { address: { channelId: generalId, threadId }, sender: { id: "7", name: "Anna" }, value: "/approve x yes" },
    ]);
    await expect
      .poll(() => server.bodiesOf("POST /interactions/:id/:token/callback"))
      .toEqual([{ type: 6 }, { type: 6 }]);
  });
});

describe("what is sent", () => {
  test("answers a message, calls nobody, shows no previews, and has its nonce", async () => {
    const { server, send } = await openDiscord();
    const address = { channelId: generalId, threadId };
    const buttons = [
      { label: "Yes", value: "/approve x yes" },
      { label: "No", value: "/approve x no" },
      { label: "Too long", value: "x".repeat(101) },
    ];
    expect(
      await send("**Hi** @everyone [bank](https://evil.example)", { address, replyTo: "9", buttons }),
    ).toMatchObject({
      kind: "sent",
    });
    const [call] = server.calls.filter(({ method }) => method === "POST");
    expect(call!.path).toBe(`/channels/${threadId}/messages`);
    expect(call!.body).toEqual({
      content: "**Hi** ＠everyone bank (https://evil.example)",
      nonce: expect.stringMatching(/^[\w-]{25}$/),
      enforce_nonce: true,
      allowed_mentions: { parse: [], replied_user: false },
      flags: 4,
      message_reference: { type: 0, message_id: "9", fail_if_not_exists: false },
      components: [
        {
          type: 1,
          components: [
            { type: 2, style: 1, label: "Yes", custom_id: "/approve x yes" },
            { type: 2, style: 2, label: "No", custom_id: "/approve x no" },
          ],
        },
      ],
    });
  });

  test("twice with one nonce is one message, also if the first answer was lost", async () => {
    const { server, send } = await openDiscord();
    server.faults.set("POST /channels/:id/messages", [{ kind: "cut", isAfter: true }]);
    expect(await send("Hi", { nonce: "0199/4f1/0" })).toMatchObject({ kind: "unknown" });
    expect(await send("Hi", { nonce: "0199/4f1/0" })).toMatchObject({ kind: "sent" });
    expect(await send("Hi", { nonce: "0199/4f1/1" })).toMatchObject({ kind: "sent" });
    expect(server.textsTo()).toEqual(["Hi", "Hi"]);
  });

  test("is edited, with reactions, files and a sign of writing", async () => {
    const { server, channel, send } = await openDiscord();
    const address = { channelId: directId };
    const sent = await send("Hi");
    const messageId = sent.kind === "sent" ? sent.messageId : "";
    expect(await channel.edit!({ address, messageId, text: "Hi @here", nonce: "n" })).toEqual({
      kind: "sent",
      messageId,
    });
    expect(server.textsTo()).toEqual(["Hi ＠here"]);
    expect(server.bodiesOf("PATCH /channels/:id/messages/:id")[0]).toMatchObject({ allowed_mentions: { parse: [] } });
    for (const emoji of ["👍", "<:wave:123>"]) await channel.react!(address, messageId, emoji);
    const reactions = server.calls.filter(({ method }) => method === "PUT").map(({ path }) => decodeURIComponent(path));
    expect(reactions).toEqual(
      ["👍", "wave:123"].map((emoji) => `/channels/${directId}/messages/${messageId}/reactions/${emoji}/@me`),
    );
    const file = { name: 'a"\r\nx: y.txt', mimeType: "text/plain", bytes: Buffer.from("figures") };
    expect(await channel.sendFile!({ address, file, replyTo: "9", nonce: "f" })).toMatchObject({ kind: "sent" });
    const form = server.calls.at(-1)!;
    expect(form.body).toMatchObject({ enforce_nonce: true, message_reference: { message_id: "9" } });
    expect(form.raw.toString()).toMatch(
      /filename="a%22%0D%0Ax: y\.txt"\r\ncontent-type: text\/plain\r\n\r\nfigures\r\n/i,
    );
    await channel.showTyping!(address);
    expect(server.bodiesOf("POST /channels/:id/typing")).toHaveLength(1);
  });

  const answer = (status: number, body: object, headers: Record<string, string> = {}): DiscordFault => ({
    kind: "answer",
    status,
    body,
    headers,
  });
  const limited = { message: "You are being rate limited.", retry_after: 3 };
  test.each([
    [answer(429, { ...limited, global: false }, { "retry-after": "3" }), { kind: "not_sent", retryAfterMs: 3_050 }],
    [
      answer(429, { ...limited, global: true }, { "retry-after": "3", "x-ratelimit-global": "true" }),
      { kind: "not_sent", retryAfterMs: 3_050 },
    ],
    [
      answer(403, { code: 50013, message: "Missing Permissions" }),
      { kind: "refused", reason: expect.stringContaining("Send Messages") },
    ],
    [
      answer(403, { code: 50001, message: "Missing Access" }),
      { kind: "refused", reason: expect.stringContaining("View Channel") },
    ],
    [
      answer(403, { code: 50007, message: "Cannot send" }),
      { kind: "refused", reason: expect.stringContaining("unblock") },
    ],
    [
      answer(413, { code: 40005, message: "Request entity too large" }),
      { kind: "refused", reason: expect.stringContaining("too large") },
    ],
    [answer(400, { code: 1, message: "No" }), { kind: "refused", reason: "No" }],
    [answer(401, { code: 0, message: "401: Unauthorized" }), { kind: "not_sent", retryAfterMs: 60_000 }],
    [answer(500, {}), { kind: "unknown" }],
    [answer(502, {}), { kind: "unknown" }],
    [answer(302, {}, { location: "https://evil.example/" }), { kind: "unknown" }],
    [{ kind: "cut", isAfter: false } as const, { kind: "unknown" }],
  ])("%j means %j", async (fault, delivery) => {
    const { server, send } = await openDiscord();
    server.faults.set("POST /channels/:id/messages", [fault]);
    const actual = await send("Hi");
    const { retryAfterMs, ...rest } = delivery as { retryAfterMs?: number };
    expect(actual).toMatchObject(rest);
    // The library adds a little, and counts down.
    if (retryAfterMs !== undefined) {
      expect((actual as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(retryAfterMs - 1_500);
      expect((actual as { retryAfterMs: number }).retryAfterMs).toBeLessThanOrEqual(retryAfterMs + 100);
    }
    expect(JSON.stringify(actual)).not.toContain(discordToken);
    expect(server.bodiesOf("POST /channels/:id/messages")).toHaveLength(1);
    // One refusal does not stop what is sent later.
    if (retryAfterMs === undefined || retryAfterMs === 60_000)
      expect(await send("Again")).toMatchObject({ kind: "sent" });
  });

  test("is certainly not delivered if there is no connection", async () => {
    const { server, send, close } = await openDiscord();
    await close();
    server.close();
    // A connection that was kept open is found to be closed first.
    await send("Hi");
    expect(await send("Hi")).toMatchObject({ kind: "not_sent", reason: expect.stringContaining("ECONNREFUSED") });
  });

  test("waits for a bucket that is known to be empty without asking", async () => {
    const { server, send } = await openDiscord({
      prepare: (server) => (server.limit = { requests: 2, everyMs: 60_000 }),
    });
    const kinds = [];
    for (let index = 0; index < 4; index++) kinds.push((await send("Hi", { nonce: String(index) })).kind);
    expect(kinds).toEqual(["sent", "sent", "not_sent", "not_sent"]);
    expect(server.bodiesOf("POST /channels/:id/messages")).toHaveLength(2);
    // Another channel has a bucket of its own.
    expect(await send("Hi", { address: { channelId: generalId } })).toMatchObject({ kind: "sent" });
  });
});

describe("the connection", () => {
  test("asks for messages and their content, once", async () => {
    const { server, isConnected } = await openDiscord();
    await isConnected();
    expect(server.identifies).toHaveLength(1);
    expect(server.identifies[0]).toMatchObject({ intents: 1 | (1 << 9) | (1 << 12) | (1 << 15), shard: [0, 1] });
  });

  test.each([
    ["a wrong token", { token: "wrong" }, /^Discord does not know the token/],
    [
      "a closed intent",
      { prepare: (server: DiscordServer) => (server.isContentAllowed = false) },
      /Message Content Intent/,
    ],
  ])("fails for good with %s, and says what to do", async (_name, options, reason) => {
    const { states, server, close } = await openDiscord(options as OpenOptions);
    await expect.poll(() => states.at(-1)).toEqual({ kind: "failed", reason: expect.stringMatching(reason) });
    await close();
    expect(server.identifies.length).toBeLessThan(2);
  });

  test("that finds a wrong token while it is open fails for good", async () => {
    const { server, states, isConnected } = await openDiscord();
    await isConnected();
    server.closeSockets(4004);
    await expect.poll(() => states.at(-1)).toMatchObject({ kind: "failed" });
  });

  test.each([
    ["is cut", (server: DiscordServer) => server.cutSockets()],
    ["is to be made anew", (server: DiscordServer) => server.send(7, null)],
    ["is closed by an error of Discord", (server: DiscordServer) => server.closeSockets(4000)],
    ["restarts", (server: DiscordServer) => server.closeSockets(1012)],
  ])("that %s is resumed, and nothing is lost or said twice", async (_name, cut) => {
    const { server, messages, isConnected } = await openDiscord();
    await isConnected();
    server.write("1");
    await expect.poll(() => messages.length).toBe(1);
    cut(server);
    server.write("2");
    server.repeatLast();
    server.write("3");
    await expect.poll(() => [...new Set(messages.map(({ text }) => text))]).toEqual(["1", "2", "3"]);
    await expect.poll(() => server.resumes).toBe(1);
    expect(server.identifies).toHaveLength(1);
  });

  test.each<[string, number, unknown]>([
    ["a session that is gone, without saying whether it can be resumed", 9, null],
    ["a greeting without data", 10, null],
  ])("on which comes %s is made anew, and ends nothing else", async (_name, op, data) => {
    const { server, messages, isConnected } = await openDiscord();
    await isConnected();
    server.send(op, data);
    await expect.poll(() => server.resumes).toBe(1);
    server.write("Are you there?");
    await expect.poll(() => messages.map(({ text }) => text)).toEqual(["Are you there?"]);
    expect(server.connections).toBe(1);
  });

  test("that is ordered to reconnect twice, and closed late, is made anew once", async () => {
    const { server, messages, isConnected } = await openDiscord();
    await isConnected();
    // As long as Discord reads nothing, it does not confirm that the connection is closed. The library waits half a second.
    const read = server.pauseSockets();
    server.send(7, null);
    server.send(7, null);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(server.connections).toBe(1);
    read();
    await expect.poll(() => server.resumes).toBe(1);
    server.write("Are you there?");
    await expect.poll(() => messages.map(({ text }) => text)).toEqual(["Are you there?"]);
    expect(server.connections).toBe(1);
  });

  test("that is lost again and again leaves nothing behind, and a full disk does not end it", async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => void warnings.push(message);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const stored = {
      set text(_text: string) {
        throw new Error("The disk is full.");
      },
    };
    const { server, messages, lines, isConnected } = await openDiscord({ stored });
    for (let index = 0; index < 12; index++) {
      await isConnected();
      await expect.poll(() => server.connections).toBe(1);
      server.write(String(index));
      await expect.poll(() => messages.length).toBe(index + 1);
      server.cutSockets();
      await expect.poll(() => server.resumes).toBe(index + 1);
    }
    await isConnected();
    expect(warnings).toEqual([]);
    expect(lines.join("\n")).toContain("The disk is full.");
  });

  test("whose heartbeats are not answered is given up and resumed", async () => {
    const { server, messages, isConnected } = await openDiscord({ prepare: (server) => (server.heartbeatMs = 60) });
    await isConnected();
    await expect.poll(() => server.heartbeats).toBeGreaterThan(1);
    server.isDeaf = true;
    await expect.poll(() => server.connections).toBe(0);
    server.isDeaf = false;
    server.write("Are you there?");
    await expect.poll(() => messages.map(({ text }) => text)).toEqual(["Are you there?"]);
    expect(server.identifies).toHaveLength(1);
  });

  test("whose session is gone begins another, and reads what was missed in the conversations that it knows", async () => {
    const { server, messages, isConnected, states } = await openDiscord();
    await isConnected();
    server.write("1");
    server.write(`<@${selfId}> 2`, { ...inGeneral, ...mention });
    await expect.poll(() => messages.length).toBe(2);
    server.cutSockets();
    server.forgetSessions();
    await expect.poll(() => states.at(-1)?.kind).not.toBe("connected");
    // Nobody is connected, so nobody is told.
    for (let index = 3; index < 130; index++) server.write(String(index));
    server.write(`<@${selfId}> missed`, { ...inGeneral, ...mention });
    server.write("I am a bot", { author: { ...ann, bot: true } });
    await isConnected();
    server.write("Later");
    await expect.poll(() => messages.at(-1)?.text).toBe("Later");
    // What came while the history was read is reported twice, with the same id.
    const listOnce = () => [...new Map(messages.map((message) => [message.id, message])).values()];
    await expect.poll(() => listOnce().length).toBe(131);
    const texts = listOnce()
      .filter(({ peer }) => peer.kind === "direct")
      .map(({ text }) => text);
    expect(texts).toEqual(["1", ...Array.from({ length: 127 }, (_, index) => String(index + 3)), "Later"]);
    const missed = messages.find(({ text }) => text === "missed")!;
    expect(missed).toMatchObject({
      guildId,
      roles: ["11"],
      isMentioned: true,
      peer: { kind: "channel", id: generalId },
    });
    expect(server.identifies).toHaveLength(2);
  });

  test("whose history was not read yet when the process was killed is not resumed, and what was missed is read", async () => {
    const { server, baseUrl, messages, isConnected, states, stored } = await openDiscord();
    await isConnected();
    server.write("1");
    server.write(`<@${selfId}> 2`, { ...inGeneral, ...mention });
    await expect.poll(() => messages.length).toBe(2);
    server.chooseFault = ({ method, path }) =>
      method === "GET" && path.endsWith(`/${directId}/messages`) ? { kind: "answer", status: 500 } : undefined;
    server.cutSockets();
    server.forgetSessions();
    await expect.poll(() => states.at(-1)?.kind).not.toBe("connected");
    server.write("missed");
    await isConnected();
    const id = server.write(`<@${selfId}> 3`, { ...inGeneral, ...mention });
    await expect.poll(() => stored.text).toContain(id);
    server.chooseFault = () => undefined;
    const next = await openAccount({ baseUrl, stored: { ...stored } });
    await expect.poll(() => next.messages.map(({ text }) => text)).toContain("missed");
  });

  test("is resumed by the next process, from the last message that was kept", async () => {
    const keep = async ({ text }: IncomingMessage) => {
      if (text === "2") await new Promise(() => {});
    };
    const first = await openDiscord({ keep });
    await first.isConnected();
    first.server.write("1");
    await expect.poll(() => first.messages.length).toBe(1);
    first.server.write("2");
    first.server.write(`<@${selfId}> 3`, { ...inGeneral, ...mention });
    await expect.poll(() => first.messages.map(({ text }) => text)).toEqual(["1", "3"]);
    await expect.poll(() => first.stored.text).toContain(`"${generalId}"`);
    // As if the process was killed: nothing is saved after this.
    const stored = { ...first.stored };
    await first.close();
    first.server.write("4");
    const second = await openAccount({ baseUrl: first.baseUrl, stored });
    await expect.poll(() => second.messages.map(({ text }) => text).toSorted()).toEqual(["2", "3", "4"]);
    expect(second.messages.filter(({ peer }) => peer.kind === "direct").map(({ text }) => text)).toEqual(["2", "4"]);
    expect(first.server.identifies).toHaveLength(1);
    expect(first.server.resumes).toBe(1);
  });

  test("waits when Discord allows no more of them today, and grows its pauses while Discord is gone", async () => {
    const { server, states } = await openDiscord({ prepare: (server) => (server.remainingStarts = 0) });
    await expect.poll(() => states.at(-1)).toMatchObject({ kind: "waiting", forMs: 60_000 });
    expect(server.identifies).toHaveLength(0);
    server.close();
    const isGrown = (state: ChannelState) => state.kind === "waiting" && state.reason.includes("ECONNREFUSED");
    await expect.poll(() => states.filter(isGrown).length).toBeGreaterThan(2);
  });

  test("that is closed while it is being made leaves none behind", async () => {
    const { server, close, states } = await openDiscord();
    await expect.poll(() => server.calls.some(({ path }) => path === "/gateway/bot")).toBe(true);
    await close();
    await expect.poll(() => server.connections).toBe(0);
    expect(states.at(-1)).not.toMatchObject({ kind: "failed" });
  });
});

test.each([
  ["**bold** and `code`", "**bold** and `code`"],
  ["[bank](https://evil.example)", "bank (https://evil.example)"],
  ["[https://a.example](https://a.example)", "https://a.example"],
  ['![alt](https://a.example/x.png "title")', "alt (https://a.example/x.png)"],
  ["[`file.ts`](https://a.example/f_(1))", "`file.ts` (https://a.example/f_(1))"],
  ["[a [b] c](https://evil.example)", "[a [b] c]（https://evil.example)"],
  ["[a\\](https://evil.example)", "[a\\](https://evil.example)"],
  ["[a\\\\](https://evil.example)", "a\\\\ (https://evil.example)"],
  ["[x]([bank](https://evil.example))", "x ([bank]（https://evil.example))"],
  ["> ```\n[bank](https://evil.example)\n> ```", "> ```\n[bank]（https://evil.example)\n> ```"],
  ["# ```\n[bank](https://evil.example)\n```", "# ```\n[bank]（https://evil.example)\n```"],
  ["[a]( <https://evil.example> )", "a (https://evil.example)"],
  ["[a\nb](javascript:x)", "a\nb (javascript:x)"],
  ["list[0](x)", "list0 (x)"],
  ["`[a](https://b.example)` @everyone", "`[a](https://b.example)` ＠everyone"],
  ["```sh\necho @here [a](https://b.example)\n```\n@here", "```sh\necho @here [a](https://b.example)\n```\n＠here"],
  ["```\nnot closed [a](https://b.example)", "```\nnot closed a (https://b.example)"],
  ["\\`[a](https://evil.example)\\`", "\\`a (https://evil.example)\\`"],
])("Markdown %j is written as %j", (markdown, text) => {
  expect(toDiscordText(markdown)).toBe(text);
  expect(text.length).toBeLessThanOrEqual(markdown.length);
});

test.each([
  ["https://cdn.discordapp.com/attachments/1/2/a.png?ex=1", true],
  ["https://media.discordapp.net/attachments/1/2/a.png", true],
  ["http://cdn.discordapp.com/a.png", false],
  ["https://cdn.discordapp.com.evil.example/a.png", false],
  ["https://cdn.discordapp.com@evil.example/a.png", false],
  ["https://cdn.discordapp.com:8443/a.png", false],
  ["file:///etc/passwd", false],
  ["no address", false],
])("files come from Discord: %s is %s", (url, expected) => {
  expect(isOfDiscord(url, undefined)).toBe(expected);
});

test("an account that gives up shows why, and a reload tries it again", async () => {
  const server = new DiscordServer();
  const baseUrl = await server.listen();
  onTestFinished(() => server.close());
  let token = "wrong";
  const getSecret = async () => token;
  const {
    gateway,
    logged,
    close,
    token: gatewayToken,
  } = await openTestGateway({
    settings: { gateway: { channels: { club: { type: "discord", baseUrl } } } },
    options: {
      channelTypes: {
        discord: async () => ({ ...discordType, open: (options) => discordType.open({ ...options, getSecret }) }),
      },
    },
  });
  onTestFinished(close);
  await expect.poll(() => gateway.parts.channels.list()[0]?.state).toBe("failed");
  expect(gateway.parts.channels.list()[0]).toMatchObject({ reason: expect.stringContaining("tau channels login") });
  expect(logged.filter((line) => line.includes("club failed"))).toHaveLength(1);
  token = discordToken;
  const client = await connectRaw(gateway.url, { token: gatewayToken });
  expect(await client.must("gateway.reload", {})).toMatchObject({ changed: ["gateway.channels.club"] });
  await expect.poll(() => gateway.parts.channels.list()[0]?.state).toBe("connected");
});

test("its tools are called as people know them", () => {
  expect(Object.values(getToolNames("discord"))).toEqual([
    "discord_reply",
    "discord_add_reaction",
    "discord_send_file",
  ]);
});

test("an error of a library of another copy is read by its fields", () => {
  const cause = new AggregateError([Object.assign(new Error("x"), { code: "ECONNREFUSED" })]);
  expect(toFailure(new TypeError("fetch failed", { cause }))).toMatchObject({ kind: "not_sent" });
  const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  expect(toFailure(new TypeError("fetch failed", { cause: reset }))).toMatchObject({ kind: "unknown" });
  expect(toFailure({})).toEqual({ kind: "unknown", reason: "Discord gave no reason." });
});
