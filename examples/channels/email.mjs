/**
 * A mailbox as a channel of type `stdio`: reads the new messages of a Maildir, and sends by SMTP or a `sendmail` program.
 *
 *     "mail": { "type": "stdio", "command": "node", "args": ["/home/ann/email.mjs", "/home/ann/email.json"] }
 *
 * email.json, which nobody else may read (`chmod 600`):
 *
 *     { "address": "tau@example.org", "maildir": "/home/ann/Maildir", "authServer": "mx.example.org",
 *       "smtp": { "host": "mail.example.org", "port": 587, "user": "tau", "password": "…" } }
 *
 * Anybody can write any sender. Only messages are taken whose first `Authentication-Results` is of `authServer`, the
 * server that receives your mail, and says `dmarc=pass`. Port 465 is TLS from the start; all others need STARTTLS, unless
 * `"startTls": false`. Without `smtp`, `sendmail` is the program with its arguments.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect, isIP } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";

const settingsPath = process.argv[2] ?? "email.json";
if (statSync(settingsPath).mode & 0o077) throw new Error(`Others may read ${settingsPath}: chmod 600 ${settingsPath}`);
const settings = JSON.parse(readFileSync(settingsPath, "utf8"));
const { address: ownAddress, maildir, authServer, smtp, sendmail = ["/usr/sbin/sendmail"], pollMs = 5_000 } = settings;
const threadsFile = settings.threadsFile ?? `${settingsPath}.threads`;
if (!ownAddress || !maildir || !authServer)
  throw new Error(`address, maildir and authServer belong into ${settingsPath}.`);

const log = (line) => void process.stderr.write(`${line}\n`);
const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

// Reading. Bytes are read as Latin-1, so that each part is decoded with its own character set.
const decode = (bytes, charset) => {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString("latin1"); // No character set has this name.
  }
};
const fromQuoted = (text) =>
  Buffer.from(
    text.replace(/[ \t]*=\r?\n/g, "").replace(/=([\da-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
    "latin1",
  );
const decodeWords = (text) =>
  text
    .replace(/(\?=)\s+(?==\?)/g, "$1")
    .replace(/=\?([^?*]+)[^?]*\?([bq])\?([^?]*)\?=/gi, (_, charset, kind, word) =>
      decode(/b/i.test(kind) ? Buffer.from(word, "base64") : fromQuoted(word.replaceAll("_", " ")), charset),
    );

function parsePart(source) {
  const [head, ...body] = source.split(/\r?\n\r?\n/);
  const lines = head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  const headers = lines.map((line) => [line.split(":", 1)[0].toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]);
  const getAll = (name) => headers.filter(([key]) => key === name).map(([, value]) => value);
  return { getAll, get: (name) => getAll(name)[0] ?? "", body: body.join("\n\n") };
}

/** The first plain text of a message; without one, the first HTML without its tags. */
function readText({ get, body }, depth = 0) {
  const type = get("content-type") || "text/plain";
  const parameter = (name) => new RegExp(`;\\s*${name}="?([^";]+)`, "i").exec(type)?.[1];
  if (/^multipart\//i.test(type) && depth < 10) {
    const parts = body
      .split(`--${parameter("boundary")}`)
      .slice(1)
      .map((part) => parsePart(part.replace(/^\s*?\n/, "")));
    const isHtml = (part) => /^text\/html/i.test(part.get("content-type"));
    const sorted = [...parts.filter((part) => !isHtml(part)), ...parts.filter(isHtml)];
    return sorted.map((part) => readText(part, depth + 1)).find((text) => text) ?? "";
  }
  if (!/^text\//i.test(type) || /^attachment/i.test(get("content-disposition"))) return "";
  const encoding = get("content-transfer-encoding").toLowerCase();
  const bytes =
    encoding === "quoted-printable" ? fromQuoted(body) : Buffer.from(body, encoding === "base64" ? "base64" : "latin1");
  const text = decode(bytes, parameter("charset") ?? "utf-8");
  return (
    /^text\/html/i.test(type) ? text.slice(0, 50_000).replace(/<(style|script)[^]*?<\/\1>|<[^>]*>/gi, "") : text
  ).trim();
}

/** Why nobody answers a message: an answer to a program or a list may be answered, and so on without end. */
function findReasonToIgnore({ getAll, get }, sender) {
  // Quoted texts and comments are of the sender.
  const [server, ...results] = get("authentication-results")
    .replace(/"(?:[^"\\]|\\.)*"|\([^()]*\)/g, "")
    .split(";");
  if (!/^(no)?$/i.test(get("auto-submitted"))) return "it was sent by a program";
  if (/^(bulk|junk|list|auto_reply)$/i.test(get("precedence"))) return `its precedence is ${get("precedence")}`;
  if (get("list-id") || get("list-unsubscribe")) return "it is of a mailing list";
  if (get("return-path") === "<>" || /^multipart\/report/i.test(get("content-type"))) return "it reports a delivery";
  if (!sender || getAll("from").length !== 1) return "it has no single sender";
  if (/^(mailer-daemon|postmaster|no-?reply)@/.test(sender) || sender === ownAddress.toLowerCase())
    return "nobody reads answers to it";
  if (server.trim().split(/\s/)[0] !== authServer) return `its first Authentication-Results is not of ${authServer}`;
  const domains = results.map((result) =>
    /^\s*dmarc=pass\s(?:.*\s)?header\.from=(\S+)/i.exec(result)?.[1].toLowerCase(),
  );
  return domains.includes(sender.split("@")[1]) ? undefined : "its sender is not proved";
}

