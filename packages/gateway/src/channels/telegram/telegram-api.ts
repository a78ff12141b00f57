/** Calls methods of Telegram's Bot API. */
import { isRecord, tryParseJson } from "@tau/ai/internal";
import type { Delivery } from "@tau/extensions";
import { type PlatformAnswer, requestPlatform } from "../http-request.ts";

type TelegramAnswer =
  | { readonly kind: "ok"; readonly result: unknown }
  | { readonly kind: "refused"; readonly code: number; readonly reason: string }
  | { readonly kind: "limited"; readonly reason: string; readonly retryAfterMs: number }
  | { readonly kind: "not_sent" | "unknown"; readonly reason: string };

const answerTimeoutMs = 20_000;
const maxFileBytes = 20 * 1024 * 1024;
/** How much longer than another request a large file may take. */
const uploadMs = 100_000;
const defaultRetryMs = 1_000;

interface CallOptions {
  readonly signal?: AbortSignal;
  /** How long Telegram itself may wait before it answers. Default 0. */
  readonly waitMs?: number;
}

export class TelegramApi {
  readonly #baseUrl: string;
  readonly #token: string;

  constructor({ baseUrl = "https://api.telegram.org", token }: { baseUrl: string | undefined; token: string }) {
    this.#baseUrl = baseUrl.replace(/\/$/, "");
    this.#token = token;
  }

  async call(method: string, params: Record<string, unknown>, options: CallOptions = {}): Promise<TelegramAnswer> {
    const headers = { "content-type": "application/json" };
    return await this.#post(method, { headers, body: JSON.stringify(params) }, options);
  }

  /** Calls a method that takes a file, as a form. */
  async upload(
    method: string,
    fields: Readonly<Record<string, string>>,
    file: { field: string; name: string; mimeType: string; bytes: Uint8Array },
  ): Promise<TelegramAnswer> {
    const boundary = `tau-${crypto.randomUUID()}`;
    const parts = Object.entries(fields).map(
      ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const safeName = file.name.replaceAll(/["\r\n\\]/g, "_");
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${file.field}"; filename="${safeName}"\r\ncontent-type: ${file.mimeType}\r\n\r\n`;
    const body = Buffer.concat([
      Buffer.from(parts.join("") + head),
      Buffer.from(file.bytes),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    return await this.#post(
      method,
      { headers: { "content-type": `multipart/form-data; boundary=${boundary}` }, body },
      { waitMs: uploadMs },
    );
  }

  /** Throws if the file cannot be loaded. */
  async download(fileId: string): Promise<Uint8Array> {
    const answer = await this.call("getFile", { file_id: fileId });
    const path = answer.kind === "ok" && isRecord(answer.result) ? answer.result["file_path"] : undefined;
    if (typeof path !== "string") throw new Error(describeAnswer(answer));
    const url = `${this.#baseUrl}/file/bot${this.#token}/${path.split("/").map(encodeURIComponent).join("/")}`;
    const file = await requestPlatform({ url, method: "GET", timeoutMs: 60_000, maxBytes: maxFileBytes });
    if (file.kind !== "answer") throw new Error(file.reason.replaceAll(this.#token, "[secret]"));
    if (file.status !== 200) throw new Error(`The answer was ${file.status}.`);
    return file.body;
  }

  async #post(
    method: string,
    content: { headers: Record<string, string>; body: string | Uint8Array },
    { signal, waitMs = 0 }: CallOptions,
  ): Promise<TelegramAnswer> {
    const url = `${this.#baseUrl}/bot${this.#token}/${method}`;
    const timeoutMs = answerTimeoutMs + waitMs;
    const answer = await requestPlatform({ url, method: "POST", ...content, timeoutMs, ...(signal && { signal }) });
    return this.#hideToken(toTelegramAnswer(answer));
  }

  /** The token is in every address, and so in what some failures say. */
  #hideToken(answer: TelegramAnswer): TelegramAnswer {
    return answer.kind === "ok" ? answer : { ...answer, reason: answer.reason.replaceAll(this.#token, "[secret]") };
  }
}

function toTelegramAnswer(answer: PlatformAnswer): TelegramAnswer {
  if (answer.kind !== "answer") return answer;
  const value = tryParseJson(answer.body.toString("utf8"));
  if (!isRecord(value)) return { kind: "unknown", reason: `The answer was ${answer.status}, without JSON.` };
  if (value["ok"] === true) return { kind: "ok", result: value["result"] };
  const reason = typeof value["description"] === "string" ? value["description"] : `The answer was ${answer.status}.`;
  if (answer.status === 429) {
    const parameters = isRecord(value["parameters"]) ? value["parameters"] : {};
    const seconds = Number(parameters["retry_after"]);
    return { kind: "limited", reason, retryAfterMs: seconds > 0 ? seconds * 1_000 : defaultRetryMs };
  }
  if (answer.status >= 400 && answer.status < 500) return { kind: "refused", code: answer.status, reason };
  return { kind: "unknown", reason };
}

export const describeAnswer = (answer: TelegramAnswer): string => (answer.kind === "ok" ? "" : answer.reason);

/** How an attempt to send ended. */
export function toDelivery(answer: TelegramAnswer): Delivery {
  switch (answer.kind) {
    case "ok": {
      const id = isRecord(answer.result) ? answer.result["message_id"] : undefined;
      return { kind: "sent", messageId: typeof id === "number" ? String(id) : "" };
    }
    case "refused":
      return { kind: "refused", reason: answer.reason };
    case "limited":
      return { kind: "not_sent", reason: answer.reason, retryAfterMs: answer.retryAfterMs };
    case "not_sent":
    case "unknown":
      return { kind: answer.kind, reason: answer.reason };
  }
}
