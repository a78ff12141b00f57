/**
 * A number of the WhatsApp Cloud API as a channel of type `stdio`.
 *
 *     "shop": { "type": "stdio", "command": "node", "args": ["/home/ann/whatsapp.mjs", "/home/ann/whatsapp.json"] }
 *
 * whatsapp.json, which nobody else may read (`chmod 600`):
 *
 *     { "phoneNumberId": "1065…", "accessToken": "EAA…", "appSecret": "…", "verifyToken": "a text of your choice", "port": 8790 }
 *
 * The webhook of the app, with the field `messages`, has to lead to that port through a server with HTTPS. `host` is the
 * address to listen at (127.0.0.1), and `graphUrl` the base of Meta's API with its version.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const settingsPath = process.argv[2] ?? "whatsapp.json";
if (statSync(settingsPath).mode & 0o077) throw new Error(`Others may read ${settingsPath}: chmod 600 ${settingsPath}`);
const settings = JSON.parse(readFileSync(settingsPath, "utf8"));
const { phoneNumberId, accessToken, appSecret, verifyToken, port = 8790, host = "127.0.0.1" } = settings;
const { graphUrl = "https://graph.facebook.com/v23.0" } = settings;
for (const name of ["phoneNumberId", "accessToken", "appSecret", "verifyToken"]) {
  if (!settings[name]) throw new Error(`${name} is missing in ${settingsPath}.`);
}

const maxBodyBytes = 3 * 1024 * 1024;
const log = (line) => void process.stderr.write(`${line}\n`);
const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const waiting = new Map();
const settle = (id, value) => {
  waiting.get(id)?.(value);
  waiting.delete(id);
};
/** Waits for what `settle` is called with. Resolves with undefined if that does not happen in time. */
const expect = (id, timeoutMs) =>
  new Promise((resolve) => {
    waiting.set(id, resolve);
    setTimeout(() => settle(id), timeoutMs).unref();
  });

const isSigned = (body, header = "") => {
  const expected = Buffer.from(`sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`);
  const actual = Buffer.from(header);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
};

const getText = ({ type, text, button, interactive, ...others }) =>
  text?.body ??
  button?.text ??
  interactive?.button_reply?.title ??
  interactive?.list_reply?.title ??
  others[type]?.caption ??
  `(${type}, which cannot be shown)`;

/** Resolves with whether tau has the message on its disk. */
async function report(message, contacts) {
  const { id, from, type } = message;
  if (["reaction", "system", "unsupported"].includes(type)) return true;
  const name = contacts.find((contact) => contact.wa_id === from)?.profile?.name ?? from;
  const confirmed = expect(id, 15_000);
  write({ type: "message", id, address: { channelId: from }, sender: { id: from, name }, text: getText(message) });
  return (await confirmed) === "received";
}

function takeStatus({ id, status, errors = [], biz_opaque_callback_data: nonce }) {
  const reason = errors.map(({ title, message }) => message ?? title).join(" ");
  if (status === "failed") log(`The message ${id} was not delivered: ${reason}`);
  settle(nonce, status === "failed" ? { status: "refused", reason } : { status: "sent", messageId: id });
}

/** Returns the status of the answer. Meta repeats what was not answered with 200, for days. */
async function takeNotification(body) {
  const changes = (JSON.parse(body).entry ?? []).flatMap((entry) => entry.changes ?? []);
  const values = changes.filter(({ field }) => field === "messages").map(({ value }) => value);
  const own = values.filter(({ metadata }) => metadata?.phone_number_id === phoneNumberId);
  for (const status of own.flatMap((value) => value.statuses ?? [])) takeStatus(status);
  for (const { messages = [], contacts = [] } of own) {
    for (const message of messages) if (!(await report(message, contacts))) return 503;
  }
  return 200;
}

async function answer(request) {
  const query = new URL(request.url, "http://localhost").searchParams;
  if (request.method === "GET") {
    const isOurs = query.get("hub.mode") === "subscribe" && query.get("hub.verify_token") === verifyToken;
    return isOurs ? [200, query.get("hub.challenge") ?? ""] : [403];
  }
  if (request.method !== "POST") return [405];
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > maxBodyBytes) return [413];
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  return isSigned(body, request.headers["x-hub-signature-256"]) ? [await takeNotification(body)] : [401];
}

// Too many messages: of the app, of the business, of the number, or to one person.
const rateLimits = [4, 80007, 130429, 131048, 131056];
// These fail before a request is sent.
const unreachable = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH"];

async function post(body) {
  const response = await fetch(`${graphUrl}/${phoneNumberId}/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(15_000),
  });
  const { messages, error } = await response.json();
  if (response.ok) return { status: "sent", messageId: messages[0].id };
  const reason = error?.message ?? `The server answered ${response.status}.`;
  if (response.status === 429 || rateLimits.includes(error?.code))
    return { status: "not_sent", reason, retryAfterMs: 60_000 };
  if (response.status === 401) return { status: "not_sent", reason };
  return { status: response.status < 500 ? "refused" : "unknown", reason };
}

async function deliver({ type, id, address, text, replyTo, messageId, emoji }) {
  if (type === "file") return { status: "refused", reason: "This channel sends no files." };
  const content =
    type === "react"
      ? { type: "reaction", reaction: { message_id: messageId, emoji } }
      : {
          type: "text",
          text: { body: text, preview_url: false },
          ...(replyTo && { context: { message_id: replyTo } }),
        };
  // Its statuses name the message by `id`, even if the answer to this request is lost.
  const body = { messaging_product: "whatsapp", to: address.channelId, biz_opaque_callback_data: id, ...content };
  const status = expect(id, 25_000);
  const delivery = await post(body).catch(({ message, cause }) => {
    const isUnreachable = unreachable.includes(cause?.code);
    return { status: isUnreachable ? "not_sent" : "unknown", reason: cause?.message ?? message };
  });
  return delivery.status === "unknown" ? ((await status) ?? delivery) : delivery;
}

const input = createInterface({ input: process.stdin });
input.on("line", async (line) => {
  const request = JSON.parse(line);
  const { type, id } = request;
  if (type === "received" || type === "failed") return settle(id, type);
  write({ type: "delivery", id, ...(await deliver(request)) });
});
input.on("close", () => process.exit());

createServer((request, response) => {
  answer(request).then(
    ([status, text]) => response.writeHead(status, { "content-type": "text/plain" }).end(text),
    (error) => {
      log(`A request could not be answered: ${error.message}`);
      response.writeHead(400).end();
    },
  );
}).listen(port, host, function () {
  log(`Listening at ${host}:${this.address().port}.`);
});
