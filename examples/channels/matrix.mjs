/**
 * A Matrix account as a channel of type `stdio`. Rooms that are not encrypted, on any homeserver.
 *
 *     "club": { "type": "stdio", "command": "node", "args": ["/home/ann/matrix.mjs", "/home/ann/matrix.json"] }
 *
 * matrix.json, which nobody else may read (`chmod 600`):
 *
 *     { "homeserver": "https://example.org", "accessToken": "syt_…", "acceptInvitesFrom": ["@ann:example.org"] }
 *
 * Invitations of anybody else stay unanswered. `stateFile` is where it has got to; by default it is beside the settings.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const settingsPath = process.argv[2] ?? "matrix.json";
if (statSync(settingsPath).mode & 0o077) throw new Error(`Others may read ${settingsPath}: chmod 600 ${settingsPath}`);
const settings = JSON.parse(readFileSync(settingsPath, "utf8"));
const { homeserver, accessToken, acceptInvitesFrom = [], stateFile = `${settingsPath}.since` } = settings;

const log = (line) => void process.stderr.write(`${line}\n`);
const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** Resolves with the answer, and rejects with the `status` for anything but 200. */
async function call(method, path, { json, timeoutMs = 8_000 } = {}) {
  const response = await fetch(new URL(`/_matrix/client/v3${path}`, homeserver), {
    method,
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    ...(json && { body: JSON.stringify(json) }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const reason = answer.error ?? `The homeserver answered ${response.status}.`;
  throw Object.assign(new Error(reason), { status: response.status, retryAfterMs: answer.retry_after_ms });
}

/** Whether the server will never answer this request otherwise. */
const isRefusal = ({ status }) => status >= 400 && status < 500 && ![401, 408, 429].includes(status);

// What tau has not yet confirmed, by the message's id.
const unconfirmed = new Map();

/** Resolves once tau has the message on its disk. */
async function report(message) {
  for (;;) {
    const type = await new Promise((resolve) => {
      unconfirmed.set(message.id, resolve);
      write({ type: "message", ...message });
    });
    if (type === "received") return;
    await sleep(1_000);
  }
}

function toMessage({ event, roomId, isDirect, userId }) {
  const { content, sender, event_id: id } = event;
  const relation = content["m.relates_to"] ?? {};
  const mentions = content["m.mentions"];
  // Notices are what other programs say, and an edit repeats a message.
  if (sender === userId || content.msgtype !== "m.text" || relation.rel_type === "m.replace") return undefined;
  // Old clients put what is answered before the answer.
  const text = relation["m.in_reply_to"] ? content.body.replace(/^(?:> .*\n)+\n/, "") : content.body;
  const threadId = relation.rel_type === "m.thread" ? String(relation.event_id) : undefined;
  const room = { kind: "group", id: roomId };
  return {
    id,
    address: { channelId: roomId, threadId },
    sender: { id: sender, name: sender.slice(1).split(":")[0] },
    text,
    ...(isDirect
      ? { peer: { kind: "direct", id: sender } }
      : threadId
        ? { peer: { kind: "thread", id: threadId }, parentPeer: room }
        : { peer: room }),
    isMentioned: mentions ? [mentions.user_ids].flat().includes(userId) : text.includes(userId),
  };
}

const isMessage = ({ type, content }) => type === "m.room.message" && typeof content?.body === "string";

/** The new messages of a room, the oldest first, with those that were too many for the answer to `/sync`. */
async function listEvents(roomId, { events = [], limited, prev_batch: from }, since) {
  const earlier = [];
  while (limited && from) {
    const query = new URLSearchParams({ dir: "b", from, to: since, limit: "100" });
    const page = await call("GET", `/rooms/${encodeURIComponent(roomId)}/messages?${query}`);
    earlier.push(...page.chunk);
    from = page.chunk.length > 0 ? page.end : undefined;
  }
  return [...earlier.toReversed(), ...events].filter(isMessage);
}

async function takeRoom({ roomId, timeline = {}, since, userId }) {
  const events = await listEvents(roomId, timeline, since);
  if (events.length === 0) return;
  const { joined } = await call("GET", `/rooms/${encodeURIComponent(roomId)}/joined_members`);
  const isDirect = Object.keys(joined).length <= 2;
  for (const event of events) {
    const message = toMessage({ event, roomId, isDirect, userId });
    if (message) await report(message);
  }
}

async function takeInvite(roomId, { invite_state: { events = [] } = {} }, userId) {
  const invite = events.find(({ type, state_key: key }) => type === "m.room.member" && key === userId);
  if (!acceptInvitesFrom.includes(invite?.sender))
    return log(`${invite?.sender} is not in acceptInvitesFrom: ${roomId}`);
  try {
    await call("POST", `/join/${encodeURIComponent(roomId)}`, { json: {} });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    log(`${roomId} cannot be joined: ${error.message}`);
  }
}

async function receive() {
  const filter = JSON.stringify({
    room: { timeline: { types: ["m.room.message"], limit: 50 } },
    presence: { types: [] },
  });
  let since = existsSync(stateFile) ? readFileSync(stateFile, "utf8") : undefined;
  for (let userId; ;) {
    try {
      userId ??= (await call("GET", "/account/whoami")).user_id;
      const query = new URLSearchParams({ filter, ...(since ? { since, timeout: "30000" } : { timeout: "0" }) });
      const { rooms = {}, next_batch: next } = await call("GET", `/sync?${query}`, { timeoutMs: 60_000 });
      for (const [roomId, invite] of Object.entries(rooms.invite ?? {})) await takeInvite(roomId, invite, userId);
      // What was written before the first start is not answered.
      const joined = since ? Object.entries(rooms.join ?? {}) : [];
      await Promise.all(joined.map(([roomId, { timeline }]) => takeRoom({ roomId, timeline, since, userId })));
      // Only now: after a kill, the same messages come again with the same ids, and tau knows them.
      since = next;
      writeFileSync(`${stateFile}.new`, since, { mode: 0o600 });
      renameSync(`${stateFile}.new`, stateFile);
    } catch (error) {
      if (error.status === 401) throw error;
      log(`Receiving failed, and is repeated: ${error.message}`);
      await sleep(error.retryAfterMs ?? 5_000);
    }
  }
}

function toEvent({ type, address: { threadId }, text, replyTo, messageId, emoji }) {
  if (type === "react") {
    return ["m.reaction", { "m.relates_to": { rel_type: "m.annotation", event_id: messageId, key: emoji } }];
  }
  const reply = (replyTo ?? threadId) && { "m.in_reply_to": { event_id: replyTo ?? threadId } };
  const thread = threadId && { rel_type: "m.thread", event_id: threadId, is_falling_back: !replyTo };
  const relation = (reply || thread) && { "m.relates_to": { ...thread, ...reply } };
  // No other program answers a notice, and nobody is notified because of a name in the text.
  return ["m.room.message", { msgtype: "m.notice", body: text, "m.mentions": {}, ...relation }];
}

async function deliver(request) {
  if (request.type === "file") return { status: "refused", reason: "This channel sends no files." };
  const [eventType, json] = toEvent(request);
  // The homeserver makes one message of all requests with the same transaction.
  const transaction = Buffer.from(request.id).toString("base64url");
  const path = `/rooms/${encodeURIComponent(request.address.channelId)}/send/${eventType}/${transaction}`;
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await call("PUT", path, { json });
      return { status: "sent", messageId: answer.event_id };
    } catch (error) {
      const { status, retryAfterMs, message: reason } = error;
      if (isRefusal(error)) return { status: "refused", reason };
      if (status === 401 || status === 429) return { status: "not_sent", reason, retryAfterMs };
      // tau waits for 30 s.
      if (attempt === 3) return { status: "unknown", reason };
      await sleep(500);
    }
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
