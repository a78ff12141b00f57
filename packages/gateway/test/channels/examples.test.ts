/** The programs below `examples/channels`, as the gateway runs them, against small servers. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage as HttpRequest } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { systemClock } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import type { IncomingMessage } from "@tau/extensions";
import { stdioChannel } from "../../src/channels/stdio/stdio-channel.ts";

const programs = join(import.meta.dirname, "../../../../examples/channels");

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tau-examples-"));
  onTestFinished(async () => await rm(directory, { recursive: true, force: true }));
  return directory;
}

interface ExampleOptions {
  readonly directory: string;
  readonly settings: Record<string, unknown>;
  readonly onMessage?: (message: IncomingMessage) => Promise<void>;
  readonly mode?: number;
}

/** Runs an example as a channel, until `close` or the end of the test. */
async function openExample(name: string, { directory, settings, onMessage, mode = 0o600 }: ExampleOptions) {
  const path = join(directory, "settings.json");
  await writeFile(path, JSON.stringify(settings));
  await chmod(path, mode);
  const [messages, logged, states]: [IncomingMessage[], string[], string[]] = [[], [], []];
  const channel = await stdioChannel.open({
    accountId: "club",
    settings: { command: process.execPath, args: [join(programs, name), path] },
    getSecret: async () => "",
    clock: systemClock,
    log: (line) => void logged.push(line),
  });
  const closing = new AbortController();
  const running = channel.run(
    {
      onMessage: async (message) => {
        await onMessage?.(message);
        messages.push(message);
      },
      onPress: async () => {},
      onState: (state) => void states.push(state.kind),
    },
    closing.signal,
  );
  const close = async () => {
    closing.abort();
    await running;
  };
  onTestFinished(close);
  await expect.poll(() => states).toContain("connected");
  return { channel, messages, logged, close };
}

async function listen(server: Server | ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function readBody(request: HttpRequest): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  return body;
}

interface JsonRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: Record<string, unknown>;
}

