/**
 * Plays Slack on this machine for Slack's own libraries: the Web API, socket mode with envelopes that are sent again until
 * they are acknowledged, signed requests, and files.
 */
import { createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

type Fields = Record<string, unknown>;

export interface SlackCall {
  readonly method: string;
  readonly params: Fields;
}

/** An answer in place of the ordinary one. `cut` closes the connection after the request was read; `hang` never answers. */
export type SlackFault = { status?: number; headers?: Record<string, string>; body?: object | string } | "cut" | "hang";

export const slackTokens = {
  bot: "xoxb-4711-AbCdEfGh",
  app: "xapp-1-A1-4711-AbCdEfGh",
  signing: "8f742231b10e8888abcd99",
};

/** The user id of the app. */
export const slackBotId = "UTAU";

interface Delivery {
  readonly type: string;
  readonly payload: Fields;
  attempts: number;
  readonly acknowledge: () => void;
}

export class SlackServer {
  readonly calls: SlackCall[] = [];
  /** Faults of the next calls of a method. */
  readonly faults = new Map<string, SlackFault[]>();
  /** Decides how a call of a method ends, before its effect or after it. Undefined: as it should. */
  decideFault: (method: string) => { at: "before" | "after"; fault: SlackFault } | undefined = () => undefined;
  /** Everything that people can see. */
  readonly posted: Fields[] = [];
  readonly files = new Map<string, { type: string; bytes: Buffer }>();
  /** Tokens that requests for files had. */
  readonly fileTokens: (string | undefined)[] = [];
  /** How often a connection was made. */
  connections = 0;
  /** Decides whether an acknowledgement of an envelope is understood. */
  hearsAcknowledgement: () => boolean = () => true;
  /** Whether a new connection is greeted. */
  saysHello = true;
  readonly #deliveries = new Map<string, Delivery>();
  readonly #sockets = new Set<WebSocket>();
  readonly #webSockets = new WebSocketServer({ noServer: true });
  readonly #server: Server;
  #nextTs = 1_700_000_000_000_100;
  baseUrl = "";

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on("upgrade", (request, socket, head) => {
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => this.#connect(webSocket));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.baseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this.baseUrl;
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  callsOf(method: string): Fields[] {
    return this.calls.filter((call) => call.method === method).map(({ params }) => params);
  }

  createTs(): string {
    const ts = String((this.#nextTs += 100));
    return `${ts.slice(0, 10)}.${ts.slice(10)}`;
  }

  /** The payload of an event of somebody who writes. */
  createMessage(text: string, others: Fields = {}): Fields {
    const ts = this.createTs();
    const event = {
      type: "message",
      channel: "D1",
      channel_type: "im",
      user: "U1",
      team: "T1",
      text,
      ts,
      event_ts: ts,
    };
    return { type: "event_callback", team_id: "T1", event_id: `Ev${ts}`, event: { ...event, ...others } };
  }

  /** Somebody writes. Resolves when the account has acknowledged it. */
  async write(text: string, others: Fields = {}): Promise<void> {
    await this.deliver("events_api", this.createMessage(text, others));
  }

  /** Resolves when the envelope is acknowledged. Each new connection gets those that are not, with another id. */
  async deliver(type: string, payload: Fields): Promise<void> {
    await new Promise<void>((acknowledge) => {
      this.#send({ type, payload, attempts: 0, acknowledge });
    });
  }

  /** Sends what is not acknowledged once more. */
  sendAgain(): void {
    const waiting = [...this.#deliveries.values()];
    this.#deliveries.clear();
    for (const delivery of new Set(waiting)) this.#send(delivery);
  }

  /** Ends the connections like Slack does, or without a word. */
  disconnect(reason?: string): void {
    for (const socket of this.#sockets) {
      if (reason === undefined) socket.terminate();
      else socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: {} }));
    }
  }

  /** Sends a frame as it is. */
  sendFrame(frame: string): void {
    for (const socket of this.#sockets) socket.send(frame);
  }

  #connect(socket: WebSocket): void {
    this.connections++;
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {});
    socket.on("message", (data) => {
      if (!this.hearsAcknowledgement()) return;
      const { envelope_id: id } = JSON.parse(String(data)) as { envelope_id: string };
      const delivery = this.#deliveries.get(id);
      for (const [other, each] of this.#deliveries) if (each === delivery) this.#deliveries.delete(other);
      delivery?.acknowledge();
    });
    if (!this.saysHello) return;
    socket.send(JSON.stringify({ type: "hello", num_connections: 1, connection_info: { app_id: "A1" } }));
    this.sendAgain();
  }

  #send(delivery: Delivery): void {
    const id = randomUUID();
    this.#deliveries.set(id, delivery);
    const { type, payload } = delivery;
    const retry = delivery.attempts++;
    const again = type === "events_api" && { retry_attempt: retry, retry_reason: retry > 0 ? "timeout" : "" };
    const frame = { envelope_id: id, type, payload, accepts_response_payload: type !== "events_api", ...again };
    [...this.#sockets].at(-1)?.send(JSON.stringify(frame));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { pathname } = new URL(request.url ?? "", this.baseUrl);
    if (pathname.startsWith("/files/")) return this.#answerFile(pathname.slice(7), request, response);
    if (pathname.startsWith("/upload/")) {
      const fault = this.faults.get("upload")?.shift();
      if (fault) return answerFault(fault, request, response);
      this.files.set(pathname.slice(8), { type: "", bytes: body });
      return void response.end("OK");
    }
    const method = pathname.replace(/^\/api\//, "");
    const params = readForm(body.toString());
    this.calls.push({ method, params });
    const wanted = method.startsWith("apps.") ? slackTokens.app : slackTokens.bot;
    if (request.headers.authorization !== `Bearer ${wanted}`) {
      return answerFault({ body: { ok: false, error: "invalid_auth" } }, request, response);
    }
    const fault = this.faults.get(method)?.shift();
    if (fault) return answerFault(fault, request, response);
    const decided = this.decideFault(method);
    if (decided?.at === "before") return answerFault(decided.fault, request, response);
    const result = this.#run(method, params);
    if (decided) return answerFault(decided.fault, request, response);
    answerFault({ body: result }, request, response);
  }

  #answerFile(name: string, request: IncomingMessage, response: ServerResponse): void {
    this.fileTokens.push(request.headers.authorization);
    const file = this.files.get(name);
    if (!file) return void response.writeHead(404).end();
    if (file.type === "redirect") return void response.writeHead(302, { location: file.bytes.toString() }).end();
    response.writeHead(200, { "content-type": file.type }).end(file.bytes);
  }

  #run(method: string, params: Fields): object {
    switch (method) {
      case "auth.test":
        return { ok: true, user_id: slackBotId, team_id: "T1", bot_id: "BTAU" };
      case "apps.connections.open":
        return { ok: true, url: `${this.baseUrl.replace("http", "ws")}/link/?ticket=${randomUUID()}` };
      case "users.info": {
        const user = String(params["user"]);
        return { ok: true, user: { id: user, name: user, profile: { display_name: `Name of ${user}` } } };
      }
      case "chat.postMessage": {
        const ts = this.createTs();
        this.posted.push({ ...params, ts });
        return { ok: true, channel: params["channel"], ts };
      }
      case "chat.update": {
        const message = this.posted.find(({ channel, ts }) => channel === params["channel"] && ts === params["ts"]);
        if (!message) return { ok: false, error: "message_not_found" };
        message["text"] = params["text"];
        return { ok: true, channel: params["channel"], ts: params["ts"] };
      }
      case "files.info":
        return { ok: true, file: { url_private_download: `${this.baseUrl}/files/${String(params["file"])}` } };
      case "files.getUploadURLExternal":
        return { ok: true, upload_url: `${this.baseUrl}/upload/F9`, file_id: "F9" };
      default:
        return { ok: true };
    }
  }
}

/** A signed request, as Slack sends it to the address of an account. */
export function createSlackRequest(
  content: Fields | URLSearchParams,
  { secret = slackTokens.signing, nowMs = Date.now() }: { secret?: string; nowMs?: number } = {},
): { headers: Record<string, string>; body: Buffer } {
  const isForm = content instanceof URLSearchParams;
  const body = Buffer.from(isForm ? content.toString() : JSON.stringify(content));
  const seconds = String(Math.floor(nowMs / 1_000));
  const headers = {
    "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
    "x-slack-request-timestamp": seconds,
    "x-slack-signature": `v0=${createHmac("sha256", secret).update(`v0:${seconds}:${body.toString()}`).digest("hex")}`,
  };
  return { headers, body };
}

function answerFault(fault: SlackFault, request: IncomingMessage, response: ServerResponse): void {
  if (fault === "hang") return;
  if (fault === "cut") return void request.socket.destroy();
  const { status = 200, headers, body = "" } = fault;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

const jsonFields: readonly string[] = ["blocks", "files", "length", "link_names", "unfurl_links", "unfurl_media"];

/** Values that are not texts are JSON in the form. */
function readForm(text: string): Fields {
  const read = (name: string, value: string): unknown => (jsonFields.includes(name) ? JSON.parse(value) : value);
  return Object.fromEntries([...new URLSearchParams(text)].map(([name, value]) => [name, read(name, value)]));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
