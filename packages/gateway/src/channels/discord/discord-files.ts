/** Loads files that people send. They come from Discord's own servers, and no request for them carries the token. */
import type { Clock } from "@tau/ai";
import type { ChannelFile } from "@tau/extensions";
import { requestPlatform } from "../http-request.ts";
import { createMissingFile } from "../load-file.ts";
import { pause } from "../pause.ts";
import type { DiscordFile } from "./discord-event.ts";

const hosts: readonly string[] = ["cdn.discordapp.com", "media.discordapp.net"];
const maxFileBytes = 20 * 1024 * 1024;
const loadTimeoutMs = 60_000;
const retryMs = 1_000;
const maxAttempts = 3;

interface LoadOptions {
  /** The address of the platform in the settings. */
  readonly baseUrl: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Never rejects: in the place of a file that cannot be loaded is one that says why. */
export async function loadFiles(files: readonly DiscordFile[], options: LoadOptions): Promise<ChannelFile[]> {
  const loaded: ChannelFile[] = [];
  for (const file of files) {
    const { filename: name, content_type: mimeType = "application/octet-stream" } = file;
    const bytes = await load(file, options);
    loaded.push(typeof bytes === "string" ? createMissingFile(name, bytes) : { name, mimeType, bytes });
  }
  return loaded;
}

/** Returns why not, if it cannot be loaded. */
async function load({ url, size }: DiscordFile, options: LoadOptions): Promise<Uint8Array | string> {
  const { baseUrl, clock, signal } = options;
  if (!isOfDiscord(url, baseUrl)) return "its address is not one of Discord's.";
  if (size > maxFileBytes) return `it has more than ${maxFileBytes / 1024 / 1024} MiB.`;
  for (let attempts = 1; ; attempts++) {
    const answer = await requestPlatform({
      url,
      method: "GET",
      timeoutMs: loadTimeoutMs,
      maxBytes: maxFileBytes,
      signal,
    });
    if (answer.kind === "answer" && answer.status === 200) return answer.body;
    const reason = answer.kind === "answer" ? `the answer was ${answer.status}.` : `${answer.reason}.`;
    const isPassing = answer.kind !== "answer" || answer.status === 429 || answer.status >= 500;
    if (!isPassing || attempts === maxAttempts || signal.aborted) return reason;
    await pause(clock, retryMs * attempts, signal);
  }
}

/** Discord's servers by https, or those of the address in the settings. */
export function isOfDiscord(url: string, baseUrl: string | undefined): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, origin, username, port } = new URL(url);
  if (baseUrl !== undefined && origin === new URL(baseUrl).origin) return true;
  return protocol === "https:" && hosts.includes(hostname) && username === "" && port === "";
}
