/** Loads files from Slack, and sends files to it. The token goes to Slack's own servers only, and no redirect is followed. */
import { isRecord } from "@tau/ai/internal";
import type { ChannelFile, Delivery, OutgoingFile } from "@tau/extensions";
import { requestPlatform } from "../http-request.ts";
import { loadFile } from "../load-file.ts";
import { getBaseUrl, type SlackApi } from "./slack-api.ts";
import { type SlackFailure, toDelivery } from "./slack-answer.ts";
import type { SlackFile } from "./slack-event.ts";

const transferTimeoutMs = 60_000;
const maxFileBytes = 20 * 1024 * 1024;
const fileHosts: readonly string[] = ["files.slack.com", "files.slack-gov.com"];

interface SlackFilesOptions {
  readonly api: SlackApi;
  readonly token: string;
  readonly baseUrl: string | undefined;
}

/** Whether a file may be loaded from this address, or be sent to it. Pure. */
export function isSlackFileUrl(url: string, baseUrl: string | undefined): boolean {
  if (!URL.canParse(url)) return false;
  const parsed = new URL(url);
  if (parsed.username !== "" || parsed.password !== "") return false;
  if (parsed.protocol === "https:" && parsed.port === "" && fileHosts.includes(parsed.hostname)) return true;
  return baseUrl !== undefined && parsed.origin === new URL(getBaseUrl(baseUrl)).origin;
}

export const loadSlackFile = (file: SlackFile, options: SlackFilesOptions): Promise<ChannelFile> =>
  loadFile(file, () => downloadFile(file, options));

async function downloadFile(file: SlackFile, { api, token, baseUrl }: SlackFilesOptions): Promise<Uint8Array> {
  const url = file.url === "" ? await findUrl(file.id, api) : file.url;
  if (!isSlackFileUrl(url, baseUrl)) throw new Error("It is not on a server of Slack.");
  const answer = await requestPlatform({
    url,
    method: "GET",
    headers: { authorization: `Bearer ${token}` },
    timeoutMs: transferTimeoutMs,
    maxBytes: maxFileBytes,
  });
  if (answer.kind !== "answer") throw new Error(answer.reason.replaceAll(token, "[secret]"));
  // Slack shows its page for logging in to those who may not read the file.
  const isPage = String(answer.headers["content-type"]).startsWith("text/html") && file.mimeType !== "text/html";
  if (answer.status >= 300 && answer.status < 400) throw new Error("Slack redirects. Does the app have files:read?");
  if (answer.status !== 200) throw new Error(`The answer was ${answer.status}.`);
  if (isPage) throw new Error("Slack sent a page instead. Does the app have files:read?");
  return answer.body;
}

/** In channels that are shared with other teams, events do not say where files are. */
async function findUrl(fileId: string, api: SlackApi): Promise<string> {
  const answer = await api.call("files.info", { file: fileId });
  if (answer.kind !== "ok") throw new Error(answer.reason);
  const { url_private_download: download, url_private: url } = toFields(answer.result["file"]);
  return String(download ?? url ?? "");
}

/** Nothing is delivered before the last of the three steps. */
export async function sendSlackFile(
  { address, file }: Pick<OutgoingFile, "address" | "file">,
  { api, baseUrl }: Omit<SlackFilesOptions, "token">,
): Promise<Delivery> {
  const { name, bytes } = file;
  const place = await api.call("files.getUploadURLExternal", { filename: name, length: bytes.length });
  if (place.kind !== "ok") return toDelivery(asUnsent(place), () => "");
  const [url, fileId] = [String(place.result["upload_url"] ?? ""), String(place.result["file_id"] ?? "")];
  if (!isSlackFileUrl(url, baseUrl)) return { kind: "refused", reason: "Slack named a server that is not its own." };
  const headers = { "content-type": "application/octet-stream" };
  const upload = await requestPlatform({ url, method: "POST", headers, body: bytes, timeoutMs: transferTimeoutMs });
  if (upload.kind !== "answer") return { kind: "not_sent", reason: upload.reason };
  if (upload.status !== 200) {
    const reason = `Slack did not take the file: the answer was ${upload.status}.`;
    return { kind: upload.status >= 500 || upload.status === 429 ? "not_sent" : "refused", reason };
  }
  const { channelId: channel_id, threadId: thread_ts } = address;
  const params = { files: [{ id: fileId, title: name }], channel_id, ...(thread_ts !== undefined && { thread_ts }) };
  return toDelivery(await api.call("files.completeUploadExternal", params), () => fileId);
}

const asUnsent = (failure: SlackFailure): SlackFailure =>
  failure.kind === "unknown" ? { kind: "not_sent", reason: failure.reason } : failure;

const toFields = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});
