/** Reads how a call of Slack's Web API ended, from what its library returns or throws. Pure. */
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import type { Delivery } from "@tau/extensions";

export type SlackResult = Readonly<Record<string, unknown>>;

export type SlackFailure =
  /** `code` is Slack's name of the error, or the status of an answer that has none. */
  | { readonly kind: "refused"; readonly code: string; readonly reason: string }
  | { readonly kind: "not_sent"; readonly reason: string; readonly retryAfterMs?: number }
  | { readonly kind: "unknown"; readonly reason: string };

export type SlackAnswer = { readonly kind: "ok"; readonly result: SlackResult } | SlackFailure;

/** Thrown by `slackFetch` when there is no answer. The library hands it on as the `original` of its own error. */
export class SlackRequestError extends Error {
  readonly kind: "not_sent" | "unknown";

  constructor(kind: "not_sent" | "unknown", reason: string) {
    super(reason);
    this.name = "SlackRequestError";
    this.kind = kind;
  }
}

const defaultRetryMs = 1_000;

/** Errors after which the token is of no use until a person does something. */
const tokenAdvice: Readonly<Record<string, string>> = {
  invalid_auth: "Slack does not know the token. Store the right one with tau channels login.",
  not_authed: "Slack got no token. Store it with tau channels login.",
  not_allowed_token_type:
    "The token is of another kind: the bot token begins with xoxb-, the app-level token with xapp-. Store them with tau channels login.",
  token_revoked: "The token was revoked. Install the app again, and store its new token with tau channels login.",
  token_expired: "The token has expired. Install the app again, and store its new token with tau channels login.",
  account_inactive: "The app was removed from the workspace. Install it again, and store its new token.",
  user_removed_from_team: "The app was removed from the workspace. Install it again, and store its new token.",
  team_disabled: "The workspace is disabled.",
  team_access_not_granted: "The app may not use this workspace. An administrator of the organisation has to allow it.",
};

const advice: Readonly<Record<string, string>> = {
  ...tokenAdvice,
  not_in_channel: "The app is not a member of the channel. Invite it there: /invite @NAME.",
  channel_not_found: "The app cannot see the conversation. If it still exists, invite the app there: /invite @NAME.",
  is_archived: "The channel is archived.",
  restricted_action: "A setting of the workspace does not let the app write there.",
  restricted_action_read_only_channel: "The channel is only for reading.",
  msg_too_long: "The message is too long.",
  message_not_found: "The message does not exist any more.",
  cant_update_message: "The message is not one of the app.",
  invalid_name: "Slack has no emoji with this name.",
  file_upload_size_restricted: "A setting of the workspace does not allow files of this size.",
};

/** Errors that say nothing about whether the call had an effect. */
const unclearCodes: readonly string[] = ["fatal_error", "internal_error", "service_unavailable"];
/** Errors of a call that certainly had none, and that can succeed later. */
const laterCodes: readonly string[] = ["ratelimited", "rate_limited", "request_timeout", "team_added_to_org"];

/** Whether the token itself is refused: nothing can be sent or received with it. */
export const isTokenRefused = (answer: SlackAnswer): boolean =>
  answer.kind === "refused" && Object.hasOwn(tokenAdvice, answer.code);

/** `error` is what the library threw. Its errors are recognised by their codes, which are documented. */
export function toFailure(error: unknown): SlackFailure {
  const { code, data, statusCode, retryAfter, original } = toFields(error);
  switch (code) {
    case "slack_webapi_platform_error":
      return toPlatformFailure(toFields(data));
    case "slack_webapi_rate_limited_error": {
      const retryAfterMs = Number(retryAfter) * 1_000 || defaultRetryMs;
      return { kind: "not_sent", reason: "Slack takes no more for now.", retryAfterMs };
    }
    case "slack_webapi_http_error": {
      const status = Number(statusCode);
      const reason = `Slack answered with the status ${status}.`;
      if (status >= 500 || status === 408) return { kind: "unknown", reason };
      return { kind: "refused", code: String(status), reason };
    }
    default: {
      const request = original ?? error;
      if (request instanceof SlackRequestError) return { kind: request.kind, reason: request.message };
      return { kind: "unknown", reason: getErrorMessage(error) };
    }
  }
}

function toPlatformFailure(data: Readonly<Record<string, unknown>>): SlackFailure {
  const code = typeof data["error"] === "string" ? data["error"] : "";
  // The library calls an answer without JSON an error whose name is the whole answer.
  if (!/^[a-z][a-z0-9_]{0,60}$/.test(code)) return { kind: "unknown", reason: "Slack's answer cannot be read." };
  if (unclearCodes.includes(code)) return { kind: "unknown", reason: code };
  if (laterCodes.includes(code)) {
    const seconds = Number(toFields(data["response_metadata"])["retryAfter"]);
    return { kind: "not_sent", reason: code, retryAfterMs: seconds > 0 ? seconds * 1_000 : defaultRetryMs };
  }
  return { kind: "refused", code, reason: `${code}: ${getAdvice(code, data)}` };
}

function getAdvice(code: string, data: Readonly<Record<string, unknown>>): string {
  if (code === "missing_scope") {
    const scope = typeof data["needed"] === "string" ? ` ${data["needed"]}` : "";
    return `The app lacks the scope${scope}. Add it at https://api.slack.com/apps, and install the app again.`;
  }
  return Object.hasOwn(advice, code) ? advice[code]! : "Slack refuses it.";
}

/** `messageId` is that of a sent message, made of what Slack answered. */
export function toDelivery(answer: SlackAnswer, toMessageId: (result: SlackResult) => string): Delivery {
  switch (answer.kind) {
    case "ok":
      return { kind: "sent", messageId: toMessageId(answer.result) };
    case "refused":
      return { kind: "refused", reason: answer.reason };
    case "not_sent":
    case "unknown":
      return answer;
  }
}

const toFields = (value: unknown): Readonly<Record<string, unknown>> =>
  value instanceof Error ? (value as unknown as Record<string, unknown>) : isRecord(value) ? value : {};
