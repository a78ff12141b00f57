/** Plays Telegram's Bot API on this machine: updates with numbers that are confirmed, files, limits and errors. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TelegramCall {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly body: Buffer;
}

/** An answer in place of the ordinary one. `cut` closes the connection after the request was read. */
export type TelegramFault = { status: number; body: object } | "cut";

export const telegramToken = "4711:AbCdEfGhIjKlMnOpQrStUvWxYz";

export class TelegramServer {
  readonly calls: TelegramCall[] = [];
  /** Faults of the next calls of a method. */
  readonly faults = new Map<string, TelegramFault[]>();
  /** Chooses how a call goes wrong that would not otherwise. `after` it had its effect. */
  chooseFault: (method: string) => { fault: TelegramFault; isAfter: boolean } | undefined = () => undefined;
  /** Changes the updates that a call gets, such as their order. */
  changeUpdates: <T>(updates: readonly T[]) => readonly T[] = (updates) => updates;
  /** The texts that people see, by the number of the message. */
  readonly shown = new Map<number, { chat: number; text: string }>();
  /** Files by their id. */
  readonly files = new Map<string, Buffer>();
  #updates: { update_id: number }[] = [];
  #nextUpdate = 1;
  #nextMessage = 100;
  #wake = () => {};
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#wake();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Adds an update that is sent until it is confirmed. Returns its number. */
  add(update: object): number {
    const update_id = this.#nextUpdate++;
    this.#updates.push({ update_id, ...update });
    this.#wake();
    return update_id;
  }

  isConfirmed(updateId: number): boolean {
    return this.#updates.every(({ update_id }) => update_id !== updateId);
  }

  /** Answers a request that waits for updates with none, and counts them from another number. */
  renumber(next: number): void {
    this.#nextUpdate = next;
    this.#wake();
  }

  /** Somebody writes. Returns the number of the message. */
  write(text: string, others: Record<string, unknown> = {}): number {
    const message_id = this.#nextMessage++;
    const from = { id: 7, is_bot: false, first_name: "Ann" };
    this.add({ message: { message_id, from, chat: { id: 7, type: "private" }, date: 1, text, ...others } });
    return message_id;
  }

  callsOf(method: string): Record<string, unknown>[] {
    return this.calls.filter((call) => call.method === method).map(({ params }) => params);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
    const [, fileToken, path = ""] = /^\/file\/bot([^/]+)\/(.+)$/.exec(request.url ?? "") ?? [];
    const answer = (status: number, value: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    const file = this.files.get(decodeURIComponent(path));
    if (fileToken === telegramToken) return void (file ? response.end(file) : answer(404, { ok: false }));
    if (token !== telegramToken) return answer(401, { ok: false, error_code: 401, description: "Unauthorized" });
    const isJson = request.headers["content-type"] === "application/json";
    const params = isJson ? (JSON.parse(body.toString()) as Record<string, unknown>) : {};
    this.calls.push({ method, params, body });
    const fault = this.faults.get(method)?.shift();
    const chosen = fault ? { fault, isAfter: false } : this.chooseFault(method);
    if (chosen?.isAfter) await this.#run(method, params);
    if (chosen?.fault === "cut") return void request.socket.destroy();
    if (chosen) return answer(chosen.fault.status, chosen.fault.body);
    answer(200, { ok: true, result: await this.#run(method, params) });
  }

  async #run(method: string, params: Record<string, unknown>): Promise<unknown> {
    switch (method) {
      case "getMe":
        return { id: 4711, is_bot: true, username: "TauBot" };
      case "getUpdates": {
        const offset = Number(params["offset"]);
        this.#updates = this.#updates.filter(({ update_id }) => update_id >= offset);
        if (this.#updates.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
        return this.changeUpdates(this.#updates.slice(0, 100));
      }
      case "getFile":
        return { file_path: params["file_id"] };
      case "sendMessage": {
        const message_id = this.#nextMessage++;
        this.shown.set(message_id, { chat: Number(params["chat_id"]), text: String(params["text"]) });
        return { message_id };
      }
      case "editMessageText": {
        const message_id = Number(params["message_id"]);
        this.shown.set(message_id, { chat: Number(params["chat_id"]), text: String(params["text"]) });
        return { message_id };
      }
      case "sendDocument":
      case "sendPhoto":
        return { message_id: this.#nextMessage++ };
      default:
        return true;
    }
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
