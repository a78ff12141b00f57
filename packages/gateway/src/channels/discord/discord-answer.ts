/** Says how far a request came that Discord did not take. Pure. */
import type { Delivery } from "@tau/extensions";

export type DiscordFailure =
  | { readonly kind: "refused"; readonly status: number; readonly code: number | undefined; readonly reason: string }
  /** Discord does not know the token. */
  | { readonly kind: "unauthorized"; readonly reason: string }
  | { readonly kind: "limited"; readonly reason: string; readonly retryAfterMs: number }
  | { readonly kind: "not_sent" | "unknown"; readonly reason: string };

/** Tells what a person can do about a refusal, by Discord's code for it. */
const advice: Readonly<Record<number, string>> = {
  10003: "The channel does not exist any more.",
  10014: "Discord does not know this emoji: send the character itself, or NAME:ID for one of the server's own.",
  30010: "The message has as many reactions as it can have.",
  40005: "The file is too large for this server.",
  50001: "The bot cannot see this channel: give its role the permission View Channel.",
  50007: "This person takes no direct messages from the bot: they have to unblock it, or allow those of the server.",
  50013:
    "The bot may not do this here: its role needs Send Messages, Send Messages in Threads, Attach Files and Add Reactions.",
  50083: "The thread is archived: somebody has to open it again.",
  90001: "The author of the message has blocked the bot.",
  160002: "The bot cannot answer a message here: give its role the permission Read Message History.",
  200000: "The automatic moderation of the server has blocked the text.",
};

/** Errors of a connection that was not made: no byte of the request can have been received. */
const unconnected = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

const minRetryMs = 250;
const unauthorizedRetryMs = 60_000;

/**
 * Reads an error of `@discordjs/rest` by its fields: an error of a bundled copy is of another class. Such errors have a
 * `status` if there was an answer, and `timeToReset` if a limit was reached, also one that is known before it is asked.
 */
export function toFailure(error: unknown): DiscordFailure {
  const { status, code, message, timeToReset, retryAfter, sublimitTimeout } = error as Record<string, unknown>;
  const reason = typeof message === "string" && message !== "" ? message : "Discord gave no reason.";
  if (typeof timeToReset === "number") {
    const times = [timeToReset, retryAfter, sublimitTimeout].map(Number).filter(Number.isFinite);
    return {
      kind: "limited",
      reason: "Discord's rate limit is reached.",
      retryAfterMs: Math.max(minRetryMs, ...times),
    };
  }
  if (typeof status === "number" && status >= 400 && status < 500) {
    if (status === 401) return { kind: "unauthorized", reason: "Discord does not know the token." };
    const known = typeof code === "number" ? code : undefined;
    const help = known === undefined ? undefined : advice[known];
    return { kind: "refused", status, code: known, reason: help ?? (status === 413 ? advice[40005]! : reason) };
  }
  if (typeof status === "number") return { kind: "unknown", reason: `Discord's answer was ${status}.` };
  const errorCode = findErrorCode(error);
  const text = errorCode === undefined ? reason : `${reason} (${errorCode})`;
  return { kind: errorCode !== undefined && unconnected.has(errorCode) ? "not_sent" : "unknown", reason: text };
}

/** The code of the error that lies deepest: `fetch` wraps those of sockets, and tries several addresses. */
function findErrorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { cause, errors, code } = error as { cause?: unknown; errors?: unknown; code?: unknown };
  const inner = Array.isArray(errors) ? errors[0] : cause;
  return findErrorCode(inner) ?? (typeof code === "string" ? code : undefined);
}

/** How an attempt to send ended that Discord did not take. */
export function toDelivery(failure: DiscordFailure): Delivery {
  switch (failure.kind) {
    case "refused":
      return { kind: "refused", reason: failure.reason };
    case "unauthorized":
      // It waits for a better token.
      return { kind: "not_sent", reason: failure.reason, retryAfterMs: unauthorizedRetryMs };
    case "limited":
      return { kind: "not_sent", reason: failure.reason, retryAfterMs: failure.retryAfterMs };
    case "not_sent":
    case "unknown":
      return { kind: failure.kind, reason: failure.reason };
  }
}
