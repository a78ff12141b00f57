/**
 * Plays Discord on this machine: its gateway with heartbeats, sessions that are resumed and those that are gone, and its REST
 * API with nonces, buckets of rate limits and errors.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { type WebSocket, WebSocketServer } from "ws";

type Fields = Record<string, unknown>;

/** Says what happens to a request in place of the ordinary answer. `after` it is the ordinary effect without its answer. */
export type DiscordFault =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly body?: object;
      readonly headers?: Record<string, string>;
    }
  | { readonly kind: "cut"; readonly isAfter: boolean }
  /** No answer at all, until the client gives up. */
  | { readonly kind: "stall" };

export interface DiscordCall {
  readonly method: string;
  /** Without the version. */
  readonly path: string;
  readonly body: Fields;
  /** The request as it was sent. */
  readonly raw: Buffer;
  readonly headers: IncomingMessage["headers"];
}

interface DiscordSession {
  readonly id: string;
  readonly events: { s: number; t: string; d: unknown }[];
  socket: WebSocket | undefined;
}

interface Limit {
  /** Requests of one route in one channel. */
  readonly requests: number;
  readonly everyMs: number;
}

export const discordToken = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs";
export const selfId = "198622483471925248";
export const selfRole = "9001";
export const guildId = "300";
/** A channel and a thread of the guild, and a direct conversation. */
export const [generalId, threadId, directId] = ["400", "500", "600"];
export const ann = { id: "7", username: "ann", global_name: "Ann" };

const messageContentIntent = 1 << 15;

export class DiscordServer {
  readonly calls: DiscordCall[] = [];
  /** Messages by channel, oldest first. Those that people write, too. */
  readonly messages = new Map<string, Fields[]>();
  readonly channels = new Map<string, Fields>([
    [generalId, { id: generalId, type: 0, guild_id: guildId, name: "general" }],
    [threadId, { id: threadId, type: 11, guild_id: guildId, parent_id: generalId, name: "a thread" }],
    [directId, { id: directId, type: 1 }],
  ]);
  /** Files by their path. */
  readonly files = new Map<string, Buffer>();
  /** Faults of the next requests, by method and path with `:id` for numbers. */
  readonly faults = new Map<string, DiscordFault[]>();
  /** Chooses a fault for any request. */
  chooseFault: (call: DiscordCall) => DiscordFault | undefined = () => undefined;
  readonly identifies: Fields[] = [];
  resumes = 0;
  heartbeats = 0;
  /** Heartbeats are not answered any more. */
  isDeaf = false;
  isContentAllowed = true;
  heartbeatMs = 40_000;
  remainingStarts = 1_000;
  nonceLifeMs = 300_000;
  limit: Limit | undefined;
  /** With each READY, the guild and its channels follow. */
  isGuildTold = true;
  readonly #nonces = new Map<string, { at: number; message: Fields }>();
  readonly #buckets = new Map<string, { used: number; resetAt: number }>();
  readonly #sessions = new Map<string, DiscordSession>();
  #lastId = 0n;
  #url = "";
  readonly #http = createServer((request, response) => void this.#answer(request, response));
  readonly #sockets = new WebSocketServer({ server: this.#http, path: "/gateway" });