/** A server that answers with a status and JSON. Undefined: the connection is cut, and null: it stays open. */
async function serveJson(answer: (request: JsonRequest) => readonly [number, unknown] | undefined | null) {
  const server = createServer(async (request, response) => {
    const text = await readBody(request);
    const url = new URL(request.url!, "http://localhost");
    const result = answer({ method: request.method!, url, body: text === "" ? {} : JSON.parse(text) });
    if (result === undefined) request.socket.destroy();
    else if (result !== null) response.writeHead(result[0]).end(JSON.stringify(result[1]));
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

test("a file of settings that others may read is not used", async () => {
  for (const name of ["matrix.mjs", "whatsapp.mjs", "email.mjs"]) {
    const { logged, close } = await openExample(name, { directory: await makeDirectory(), settings: {}, mode: 0o644 });
    await expect.poll(() => logged.join("\n")).toContain("Others may read");
    await close();
  }
});

const bot = "@tau:example.org";
const text = (id: string, content: Record<string, unknown>, sender = "@ann:example.org") => ({
  type: "m.room.message",
  event_id: id,
  sender,
  content: { msgtype: "m.text", ...content },
});

/** A homeserver with a group `!g` and a conversation of two `!d`. `syncs` are its answers by token. */
async function openHomeserver(syncs: Record<string, unknown>) {
  const got: string[] = [];
  const sent = new Map<string, Record<string, unknown>>();
  const cuts = { left: 0 };
  const homeserver = await serveJson(({ method, url: { pathname, searchParams }, body }) => {
    const path = decodeURIComponent(pathname.replace("/_matrix/client/v3", ""));
    got.push(`${method} ${path} ${searchParams.get("since") ?? ""}`.trim());
    if (path === "/account/whoami") return [200, { user_id: bot }];
    if (path === "/sync") {
      const sync = syncs[searchParams.get("since") ?? ""];
      return sync === undefined ? null : [200, sync];
    }
    if (path.startsWith("/join/")) return [200, {}];
    if (path.endsWith("/joined_members")) {
      const members = path.includes("!d") ? ["a", "b"] : ["a", "b", "c"];
      return [200, { joined: Object.fromEntries(members.map((name) => [name, {}])) }];
    }
    if (path.endsWith("/messages"))
      return [200, { chunk: [text("$old2", { body: "2" }), text("$old1", { body: "1" })] }];
    if (path.startsWith("/rooms/!gone")) return [403, { error: "Not in the room." }];
    if (path.startsWith("/rooms/!busy")) return [429, { error: "Slow down.", retry_after_ms: 7 }];
    sent.set(path, body);
    return cuts.left-- > 0 ? undefined : [200, { event_id: `$sent${sent.size}` }];
  });
  return { homeserver, got, sent, cuts };
}

test("matrix: invitations of those who are named, mentions, threads, and a token kept over a kill", async () => {
  const invite = (sender: string) => ({
    invite_state: { events: [{ type: "m.room.member", state_key: bot, sender }] },
  });
  const relation = { rel_type: "m.thread", event_id: "$root" };
  const syncs: Record<string, unknown> = {
    "": { next_batch: "s1", rooms: { join: { "!g": { timeline: { events: [text("$before", { body: "old" })] } } } } },
    s1: {
      next_batch: "s2",
      rooms: {
        invite: { "!yes": invite("@ann:example.org"), "!no": invite("@eve:example.org") },
        join: {
          "!g": {
            timeline: {
              limited: true,
              prev_batch: "p1",
              events: [
                text("$1", { body: "Hello", "m.mentions": { user_ids: [bot] } }),
                text("$2", { body: "> <@b> x\n\nIn a thread", "m.relates_to": { ...relation, "m.in_reply_to": {} } }),
                text("$edit", { body: "edit", "m.relates_to": { rel_type: "m.replace", event_id: "$1" } }),
                text("$own", { body: "mine" }, bot),
                text("$notice", { body: "a bot", msgtype: "m.notice" }),
                text("$hostile", { body: "x", "m.relates_to": null, "m.mentions": { user_ids: 5 } }),
                text("$broken", { body: 5 }),
              ],
            },
          },
          "!d": { timeline: { events: [text("$3", { body: "Only us" })] } },
        },
      },
    },
  };
  const { homeserver, got } = await openHomeserver(syncs);
  const directory = await makeDirectory();
  const settings = { homeserver, accessToken: "t", acceptInvitesFrom: ["@ann:example.org"] };
  const { messages, close } = await openExample("matrix.mjs", { directory, settings });
  await expect.poll(() => got).toContain("GET /sync s2");
  const shown = messages.map(({ id, peer, isMentioned, text: content }) => [id, peer?.kind, isMentioned, content]);
  expect(shown.toSorted()).toEqual([
    ["$1", "group", true, "Hello"],
    ["$2", "thread", false, "In a thread"],
    ["$3", "direct", false, "Only us"],
    ["$hostile", "group", false, "x"],
    ["$old1", "group", false, "1"],
    ["$old2", "group", false, "2"],
  ]);
  expect(messages.find(({ id }) => id === "$2")).toMatchObject({
    address: { channelId: "!g", threadId: "$root" },
    parentPeer: { kind: "group", id: "!g" },
  });
  expect(got.filter((line) => line.includes("/join/"))).toEqual(["POST /join/!yes"]);
  await close();

  got.length = 0;
  await openExample("matrix.mjs", { directory, settings });
  await expect.poll(() => got).toEqual(["GET /account/whoami", "GET /sync s2"]);
});

test("matrix: a message that tau could not keep comes again, and the token waits for it", async () => {
  const timeline = { events: [text("$1", { body: "Hello" })] };
  const { homeserver, got } = await openHomeserver({
    s1: { next_batch: "s2", rooms: { join: { "!d": { timeline } } } },
  });
  const directory = await makeDirectory();
  await writeFile(join(directory, "since"), "s1");
  const settings = { homeserver, accessToken: "t", stateFile: join(directory, "since") };
  let keptFirst = "";
  const onMessage = async () => {
    if (keptFirst !== "") return;
    keptFirst = await readFile(join(directory, "since"), "utf8");
    throw new Error("The disk is full.");
  };
  const { messages } = await openExample("matrix.mjs", { directory, settings, onMessage });
  await expect.poll(() => got).toContain("GET /sync s2");
  expect(keptFirst).toBe("s1");
  expect(messages.map(({ id }) => id)).toEqual(["$1"]);
});

test("matrix: a repeated request is one message, and answers say what became of it", async () => {
  const { homeserver, got, sent, cuts } = await openHomeserver({ "": { next_batch: "s1" } });
  const settings = { homeserver, accessToken: "t" };
  const { channel } = await openExample("matrix.mjs", { directory: await makeDirectory(), settings });
  await expect.poll(() => got).toContain("GET /sync s1");
  cuts.left = 2;
  const address = { channelId: "!g", threadId: "$root" };
  const send = (channelId: string) => channel.send({ address: { channelId }, text: "Hi", nonce: channelId });
  const reply = { address, text: "Hi @ann", replyTo: "$1", nonce: "0/1/2" };
  expect(await channel.send(reply)).toEqual({ kind: "sent", messageId: "$sent1" });
  expect(got.filter((line) => line.includes("/send/"))).toHaveLength(3);
  expect(await channel.send(reply)).toEqual({ kind: "sent", messageId: "$sent1" });
  expect([...sent.values()]).toEqual([
    {
      msgtype: "m.notice",
      body: "Hi @ann",
      "m.mentions": {},
      "m.relates_to": {
        rel_type: "m.thread",
        event_id: "$root",
        is_falling_back: false,
        "m.in_reply_to": { event_id: "$1" },
      },
    },
  ]);
  expect(await send("!gone")).toEqual({ kind: "refused", reason: "Not in the room." });
  expect(await send("!busy")).toEqual({ kind: "not_sent", reason: "Slow down.", retryAfterMs: 7 });
  cuts.left = 3;
  expect(await send("!lost")).toMatchObject({ kind: "unknown" });
  expect(await channel.react!({ channelId: "!g" }, "$1", "👀")).toMatchObject({ kind: "sent" });
});

test("whatsapp: only Meta's signed requests are taken, and repeated by it until tau has them", async () => {
  const directory = await makeDirectory();
  const settings = { phoneNumberId: "106", accessToken: "t", appSecret: "secret", verifyToken: "mine", port: 0 };
  let isFull = true;
  const onMessage = async () => {
    if (isFull) throw new Error("The disk is full.");
  };
  const { messages, logged } = await openExample("whatsapp.mjs", { directory, settings, onMessage });
  await expect.poll(() => logged.join("\n")).toMatch(/Listening at /);
  const url = `http://${/Listening at (\S+)\./.exec(logged.join("\n"))![1]}/`;
  const verify = async (token: string) => {
    const query = new URLSearchParams({ "hub.mode": "subscribe", "hub.verify_token": token, "hub.challenge": "42" });
    const response = await fetch(`${url}?${query}`);
    return [response.status, await response.text()];
  };
  expect([await verify("mine"), await verify("guessed")]).toEqual([
    [200, "42"],
    [403, ""],
  ]);
  const post = async (value: unknown, secret = "secret") => {
    const body = JSON.stringify({ entry: [{ changes: [{ field: "messages", value }] }] });
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    return (await fetch(url, { method: "POST", body, headers: { "x-hub-signature-256": signature } })).status;
  };
  const value = (phone: string) => ({
    metadata: { phone_number_id: phone },
    contacts: [{ wa_id: "4915", profile: { name: "Ann" } }],
    messages: [
      { id: "wamid.1", from: "4915", type: "text", text: { body: "Hello" } },
      { id: "wamid.2", from: "4915", type: "image", image: { caption: "A cat" } },
      { id: "wamid.3", from: "4915", type: "reaction", reaction: {} },
    ],
  });
  expect(await post(value("106"), "guessed")).toBe(401);
  expect(await post(value("106"))).toBe(503);
  isFull = false;
  expect(await post(value("another"))).toBe(200);
  expect(messages).toEqual([]);
  expect(await post(value("106"))).toBe(200);
  expect(messages.map(({ id, sender, text: content }) => [id, sender.name, content])).toEqual([
    ["wamid.1", "Ann", "Hello"],
    ["wamid.2", "Ann", "A cat"],
  ]);
});

test("whatsapp: what the API answers decides, and a status decides if the answer was lost", async () => {
  const bodies: Record<string, unknown>[] = [];
  let hook = "";
  let notified: Promise<Response> | undefined;
  const graphUrl = await serveJson(({ body }) => {
    bodies.push(body);
    if (body["to"] === "blocked") return [400, { error: { code: 131047, message: "More than 24 hours." } }];
    if (body["to"] === "busy") return [400, { error: { code: 130429, message: "Rate limit." } }];
    if (body["to"] !== "lost") return [200, { messages: [{ id: "wamid.9" }] }];
    const status = { id: "wamid.8", status: "delivered", biz_opaque_callback_data: body["biz_opaque_callback_data"] };
    const value = { metadata: { phone_number_id: "106" }, statuses: [status] };
    const notification = JSON.stringify({ entry: [{ changes: [{ field: "messages", value }] }] });
    const signature = `sha256=${createHmac("sha256", "secret").update(notification).digest("hex")}`;
    notified = fetch(hook, { method: "POST", body: notification, headers: { "x-hub-signature-256": signature } });
    return undefined;
  });
  const settings = { phoneNumberId: "106", accessToken: "t", appSecret: "secret", verifyToken: "v", port: 0, graphUrl };
  const { channel, logged } = await openExample("whatsapp.mjs", { directory: await makeDirectory(), settings });
  await expect.poll(() => logged.join("\n")).toMatch(/Listening at /);
  hook = `http://${/Listening at (\S+)\./.exec(logged.join("\n"))![1]}/`;
  const send = (channelId: string) =>
    channel.send({ address: { channelId }, text: "Hi", replyTo: "w", nonce: channelId });
  expect(await send("4915")).toEqual({ kind: "sent", messageId: "wamid.9" });
  expect(bodies[0]).toEqual({
    messaging_product: "whatsapp",
    to: "4915",
    biz_opaque_callback_data: "4915",
    type: "text",
    text: { body: "Hi", preview_url: false },
    context: { message_id: "w" },
  });
  expect(await send("blocked")).toEqual({ kind: "refused", reason: "More than 24 hours." });
  expect(await send("busy")).toMatchObject({ kind: "not_sent", retryAfterMs: 60_000 });
  expect(await send("lost")).toEqual({ kind: "sent", messageId: "wamid.8" });
  expect((await notified)?.status).toBe(200);
});

const proved = "mx.example.org; spf=pass; dmarc=pass (p=none) header.from=example.net";
const mail = (headers: Record<string, string>, body = "Hello") => {
  const all = {
    "Authentication-Results": proved,
    From: "Ann <ann@example.net>",
    "Message-ID": "<1@example.net>",
    ...headers,
  };
  return [...Object.entries(all).map(([name, value]) => `${name}: ${value}`), "", body, ""].join("\n");
};

async function openMaildir(mails: readonly string[]) {
  const directory = await makeDirectory();
  const maildir = join(directory, "Maildir");
  for (const name of ["new", "cur", "tmp"]) await mkdir(join(maildir, name), { recursive: true });
  for (const [index, source] of mails.entries()) await writeFile(join(maildir, "new", `${100 + index}.host`), source);
  const settings = { address: "tau@example.org", maildir, authServer: "mx.example.org", pollMs: 20 };
  return { directory, maildir, settings };
}

test("email: what programs, lists and unproved senders write is never answered", async () => {
  const ignored: Record<string, string>[] = [
    { "Auto-Submitted": "auto-replied" },
    { Precedence: "bulk" },
    { "List-Id": "<club.example.net>" },
    { "Return-Path": "<>" },
    { "Content-Type": "multipart/report; boundary=x" },
    { From: "MAILER-DAEMON@example.net" },
    { From: "tau@example.org" },
    { From: "nobody" },
    { From: "ann@example.net\nFrom: eve@example.com" },
    { From: "ann@example.com" },
    { "Authentication-Results": "mx.example.org; dmarc=fail header.from=example.net" },
    {
      "Authentication-Results": 'mx.example.org; spf=fail smtp.mailfrom="; dmarc=pass header.from=example.net;"@e.com',
    },
    {
      "Authentication-Results": `mx.example.com; dmarc=pass header.from=example.net\nAuthentication-Results: ${proved}`,
    },
  ];
  const { directory, maildir, settings } = await openMaildir([...ignored.map((headers) => mail(headers)), mail({})]);
  const { messages } = await openExample("email.mjs", { directory, settings });
  await expect.poll(async () => (await readdir(join(maildir, "cur"))).length).toBe(ignored.length + 1);
  expect(messages.map(({ id, sender }) => [id, sender])).toEqual([
    ["<1@example.net>", { id: "ann@example.net", name: "Ann" }],
  ]);
});

test("email: texts are decoded, and a message stays new until tau has it", async () => {
  const parts = [
    "--b\nContent-Type: text/html\n\n<p>No</p>",
    "--b\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=\n=DFe",
    "--b--",
  ];
  const { directory, maildir, settings } = await openMaildir([
    mail({ "Message-ID": "<a@x>", "Content-Type": 'multipart/alternative; boundary="b"' }, parts.join("\n")),
    mail({ "Message-ID": "<b@x>", "Content-Transfer-Encoding": "base64" }, Buffer.from("Zürich").toString("base64")),
    mail(
      { "Message-ID": "<c@x>", From: "=?UTF-8?Q?J=C3=B6rg?= <j@example.net>", "Content-Type": "text/html" },
      "<b>Hi</b>",
    ),
  ]);
  let newAtFirst = 0;
  const onMessage = async () => {
    if (newAtFirst > 0) return;
    newAtFirst = (await readdir(join(maildir, "new"))).length;
    throw new Error("The disk is full.");
  };
  const { messages } = await openExample("email.mjs", { directory, settings, onMessage });
  await expect.poll(async () => (await readdir(join(maildir, "new"))).length).toBe(0);
  expect(newAtFirst).toBe(3);
  const shown = messages.map(({ sender, text: content }) => [sender.name, content]);
  expect(shown.toSorted()).toEqual([
    ["Ann", "Grüße"],
    ["Ann", "Zürich"],
    ["Jörg", "Hi"],
  ]);
});

/** A server of mail. It is encrypted after STARTTLS if it has a certificate. `lines` is what it was sent. */
async function openMailServer(tls?: { readonly cert: Buffer; readonly key: Buffer }) {
  const [lines, sources]: [string[], string[]] = [[], []];
  const serve = (socket: Socket, greeting: string) => {
    let [left, to, isData] = ["", "", false];
    const answer = (line: string): string | undefined => {
      lines.push(`${socket instanceof TLSSocket ? "tls " : ""}${line}`);
      if (line.startsWith("EHLO")) return "250-mail.example.org\r\n250-PIPELINING\r\n250 HELP";
      if (line === "STARTTLS") return tls ? "220 Go ahead" : "502 Not implemented";
      if (line.startsWith("AUTH")) return line.endsWith("AHRhdQBwdw==") ? "235 Welcome" : "535 Wrong";
      if (line.startsWith("RCPT")) to = /<(\w+)@/.exec(line)![1]!;
      if (line === "QUIT") return "221 Bye";
      isData = line === "DATA";
      return isData ? "354 Go ahead" : to === "gone" ? "550 Nobody here" : to === "later" ? "451 Later" : "250 Fine";
    };
    const take = (chunk: Buffer) => {
      left += chunk;
      for (let end; (end = left.indexOf(isData ? "\r\n.\r\n" : "\r\n")) >= 0;) {
        const part = left.slice(0, end);
        left = left.slice(end + (isData ? 5 : 2));
        if (isData) {
          isData = false;
          if (to === "lost") return socket.destroy();
          sources.push(part);
          socket.write("250 Queued\r\n");
          continue;
        }
        socket.write(`${answer(part)}\r\n`);
        if (part === "STARTTLS" && tls) {
          socket.removeAllListeners("data");
          return serve(new TLSSocket(socket, { isServer: true, ...tls }), "");
        }
      }
    };
    socket.on("error", () => {});
    socket.on("data", take);
    if (greeting !== "") socket.write(greeting);
  };
  const port = await listen(createTcpServer((socket) => serve(socket, "220-mail\r\n220 ready\r\n")));
  return { lines, sources, port };
}

test("email: replies are of their conversation, and the server's codes decide what came of them", async () => {
  const first = mail({ Subject: "=?utf-8?q?Gr=C3=BC=C3=9Fe?=", References: "<root@x> <mid@x>" });
  const { directory, settings } = await openMaildir([first]);
  const { sources, port } = await openMailServer();
  const smtp = { host: "127.0.0.1", port, startTls: false };
  const { channel, messages } = await openExample("email.mjs", { directory, settings: { ...settings, smtp } });
  await expect.poll(() => messages).toHaveLength(1);
  const { address } = messages[0]!;
  expect(address).toEqual({ channelId: "ann@example.net", threadId: "<root@x>" });
  const sent = await channel.send({ address, text: ".\nÄ reply", nonce: "0/1" });
  expect(sent).toEqual({ kind: "sent", messageId: expect.stringMatching(/^<\w{32}@example\.org>$/) });
  const [head, body] = sources[0]!.split("\r\n\r\n");
  expect(Buffer.from(body!, "base64").toString()).toBe(".\nÄ reply");
  const fields = head!.replaceAll("\r\n ", " ").split("\r\n");
  expect(fields).toEqual(
    expect.arrayContaining([
      "To: ann@example.net",
      "In-Reply-To: <1@example.net>",
      "References: <root@x> <mid@x> <1@example.net>",
      "Auto-Submitted: auto-replied",
      `Message-ID: ${(sent as { messageId: string }).messageId}`,
      `Subject: =?UTF-8?B?${Buffer.from("Re: Grüße").toString("base64")}?=`,
    ]),
  );
  const send = async (name: string) =>
    (await channel.send({ address: { channelId: `${name}@example.net` }, text: "Hi", nonce: name })).kind;
  expect([await send("gone"), await send("later"), await send("lost")]).toEqual(["refused", "not_sent", "unknown"]);
});

test("email: a password is sent after STARTTLS only", async ({ skip }) => {
  if (spawnSync("openssl", ["version"]).status !== 0) skip("openssl is not installed, which makes the certificate.");
  const { directory, settings } = await openMaildir([]);
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", [...args, "-keyout", key, "-out", cert, ...names], { stdio: "ignore" });
  const servers = {
    proved: await openMailServer({ cert: readFileSync(cert), key: readFileSync(key) }),
    plain: await openMailServer(),
  };
  const send = async (name: keyof typeof servers, others: Record<string, unknown>) => {
    const smtp = { host: "127.0.0.1", port: servers[name].port, user: "tau", password: "pw", ...others };
    const { channel, close } = await openExample("email.mjs", { directory, settings: { ...settings, smtp } });
    const delivery = await channel.send({ address: { channelId: "ann@example.net" }, text: "Hi", nonce: "1" });
    await close();
    return "reason" in delivery ? [delivery.kind, delivery.reason] : [delivery.kind];
  };
  expect(await send("plain", { caFile: cert })).toEqual(["not_sent", "502 Not implemented"]);
  expect(await send("proved", {})).toEqual(["not_sent", expect.stringContaining("certificate")]);
  expect([...servers.plain.lines, ...servers.proved.lines].join("\n")).not.toContain("AUTH");
  expect(await send("proved", { caFile: cert, password: "other" })).toEqual(["not_sent", "535 Wrong"]);
  expect(await send("proved", { caFile: cert })).toEqual(["sent"]);
  expect(servers.proved.lines).toContain("tls AUTH PLAIN AHRhdQBwdw==");
});

test("email: a program sends, and its code says whether to try again", async () => {
  const { directory, settings } = await openMaildir([]);
  const program = join(directory, "sendmail.mjs");
  const source = `
    import { writeFileSync } from "node:fs";
    let text = "";
    for await (const chunk of process.stdin) text += chunk;
    writeFileSync(${JSON.stringify(join(directory, "sent"))}, process.argv.slice(2).join(" ") + "\\n" + text);
    process.exitCode = { later: 75, gone: 67 }[process.argv.at(-1).split("@")[0]] ?? 0;
  `;
  await writeFile(program, source);
  const sendmail = [process.execPath, program];
  const { channel } = await openExample("email.mjs", { directory, settings: { ...settings, sendmail } });
  const send = async (name: string) =>
    (await channel.send({ address: { channelId: `${name}@example.net` }, text: "Hi", nonce: name })).kind;
  expect([await send("later"), await send("gone"), await send("ann")]).toEqual(["not_sent", "refused", "sent"]);
  expect(await readFile(join(directory, "sent"), "utf8")).toMatch(
    /^-i -f tau@example\.org -- ann@example\.net\nFrom: tau@example\.org\n[^]*\n\nSGk=\n$/,
  );
});
