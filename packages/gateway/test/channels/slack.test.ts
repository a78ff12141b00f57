import { systemClock } from "@tau/ai";
import { scriptedModel, text } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { ChannelAccounts } from "../../src/channels/accounts.ts";
import { ChannelCounts } from "../../src/channels/counts.ts";
import type { ChannelOptions, ChannelPress, ChannelState, IncomingMessage } from "@tau/extensions";
import { slackChannel } from "../../src/channels/slack/slack-channel.ts";
import { isSlackFileUrl } from "../../src/channels/slack/slack-files.ts";
import { openTestGateway } from "../../src/testing/index.ts";
import { createSlackRequest, slackBotId, SlackServer, slackTokens } from "./slack-server.ts";

interface OpenOptions {
  secrets?: { token?: string; app?: string };
  keep?: (message: IncomingMessage) => Promise<void>;
  settings?: object;
  prepare?: (server: SlackServer) => void;
}

async function openSlack({ secrets, keep = async () => {}, settings = {}, prepare }: OpenOptions = {}) {
  const server = new SlackServer();
  prepare?.(server);
  const baseUrl = await server.listen();
  const [messages, presses, states]: [IncomingMessage[], ChannelPress[], ChannelState[]] = [[], [], []];
  const logged: string[] = [];
  const stored: Record<string, string> = { token: slackTokens.bot, app: slackTokens.app, ...secrets };
  const channel = await slackChannel.open({
    accountId: "work",
    settings: { baseUrl, ...settings },
    getSecret: async (name) => stored[name]!,
    clock: systemClock,
    log: (line) => void logged.push(line),
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
    server.close();
  };
  onTestFinished(close);
  const send = (text: string, others: object = {}) =>
    channel.send({ address: { channelId: "C1" }, text, nonce: "n", ...others });
  const whenConnected = async () => await expect.poll(() => states.at(-1)).toEqual({ kind: "connected" });
  return { server, baseUrl, channel, messages, presses, states, logged, send, whenConnected, close };
}

const inChannel = { channel: "C1", channel_type: "channel" };
const mention = `<@${slackBotId}>`;

describe("what people write", () => {
  test("arrives with who wrote it and where, and is acknowledged once it is kept", async () => {
    let failures = 1;
    const { server, messages, whenConnected, logged } = await openSlack({
      keep: async () => {
        if (failures-- > 0) throw new Error("The disk is full.");
      },
    });
    await whenConnected();
    let isAcknowledged = false;
    const written = server.write("Hello &lt;b&gt;").then(() => (isAcknowledged = true));
    await expect.poll(() => logged).toEqual(["Slack will send a message again: The disk is full."]);
    expect(isAcknowledged).toBe(false);
    server.sendAgain();
    await written;
    expect(messages).toEqual([
      {
        id: expect.stringMatching(/^D1\/\d{10}\.\d{6}$/),
        address: { channelId: "D1" },
        peer: { kind: "direct", id: "T1/U1" },
        teamId: "T1",
        sender: { id: "T1/U1", name: "Name of U1" },
        text: "Hello <b>",
        isMentioned: false,
      },
    ]);
  });

  test("is the same message whether it comes as a message, a mention, again, or in another connection", async () => {
    const { server, messages, whenConnected } = await openSlack();
    await whenConnected();
    const asMessage = server.createMessage(`${mention} what now?`, inChannel);
    const { channel_type: _, ...event } = asMessage["event"] as Record<string, unknown>;
    const asMention = { ...asMessage, event_id: "Ev2", event: { ...event, type: "app_mention" } };
    let unheard = 0;
    server.hearsAcknowledgement = () => ++unheard === 0;
    const written = [server.deliver("events_api", asMention), server.deliver("events_api", asMessage)];
    await expect.poll(() => unheard).toBe(2);
    expect(messages).toHaveLength(2);
    server.hearsAcknowledgement = () => true;
    server.disconnect("refresh_requested");
    await Promise.all(written);
    expect(messages).toHaveLength(4);
    expect(new Set(messages.map((message) => JSON.stringify(message))).size).toBe(1);
    expect(messages[0]).toMatchObject({ text: "what now?", isMentioned: true, peer: { kind: "channel", id: "C1" } });
  });

  test("in a thread belongs to it, and answers there", async () => {
    const { server, messages, whenConnected } = await openSlack();
    await whenConnected();
    await server.write("Here", { ...inChannel, thread_ts: "1699.1" });
    await server.write("There", { ...inChannel, thread_ts: "1699.1", parent_user_id: slackBotId });
    await server.write("And also in the channel", { ...inChannel, thread_ts: "1699.1", subtype: "thread_broadcast" });
    await server.write("In a direct conversation", { thread_ts: "1699.1" });
    const thread = {
      address: { channelId: "C1", threadId: "1699.1" },
      peer: { kind: "thread", id: "1699.1" },
      parentPeer: { kind: "channel", id: "C1" },
    };
    expect(messages).toMatchObject([
      { ...thread, isMentioned: false },
      { ...thread, isMentioned: true },
      { ...thread, isMentioned: false },
      { address: { channelId: "D1", threadId: "1699.1" }, peer: { kind: "direct", id: "T1/U1" } },
    ]);
    expect(messages[3]).not.toHaveProperty("parentPeer");
  });

  test("is read in its order also while names are looked up", async () => {
    const { server, messages, whenConnected } = await openSlack();
    await whenConnected();
    await server.write("Zero");
    server.faults.set("users.info", [{ body: { ok: false, error: "user_not_found" } }]);
    const texts = ["One", "Two", "Three"];
    await Promise.all(
      texts.map((text, index) => server.write(text, { ...inChannel, user: index === 0 ? "U2" : "U1" })),
    );
    expect(messages.map(({ text, sender }) => [text, sender.name])).toEqual([
      ["Zero", "Name of U1"],
      ["One", "U2"],
      ["Two", "Name of U1"],
      ["Three", "Name of U1"],
    ]);
    expect(server.callsOf("users.info")).toEqual([{ user: "U1" }, { user: "U2" }]);
  });

  test("brings files, which are loaded with the token from Slack only, and only when they are wanted", async () => {
    const { server, baseUrl, messages, whenConnected } = await openSlack();
    await whenConnected();
    const other = new SlackServer();
    const otherUrl = await other.listen();
    onTestFinished(() => other.close());
    server.files.set("F1", { type: "text/csv", bytes: Buffer.from("figures") });
    server.files.set("F3", { type: "redirect", bytes: Buffer.from(`${otherUrl}/files/F1`) });
    server.files.set("F4", { type: "text/html; charset=utf-8", bytes: Buffer.from("Please log in") });
    server.files.set("F5", { type: "text/plain", bytes: Buffer.from("asked for") });
    other.files.set("F1", { type: "text/plain", bytes: Buffer.from("stolen") });
    const at = (id: string, url: string) => ({
      id,
      name: `${id}.csv`,
      mimetype: "text/csv",
      url_private_download: url,
    });
    await server.write("Look", {
      subtype: "file_share",
      files: [
        at("F1", `${baseUrl}/files/F1`),
        at("F2", `${otherUrl}/files/F1`),
        at("F3", `${baseUrl}/files/F3`),
        at("F4", `${baseUrl}/files/F4`),
        { id: "F5", name: "F5.txt", mimetype: "text/plain", file_access: "check_file_info" },
        at("F6", `${baseUrl}/files/F6`),
        { ...at("F7", "https://drive.example/x"), mode: "external" },
      ],
    });
    expect(messages[0]!.text).toBe('Look\n(The file "F7.csv" could not be loaded from Slack.)');
    expect(server.fileTokens).toEqual([]);
    const files = await messages[0]!.loadFiles!();
    const contents = files.map(({ name, bytes }) => `${name}: ${Buffer.from(bytes).toString()}`);
    expect(contents).toEqual([
      "F1.csv: figures",
      expect.stringContaining("F2.csv.not-loaded.txt: The file"),
      expect.stringContaining("Slack redirects. Does the app have files:read?"),
      expect.stringContaining("Slack sent a page instead. Does the app have files:read?"),
      "F5.txt: asked for",
      expect.stringContaining("The answer was 404."),
    ]);
    expect(new Set(server.fileTokens)).toEqual(new Set([`Bearer ${slackTokens.bot}`]));
    expect(other.fileTokens).toEqual([]);
  });

  test("may be a command in Slack's own field for commands, which takes a message too", async () => {
    const { server, messages, whenConnected } = await openSlack();
    await whenConnected();
    const command = { command: "/tau", user_id: "U1", team_id: "T1", channel_id: "C1", trigger_id: "1.2.3" };
    for (const text of ["status", "", "how are you?"]) await server.deliver("slash_commands", { ...command, text });
    expect(messages.map(({ text }) => text)).toEqual(["/status", "/help", "how are you?"]);
    expect(messages[0]).toMatchObject({
      sender: { id: "T1/U1" },
      isMentioned: true,
      peer: { kind: "channel", id: "C1" },
    });
  });

  test("of buttons is who pressed them and where", async () => {
    const { server, presses, whenConnected } = await openSlack();
    await whenConnected();
    const press = (message: object) => ({
      type: "block_actions",
      user: { id: "U1", username: "ann", team_id: "T1" },
      team: { id: "T1" },
      channel: { id: "C1" },
      container: { type: "message", message_ts: "1700.1" },
      message: { ts: "1700.1", ...message },
      actions: [{ type: "button", action_id: "tau-0", value: "/approve x yes" }],
    });
    await server.deliver("interactive", press({ thread_ts: "1699.1" }));
    await server.deliver("interactive", press({ thread_ts: "1700.1" }));
    await server.deliver("interactive", { ...press({}), type: "view_submission" });
    const sender = { id: "T1/U1", name: "ann" };
    expect(presses).toEqual([
      { address: { channelId: "C1", threadId: "1699.1" }, sender, value: "/approve x yes" },
      { address: { channelId: "C1" }, sender, value: "/approve x yes" },
    ]);
  });
});

describe("what is sent", () => {
  test("goes into its thread, mentions nobody, has no previews, and buttons in blocks", async () => {
    const { server, send } = await openSlack();
    const address = { channelId: "C1", threadId: "1699.1" };
    const buttons = [{ label: "Allow once", value: "/approve x yes" }];
    expect(await send("**Hi** <!channel> <@U2>")).toEqual({
      kind: "sent",
      messageId: expect.stringMatching(/^C1\/\d+\.\d+$/),
    });
    await send("May I?", { address, replyTo: "C1/1700.1", buttons });
    const common = { parse: "none", link_names: false, unfurl_links: false, unfurl_media: false };
    expect(server.callsOf("chat.postMessage")).toEqual([
      { ...common, channel: "C1", text: "*Hi* &lt;!channel&gt; &lt;@U2&gt;", blocks: [] },
      {
        ...common,
        channel: "C1",
        thread_ts: "1699.1",
        text: "May I?",
        blocks: [
          { type: "section", text: { type: "mrkdwn", text: "May I?", verbatim: true } },
          {
            type: "actions",
            elements: [
              {
                type: "button",
                text: { type: "plain_text", text: "Allow once", emoji: false },
                action_id: "tau-0",
                value: "/approve x yes",
              },
            ],
          },
        ],
      },
    ]);
  });

  test.each([
    [
      { status: 429, headers: { "retry-after": "3" }, body: { ok: false, error: "ratelimited" } },
      { kind: "not_sent", reason: "Slack takes no more for now.", retryAfterMs: 3_000 },
    ],
    [{ status: 429 }, { kind: "not_sent", reason: "Slack takes no more for now.", retryAfterMs: 1_000 }],
    [{ body: { ok: false, error: "ratelimited" } }, { kind: "not_sent", reason: "ratelimited", retryAfterMs: 1_000 }],
    [{ body: { ok: false, error: "not_in_channel" } }, { kind: "refused", reason: expect.stringContaining("/invite") }],
    [
      { body: { ok: false, error: "channel_not_found" } },
      { kind: "refused", reason: expect.stringContaining("/invite") },
    ],
    [
      { body: { ok: false, error: "missing_scope", needed: "chat:write" } },
      { kind: "refused", reason: expect.stringContaining("lacks the scope chat:write.") },
    ],
    [{ body: { ok: false, error: "msg_blocked" } }, { kind: "refused", reason: "msg_blocked: Slack refuses it." }],
    [{ status: 404 }, { kind: "refused", reason: "Slack answered with the status 404." }],
    [
      { status: 302, headers: { location: "/" } },
      { kind: "refused", reason: "Slack answered with the status 302." },
    ],
    [{ body: { ok: false, error: "internal_error" } }, { kind: "unknown", reason: "internal_error" }],
    [
      { status: 500, body: "down" },
      { kind: "unknown", reason: "Slack answered with the status 500." },
    ],
    [{ body: "<html>Welcome to the hotel</html>" }, { kind: "unknown", reason: "Slack's answer cannot be read." }],
    ["cut" as const, { kind: "unknown", reason: expect.any(String) }],
  ])("%j means %j, after one attempt", async (fault, delivery) => {
    const { server, send } = await openSlack();
    server.faults.set("chat.postMessage", [fault]);
    expect(await send("Hi")).toEqual(delivery);
    expect(server.callsOf("chat.postMessage")).toHaveLength(1);
  });

  test("is certainly not delivered if there is no connection, and the token is not told", async () => {
    const { server, send, whenConnected } = await openSlack();
    await whenConnected();
    server.close();
    // A connection that was kept may be used once more; of that request nothing is certain.
    await expect.poll(async () => (await send("Hi")).kind).toBe("not_sent");
    expect(JSON.stringify(await send("Hi"))).not.toContain(slackTokens.bot);
  });

  test("is edited with its time, and loses its blocks", async () => {
    const { server, channel } = await openSlack();
    const message = { address: { channelId: "C1", threadId: "1" }, text: "Now", nonce: "n" };
    const delivery = await channel.send({ ...message, text: "First" });
    const messageId = delivery.kind === "sent" ? delivery.messageId : "";
    expect(await channel.edit!({ ...message, messageId })).toEqual({ kind: "sent", messageId });
    const [, ts] = messageId.split("/");
    expect(server.callsOf("chat.update")).toEqual([
      { channel: "C1", ts, text: "Now", blocks: [], parse: "none", link_names: false },
    ]);
    expect(await channel.edit!({ ...message, messageId: "C1/1.1" })).toMatchObject({ kind: "refused" });
  });

  test("as a reaction has Slack's name for the emoji, and is there already the second time", async () => {
    const { server, channel } = await openSlack();
    const react = (emoji: string) => channel.react!({ channelId: "C1" }, "C1/1700.1", emoji);
    expect(await react("👀")).toEqual({ kind: "sent", messageId: "C1/1700.1" });
    server.faults.set("reactions.add", [{ body: { ok: false, error: "already_reacted" } }]);
    expect(await react("👍🏽")).toMatchObject({ kind: "sent" });
    expect(await react("🪿")).toMatchObject({ kind: "refused", reason: expect.stringContaining("🪿") });
    expect(server.callsOf("reactions.add")).toEqual([
      { channel: "C1", timestamp: "1700.1", name: "eyes" },
      { channel: "C1", timestamp: "1700.1", name: "+1::skin-tone-4" },
    ]);
  });

  test("as a file is uploaded first, and shown in its conversation last", async () => {
    const { server, channel } = await openSlack();
    const file = { name: "a.csv", mimeType: "text/csv", bytes: Buffer.from("figures") };
    const sendFile = () => channel.sendFile!({ address: { channelId: "C1", threadId: "1699.1" }, file, nonce: "n" });
    expect(await sendFile()).toEqual({ kind: "sent", messageId: "F9" });
    expect(server.files.get("F9")!.bytes.toString()).toBe("figures");
    expect(server.callsOf("files.getUploadURLExternal")).toEqual([{ filename: "a.csv", length: 7 }]);
    const shown = { files: [{ id: "F9", title: "a.csv" }], channel_id: "C1", thread_ts: "1699.1" };
    expect(server.callsOf("files.completeUploadExternal")).toEqual([shown]);
    // Before the last step nothing can have been delivered.
    server.faults.set("upload", ["cut"]);
    expect(await sendFile()).toMatchObject({ kind: "not_sent" });
    server.faults.set("files.getUploadURLExternal", [{ status: 500 }]);
    expect(await sendFile()).toMatchObject({ kind: "not_sent" });
    server.faults.set("files.completeUploadExternal", ["cut"]);
    expect(await sendFile()).toMatchObject({ kind: "unknown" });
    const elsewhere = { ok: true, upload_url: "https://evil.example/upload", file_id: "F9" };
    server.faults.set("files.getUploadURLExternal", [{ body: elsewhere }]);
    expect(await sendFile()).toMatchObject({ kind: "refused" });
  });
});

describe("the connection", () => {
  test.each([
    ["the bot's token", { token: "xoxb-wrong" }],
    ["the app's token", { app: "xapp-wrong" }],
  ])("fails for good without %s, and says what to do", async (_, secrets) => {
    const { states } = await openSlack({ secrets });
    await expect
      .poll(() => states.at(-1))
      .toEqual({
        kind: "failed",
        reason: expect.stringMatching(/^invalid_auth: Slack does not know the token. Store/),
      });
  });

  test("ends when the token is revoked", async () => {
    const { server, states, send, whenConnected } = await openSlack();
    await whenConnected();
    const revoked = { body: { ok: false, error: "token_revoked" } };
    server.faults.set("chat.postMessage", [revoked]).set("auth.test", [revoked]);
    expect(await send("Hi")).toMatchObject({ kind: "refused" });
    await expect
      .poll(() => states.at(-1))
      .toMatchObject({ kind: "failed", reason: expect.stringMatching(/^token_revoked: .* Install the app again/) });
  });

  test.each(["warning", "refresh_requested"])(
    "is made again at once after %s, without losing a message",
    async (reason) => {
      const { server, states, messages, whenConnected } = await openSlack();
      await whenConnected();
      server.hearsAcknowledgement = () => false;
      const before = server.write("Before");
      await expect.poll(() => messages.length).toBe(1);
      server.hearsAcknowledgement = () => true;
      server.disconnect(reason);
      await before;
      await server.write("After");
      expect(states.map(({ kind }) => kind)).toEqual(["connecting", "connected", "connecting", "connected"]);
      expect(server.callsOf("auth.test")).toHaveLength(1);
    },
  );

  test("is made again after a pause when it is lost, and says why it waits", async () => {
    const { server, states, messages, whenConnected } = await openSlack();
    await whenConnected();
    server.disconnect();
    const written = server.write("Hello");
    await expect.poll(() => states.at(-1)).toEqual({ kind: "waiting", reason: expect.any(String), forMs: 1_000 });
    await written;
    expect(messages).toHaveLength(1);
    server.disconnect("link_disabled");
    await expect
      .poll(() => states.at(-1))
      .toEqual({ kind: "waiting", reason: expect.stringMatching(/^Socket mode is turned off/), forMs: 2_000 });
  });

  test("survives frames that are none, and an address where nobody answers", async () => {
    const { server, states, messages, whenConnected } = await openSlack();
    await whenConnected();
    const frames = [
      "null",
      "[]",
      "{",
      '{"type":"events_api","envelope_id":"1"}',
      '{"type":"close"}',
      '{"type":"ws_message"}',
    ];
    for (const frame of frames) server.sendFrame(frame);
    await server.write("Hello");
    expect(messages).toHaveLength(1);
    const body = { ok: true, url: "ws://127.0.0.1:1/link" };
    server.faults.set("apps.connections.open", [
      { body },
      { status: 500 },
      { status: 429, headers: { "retry-after": "4" } },
    ]);
    server.disconnect();
    await expect
      .poll(() => states.filter(({ kind }) => kind === "waiting").map((state) => "forMs" in state && state.forMs))
      .toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(JSON.stringify(states)).not.toContain(slackTokens.app);
  });

  test.each<[string, (server: SlackServer) => void, (server: SlackServer) => number]>([
    ["it is connected", () => {}, ({ connections }) => connections],
    ["Slack does not say hello", (server) => (server.saysHello = false), ({ connections }) => connections],
    [
      "Slack does not say where to connect",
      (server) => server.faults.set("apps.connections.open", ["hang"]),
      (server) => server.callsOf("apps.connections.open").length,
    ],
    [
      "Slack does not say who it is",
      (server) => server.faults.set("auth.test", ["hang"]),
      (server) => server.callsOf("auth.test").length,
    ],
  ])("ends without waiting for Slack while %s", async (_, prepare, count) => {
    const { server, close, states } = await openSlack({ prepare });
    await expect.poll(() => count(server)).toBe(1);
    await close();
    await expect.poll(() => server.openConnections).toBe(0);
    expect(states.map(({ kind }) => kind)).not.toContain("waiting");
  });
});

test("an account that has failed, or has another secret now, is opened again when the gateway reads its settings again", async () => {
  const server = new SlackServer();
  onTestFinished(() => server.close());
  const secrets: Record<string, string> = { token: "xoxb-wrong", app: slackTokens.app };
  const accounts = new ChannelAccounts({
    loadType: async () => ({ type: slackChannel }),
    getSecret: async (_, name) => secrets[name]!,
    openPosition: () => ({ read: async () => undefined, write: async () => {} }),
    clock: systemClock,
    counts: new ChannelCounts(),
    log: () => {},
  });
  onTestFinished(() => accounts.close());
  const wanted = { work: { type: "slack", baseUrl: await server.listen() } };
  const getState = () => accounts.list()[0]!.state.kind;
  await accounts.start(wanted, { onMessage: async () => {}, onPress: async () => {}, onOpen: () => {} });
  await expect.poll(getState).toBe("failed");
  secrets["token"] = slackTokens.bot;
  await accounts.apply(wanted);
  await expect.poll(getState).toBe("connected");
  await accounts.apply(wanted);
  expect([getState(), server.connections]).toEqual(["connected", 1]);
  secrets["app"] = "xapp-wrong";
  await accounts.apply(wanted);
  await expect.poll(getState).toBe("failed");
});

describe("by signed requests", () => {
  const openEvents = () => openSlack({ settings: { mode: "events" }, secrets: { app: slackTokens.signing } });

  test("takes events, presses and commands that Slack has signed now, and nothing else", async () => {
    const { server, channel, messages, presses, whenConnected } = await openEvents();
    await whenConnected();
    const event = server.createMessage("Hi");
    const post = (...args: Parameters<typeof createSlackRequest>) =>
      channel.receiveRequest!(createSlackRequest(...args));
    expect(await post(event, { secret: "another" })).toEqual({ status: 401 });
    expect(await post(event, { nowMs: Date.now() - 301_000 })).toEqual({ status: 401 });
    expect(await post(event, { nowMs: Date.now() + 301_000 })).toEqual({ status: 401 });
    const { headers, body } = createSlackRequest(event);
    expect(await channel.receiveRequest!({ headers, body: Buffer.concat([body, Buffer.from(" ")]) })).toEqual({
      status: 401,
    });
    expect(await channel.receiveRequest!({ headers: {}, body })).toEqual({ status: 401 });
    expect(messages).toEqual([]);
    const challenge = { type: "url_verification", challenge: "3eZbrw1aB" };
    expect(await post(challenge)).toEqual({ status: 200, body: { challenge: "3eZbrw1aB" } });
    expect(await post(event)).toEqual({ status: 200, body: {} });
    const payload = {
      type: "block_actions",
      user: { id: "U1", team_id: "T1" },
      channel: { id: "C1" },
      actions: [{ value: "/approve x no" }],
    };
    expect(await post(new URLSearchParams({ payload: JSON.stringify(payload) }))).toEqual({ status: 200, body: {} });
    const command = {
      command: "/tau",
      text: "status",
      user_id: "U1",
      team_id: "T1",
      channel_id: "D1",
      trigger_id: "1",
    };
    expect(await post(new URLSearchParams(command))).toEqual({ status: 200, body: {} });
    expect(await post(new URLSearchParams({ ssl_check: "1" }))).toEqual({ status: 200, body: {} });
    expect(messages.map(({ text }) => text)).toEqual(["Hi", "/status"]);
    expect(presses.map(({ value }) => value)).toEqual(["/approve x no"]);
    expect(server.connections).toBe(0);
  });

  test("is answered by a gateway at the address of the account, once however often Slack asks", async () => {
    const server = new SlackServer();
    onTestFinished(() => server.close());
    const baseUrl = await server.listen();
    const secrets: Record<string, string> = { token: slackTokens.bot, app: slackTokens.signing };
    const open = (options: ChannelOptions) =>
      slackChannel.open({ ...options, getSecret: async (name) => secrets[name]! });
    const { gateway, close } = await openTestGateway({
      model: scriptedModel([[text("Hello, Ann.")], [text("Twice!")]]),
      settings: {
        gateway: { queue: { debounceMs: 1 }, channels: { work: { type: "slack", mode: "events", baseUrl } } },
      },
      options: { channelTypes: { slack: async () => ({ ...slackChannel, open }) } },
    });
    onTestFinished(close);
    const address = `${gateway.url.replace(/^ws/, "http")}/channels/work`;
    const post = async (...args: Parameters<typeof createSlackRequest>) => {
      const { headers, body } = createSlackRequest(...args);
      const answer = await fetch(address, { method: "POST", headers, body: new Uint8Array(body) });
      return [answer.status, await answer.json()];
    };
    await expect.poll(() => post({ type: "url_verification", challenge: "abc" })).toEqual([200, { challenge: "abc" }]);
    expect((await post(server.createMessage("Hi"), { secret: "another" }))[0]).toBe(401);
    const { channels } = gateway.parts;
    const stranger = { id: "T1/U1", name: "Ann" };
    await channels.peers.pair((await channels.peers.offer("work", stranger, "m1"))!);
    const event = server.createMessage("Hi", { thread_ts: "1699.1" });
    await expect.poll(() => post(event)).toEqual([200, {}]);
    expect(await Promise.all([post(event), post(event)])).toEqual([
      [200, {}],
      [200, {}],
    ]);
    const command = {
      command: "/tau",
      text: "status",
      user_id: "U1",
      team_id: "T1",
      channel_id: "D1",
      trigger_id: "1",
    };
    expect(await post(new URLSearchParams(command))).toEqual([200, {}]);
    await expect.poll(() => server.posted.length).toBe(2);
    await expect
      .poll(() => server.posted.find((message) => message["thread_ts"] === "1699.1")?.["text"])
      .toBe("Hello, Ann.");
  });

  test("asks Slack to send again what was not kept", async () => {
    let failures = 1;
    const opened = await openSlack({
      settings: { mode: "events" },
      secrets: { app: slackTokens.signing },
      keep: async () => {
        if (failures-- > 0) throw new Error("The disk is full.");
      },
    });
    await opened.whenConnected();
    const request = createSlackRequest(opened.server.createMessage("Hi"));
    expect(await opened.channel.receiveRequest!(request)).toEqual({ status: 503 });
    expect(await opened.channel.receiveRequest!(request)).toEqual({ status: 200, body: {} });
    expect(opened.messages).toHaveLength(1);
    await opened.close();
    expect(await opened.channel.receiveRequest!(request)).toEqual({ status: 503 });
  });

  test("has no address in socket mode", async () => {
    const { server, channel } = await openSlack({ secrets: { app: slackTokens.app } });
    const request = createSlackRequest(server.createMessage("Hi"), { secret: slackTokens.app });
    expect(await channel.receiveRequest!(request)).toEqual({ status: 404 });
  });
});

test.each([
  ["https://files.slack.com/files-pri/T1-F1/a.csv", undefined, true],
  ["https://files.slack.com.evil.example/a", undefined, false],
  ["https://files.slack.com@evil.example/a", undefined, false],
  ["https://user@files.slack.com/a", undefined, false],
  ["http://files.slack.com/a", undefined, false],
  ["https://files.slack.com:8443/a", undefined, false],
  ["https://evil.example/a", "http://127.0.0.1:80/slack", false],
  ["http://127.0.0.1/a", "http://127.0.0.1:80/slack", true],
  ["http://127.0.0.1:81/a", "http://127.0.0.1:80/slack", false],
  ["", undefined, false],
])("the file at %j, with the base address %j, may be loaded: %j", (url, baseUrl, isAllowed) => {
  expect(isSlackFileUrl(url, baseUrl)).toBe(isAllowed);
});