/** Subjects and references of conversations, by a person and the id of the first message: others may name any id. */
const threads = new Map(existsSync(threadsFile) ? JSON.parse(readFileSync(threadsFile, "utf8")) : []);
function keepThread(root, thread) {
  threads.delete(root);
  threads.set(root, thread);
  writeFileSync(`${threadsFile}.new`, JSON.stringify([...threads].slice(-1_000)), { mode: 0o600 });
  renameSync(`${threadsFile}.new`, threadsFile);
}

function toMessage(source, fileName) {
  const mail = parsePart(source);
  const from = /^(?:(.*)<([^<>]*)>|([^<>]*))$/.exec(mail.get("from")) ?? [];
  const address = (from[2] ?? from[3] ?? "").trim().toLowerCase();
  const sender = /^[^\s<>()",:;@\\]+@[\w.-]+$/.test(address) ? address : undefined;
  const reason = findReasonToIgnore(mail, sender);
  if (reason) return log(`${fileName} is not answered: ${reason}.`);
  const getIds = (header) => mail.get(header).match(/<[^<>\s]+>/g) ?? [];
  const [id = `<${createHash("sha256").update(source).digest("hex")}@unnamed>`] = getIds("message-id");
  const earlier = getIds("references").length > 0 ? getIds("references") : getIds("in-reply-to");
  const root = earlier[0] ?? id;
  const subject = decodeWords(mail.get("subject")).replace(/\s+/g, " ");
  keepThread(`${sender} ${root}`, { subject, references: [...earlier.slice(-20), id] });
  const text = readText(mail).slice(0, 100_000) || subject;
  const name = decodeWords(from[1] ?? "").replace(/["\s]+/g, " ");
  const person = { id: sender, name: name.trim() || sender };
  return { type: "message", id, address: { channelId: sender, threadId: root }, sender: person, text };
}

/** A message that cannot be read does not keep the others from being read. */
function tryToMessage(source, name) {
  try {
    return toMessage(source, name);
  } catch (error) {
    return log(`${name} cannot be read: ${error.message}`);
  }
}

const unconfirmed = new Map();
async function receive() {
  for (; ; await sleep(pollMs)) {
    for (const name of readdirSync(join(maildir, "new")).toSorted()) {
      const message = tryToMessage(readFileSync(join(maildir, "new", name), "latin1"), name);
      const confirmed = message && new Promise((resolve) => unconfirmed.set(message.id, resolve));
      if (message) write(message);
      // It stays new, and is read again, until tau has it on its disk.
      if (!message || (await confirmed) === "received") {
        renameSync(join(maildir, "new", name), join(maildir, "cur", `${name}:2,S`));
      }
    }
  }
}

// Sending.
const encodeWords = (text) =>
  /^[ -~]*$/.test(text)
    ? text
    : (text.match(/.{1,10}/gu) ?? [])
        .map((part) => `=?UTF-8?B?${Buffer.from(part).toString("base64")}?=`)
        .join("\r\n ");

function compose({ id, address: { channelId, threadId }, text, replyTo }) {
  const { subject = "", references = [] } = threads.get(`${channelId} ${threadId}`) ?? {};
  const answered = replyTo ?? references.at(-1) ?? threadId;
  const ids = [...new Set([threadId, ...references, answered])].filter(Boolean);
  const messageId = `<${createHash("sha256").update(id).digest("hex").slice(0, 32)}@${ownAddress.split("@")[1]}>`;
  const lines = [
    `From: ${ownAddress}`,
    `To: ${channelId}`,
    `Subject: ${encodeWords(/^re:/i.test(subject) ? subject : `Re: ${subject}`)}`,
    `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: ${messageId}`,
    ...(answered ? [`In-Reply-To: ${answered}`, `References: ${ids.join("\r\n ")}`] : []),
    "Auto-Submitted: auto-replied",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
    "",
    ...(Buffer.from(text)
      .toString("base64")
      .match(/.{1,76}/g) ?? []),
  ];
  return { messageId, source: `${lines.join("\r\n")}\r\n` };
}

async function* readReplies(socket) {
  let text = "";
  for await (const chunk of socket) {
    text += chunk;
    for (let reply; (reply = /^(?:\d{3}-.*\r?\n)*\d{3}(?: .*)?\r?\n/.exec(text)?.[0]); text = text.slice(reply.length))
      yield reply;
  }
}

/** Rejects with the `code` of a reply that ends it. If the connection breaks after the whole message, `isUncertain`. */
async function sendBySmtp(to, source) {
  const { host, port = 587, user, password, startTls = true, caFile } = smtp;
  const tls = { ...(!isIP(host) && { servername: host }), ...(caFile && { ca: readFileSync(caFile) }) };
  let socket = port === 465 ? connectTls({ host, port, ...tls }) : connect({ host, port });
  let replies = readReplies(socket);
  const timer = setTimeout(() => socket.destroy(new Error("The server does not answer.")), 25_000);
  const say = async (line, code) => {
    if (line) socket.write(`${line}\r\n`);
    const { value = "421 The connection was closed." } = await replies.next();
    const actual = Number(value.slice(0, 3));
    if (actual !== code) throw Object.assign(new Error(value.trim()), { code: actual });
  };
  const hello = `EHLO ${ownAddress.split("@")[1]}`;
  try {
    await say(undefined, 220);
    await say(hello, 250);
    if (startTls && port !== 465) {
      await say("STARTTLS", 220);
      // What came before it is forgotten: nobody has signed it.
      socket = connectTls({ socket, host, ...tls });
      replies = readReplies(socket);
      await say(hello, 250);
    }
    if (user) await say(`AUTH PLAIN ${Buffer.from(`\0${user}\0${password}`).toString("base64")}`, 235);
    await say(`MAIL FROM:<${ownAddress}>`, 250);
    await say(`RCPT TO:<${to}>`, 250);
    await say("DATA", 354);
    // The lines of a text in Base64 never begin with a dot.
    await say(`${source}.`, 250).catch((error) => {
      throw Object.assign(error, { isUncertain: !(error.code > 421) });
    });
    socket.write("QUIT\r\n");
  } finally {
    clearTimeout(timer);
    socket.end();
  }
}

async function sendByProgram(to, source) {
  const child = spawn(sendmail[0], [...sendmail.slice(1), "-i", "-f", ownAddress, "--", to], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.stdin.on("error", ({ message }) => log(`${sendmail[0]} did not read the message: ${message}`));
  child.stdin.end(source.replaceAll("\r\n", "\n"));
  // Rejects if the program cannot be started.
  const [status] = await once(child, "close");
  const reason = `${sendmail[0]} ended with ${status}.`;
  // 75 is "try again later", and the others of sysexits.h are for ever.
  if (status === null) throw Object.assign(new Error(reason), { isUncertain: true });
  if (status !== 0) throw Object.assign(new Error(reason), { code: status >= 64 && status !== 75 ? 550 : 450 });
}

async function deliver(request) {
  if (request.type !== "send") return { status: "refused", reason: "Mail has only texts." };
  const { messageId, source } = compose(request);
  try {
    await (smtp ? sendBySmtp : sendByProgram)(request.address.channelId, source);
    return { status: "sent", messageId };
  } catch ({ message: reason, code, isUncertain }) {
    if (isUncertain) return { status: "unknown", reason };
    // The others are about the server and the login, which may be corrected.
    return { status: code >= 550 && code < 560 ? "refused" : "not_sent", reason };
  }
}

const input = createInterface({ input: process.stdin });
input.on("line", async (line) => {
  const request = JSON.parse(line);
  const { type, id } = request;
  if (type === "received" || type === "failed") return unconfirmed.get(id)?.(type);
  write({ type: "delivery", id, ...(await deliver(request)) });
});
input.on("close", () => process.exit());
await receive();