  async listen(port = 0): Promise<string> {
    this.#sockets.on("connection", (socket) => this.#greet(socket));
    await new Promise<void>((resolve) => this.#http.listen(port, "127.0.0.1", resolve));
    this.#url = `127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
    return `http://${this.#url}`;
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    this.#http.close();
  }

  get connections(): number {
    return this.#sockets.clients.size;
  }

  /** Cuts the connections as a network does. */
  cutSockets(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  /** Reads nothing from the connections that are open now, until the result is called. */
  pauseSockets(): () => void {
    const sockets = [...this.#sockets.clients];
    for (const socket of sockets) socket.pause();
    return () => {
      for (const socket of sockets) socket.resume();
    };
  }

  closeSockets(code: number): void {
    for (const socket of this.#sockets.clients) socket.close(code);
  }

  /** Sends an operation to everybody who is connected. */
  send(op: number, d: unknown): void {
    for (const socket of this.#sockets.clients) send(socket, { op, d });
  }

  /** No session can be resumed any more. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  /** Cuts the connection of each session, and keeps what happens for it. */
  dispatch(t: string, d: unknown): void {
    for (const session of this.#sessions.values()) {
      const event = { s: session.events.length + 1, t, d };
      session.events.push(event);
      if (session.socket) send(session.socket, { op: 0, ...event });
    }
  }

  /** Sends the last dispatch once more, with the same number. */
  repeatLast(): void {
    for (const { socket, events } of this.#sessions.values()) if (socket) send(socket, { op: 0, ...events.at(-1)! });
  }

  /** Somebody writes. Returns the id of the message. Without more, Ann writes directly. */
  write(content: string, others: Fields = {}): string {
    const channelId = typeof others["channel_id"] === "string" ? others["channel_id"] : directId;
    const isInGuild = this.channels.get(channelId)?.["guild_id"] !== undefined;
    const message = this.#addMessage({ author: ann, content, channel_id: channelId, ...others });
    const member = { roles: ["11"], nick: null };
    this.dispatch("MESSAGE_CREATE", {
      ...message,
      ...(isInGuild && { guild_id: guildId, member, ...pick(others, "member") }),
    });
    return String(message["id"]);
  }

  /** The texts that the account has sent to a channel. */
  textsTo(channelId = directId): string[] {
    const own = (this.messages.get(channelId) ?? []).filter(
      ({ author }) => isRecord(author) && author["id"] === selfId,
    );
    return own.map(({ content }) => String(content));
  }

  /** The bodies of the requests to a route, such as `POST /channels/:id/messages`. */
  bodiesOf(route: string): Fields[] {
    return this.calls.filter((call) => toRoute(call) === route).map(({ body }) => body);
  }

  #addMessage(fields: Fields): Fields {
    const message = {
      id: this.#createId(),
      type: 0,
      mentions: [],
      mention_roles: [],
      mention_everyone: false,
      attachments: [],
      embeds: [],
      timestamp: "2026-01-01T00:00:00Z",
      ...fields,
    };
    const channelId = String(message["channel_id" as keyof typeof message]);
    this.messages.set(channelId, [...(this.messages.get(channelId) ?? []), message]);
    return message;
  }

  #createId(): string {
    const id = BigInt(Date.now() - 1_420_070_400_000) << 22n;
    this.#lastId = id > this.#lastId ? id : this.#lastId + 1n;
    return String(this.#lastId);
  }

  #greet(socket: WebSocket): void {
    socket.on("error", () => {});
    socket.on("close", () => {
      for (const session of this.#sessions.values()) if (session.socket === socket) session.socket = undefined;
    });
    socket.on("message", (data: Buffer) => {
      const { op, d } = JSON.parse(data.toString()) as { op: number; d: Fields };
      if (op === 1) {
        this.heartbeats++;
        if (!this.isDeaf) send(socket, { op: 11 });
      } else if (op === 2) this.#identify(socket, d);
      else if (op === 6) this.#resume(socket, d);
    });
    send(socket, { op: 10, d: { heartbeat_interval: this.heartbeatMs } });
  }

  #identify(socket: WebSocket, d: Fields): void {
    this.identifies.push(d);
    this.remainingStarts--;
    if (d["token"] !== discordToken) return socket.close(4004);
    if (!this.isContentAllowed && (Number(d["intents"]) & messageContentIntent) !== 0) return socket.close(4014);
    const session: DiscordSession = { id: `session-${this.identifies.length}`, events: [], socket };
    this.#sessions.set(session.id, session);
    const ready = { session_id: session.id, resume_gateway_url: `ws://${this.#url}/gateway`, user: { id: selfId } };
    const events = [{ s: 1, t: "READY", d: ready as unknown }];
    if (this.isGuildTold) {
      const channels = [...this.channels.values()].filter(({ guild_id: id }) => id === guildId);
      const isThread = ({ type }: Fields) => type === 11;
      const members = [{ user: { id: selfId }, roles: [selfRole] }];
      const guild = {
        id: guildId,
        channels: channels.filter((each) => !isThread(each)),
        threads: channels.filter(isThread),
        members,
      };
      events.push({ s: 2, t: "GUILD_CREATE", d: guild });
    }
    for (const event of events) {
      session.events.push(event);
      send(socket, { op: 0, ...event });
    }
  }

  #resume(socket: WebSocket, { session_id: id, seq, token }: Fields): void {
    this.resumes++;
    if (token !== discordToken) return socket.close(4004);
    const session = this.#sessions.get(String(id));
    if (!session) return send(socket, { op: 9, d: false });
    session.socket = socket;
    for (const event of session.events.slice(Number(seq))) send(socket, { op: 0, ...event });
    const resumed = { s: session.events.length + 1, t: "RESUMED", d: {} };
    session.events.push(resumed);
    send(socket, { op: 0, ...resumed });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await readBody(request).catch(() => undefined);
    if (raw === undefined) return;
    const { method = "", headers } = request;
    const [path = "", query = ""] = (request.url ?? "").split("?");
    const file = this.files.get(path);
    if (file) return void response.end(file);
    const call = {
      method,
      path: decodeURI(path)
        .replace("%40", "@")
        .replace(/^\/api\/v10/, ""),
      raw,
      headers,
      body: parseBody(raw, headers),
    };
    this.calls.push(call);
    const answer = (status: number, body?: object, more: Record<string, string> = {}) => {
      response.writeHead(status, { ...(body && { "content-type": "application/json" }), ...more });
      response.end(body && JSON.stringify(body));
    };
    const isPublic = call.path.startsWith("/interactions/");
    if (!isPublic && headers.authorization !== `Bot ${discordToken}`)
      return answer(401, { code: 0, message: "401: Unauthorized" });
    const fault = this.faults.get(toRoute(call))?.shift() ?? this.chooseFault(call);
    if (fault?.kind === "stall") return;
    if (fault?.kind === "cut" && !fault.isAfter) return void request.socket.destroy();
    if (fault?.kind === "answer") return answer(fault.status, fault.body, fault.headers);
    const limited = this.#countRequest(call);
    if (limited.retryAfterMs !== undefined) {
      const seconds = limited.retryAfterMs / 1_000;
      const body = { message: "You are being rate limited.", retry_after: seconds, global: false };
      return answer(429, body, { ...limited.headers, "retry-after": String(seconds), "x-ratelimit-scope": "user" });
    }
    const { status, body } = this.#run(call, new URLSearchParams(query));
    if (fault?.kind === "cut") return void request.socket.destroy();
    answer(status, body, limited.headers);
  }

  /** Counts a request in the bucket of its route and channel, as Discord's headers describe it. */
  #countRequest(call: DiscordCall): { headers: Record<string, string>; retryAfterMs?: number } {
    if (!this.limit || !call.path.startsWith("/channels/")) return { headers: {} };
    const key = `${toRoute(call)} ${call.path.split("/")[2]}`;
    const now = Date.now();
    const known = this.#buckets.get(key);
    const bucket = known && known.resetAt > now ? known : { used: 0, resetAt: now + this.limit.everyMs };
    this.#buckets.set(key, bucket);
    bucket.used++;
    const headers = {
      "x-ratelimit-limit": String(this.limit.requests),
      "x-ratelimit-remaining": String(Math.max(0, this.limit.requests - bucket.used)),
      "x-ratelimit-reset-after": String((bucket.resetAt - now) / 1_000),
      "x-ratelimit-bucket": toRoute(call).replaceAll(/\W/g, ""),
    };
    return bucket.used > this.limit.requests ? { headers, retryAfterMs: bucket.resetAt - now } : { headers };
  }

  #run(call: DiscordCall, query: URLSearchParams): { status: number; body?: object } {
    const [, , id = "", , messageId = ""] = call.path.split("/");
    switch (toRoute(call)) {
      case "GET /users/@me":
        return { status: 200, body: { id: selfId, username: "tau", bot: true } };
      case "GET /gateway/bot": {
        const limit = { total: 1_000, remaining: this.remainingStarts, reset_after: 60_000, max_concurrency: 1 };
        return { status: 200, body: { url: `ws://${this.#url}/gateway`, shards: 1, session_start_limit: limit } };
      }
      case "GET /channels/:id": {
        const channel = this.channels.get(id);
        return channel
          ? { status: 200, body: channel }
          : { status: 404, body: { code: 10003, message: "Unknown Channel" } };
      }
      case "GET /guilds/:id/members/:id":
        return { status: 200, body: { user: ann, roles: messageId === selfId ? [selfRole] : ["11"], nick: null } };
      case "GET /channels/:id/messages": {
        const after = BigInt(query.get("after") ?? 0);
        const newer = (this.messages.get(id) ?? []).filter((message) => BigInt(String(message["id"])) > after);
        return { status: 200, body: newer.slice(0, Number(query.get("limit"))).toReversed() };
      }
      case "POST /channels/:id/messages":
        return { status: 200, body: this.#createMessage(id, call.body) };
      case "PATCH /channels/:id/messages/:id": {
        const message = this.messages.get(id)?.find((each) => each["id"] === messageId);
        if (!message) return { status: 404, body: { code: 10008, message: "Unknown Message" } };
        return { status: 200, body: Object.assign(message, call.body) };
      }
      default:
        return { status: 204 };
    }
  }

  #createMessage(channelId: string, body: Fields): Fields {
    const nonce = body["enforce_nonce"] === true ? String(body["nonce"]) : undefined;
    const known = nonce === undefined ? undefined : this.#nonces.get(nonce);
    if (known && Date.now() - known.at < this.nonceLifeMs) return known.message;
    const message = this.#addMessage({
      author: { id: selfId, username: "tau", bot: true },
      channel_id: channelId,
      ...body,
    });
    if (nonce !== undefined) this.#nonces.set(nonce, { at: Date.now(), message });
    // The account sees its own messages too.
    this.dispatch("MESSAGE_CREATE", message);
    return message;
  }
}

const send = (socket: WebSocket, value: object): void => socket.send(JSON.stringify(value));

const pick = (fields: Fields, name: string): Fields => (name in fields ? { [name]: fields[name] } : {});

const toRoute = ({ method, path }: Pick<DiscordCall, "method" | "path">): string =>
  `${method} ${path
    .replaceAll(/\/\d+/g, "/:id")
    .replace(/reactions\/[^/]+/, "reactions/:emoji")
    .replace(/(interactions\/:id)\/[^/]+/, "$1/:token")}`;

function parseBody(raw: Buffer, headers: IncomingMessage["headers"]): Fields {
  const text = raw.toString("utf8");
  const isForm = headers["content-type"]?.startsWith("multipart/form-data") === true;
  const json = isForm ? (/name="payload_json"\r\n(?:[^\r]+\r\n)*\r\n([^\r]*)\r\n/.exec(text)?.[1] ?? "") : text;
  const parsed = tryParseJson(json);
  return isRecord(parsed) ? parsed : {};
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
