import { asRecord, asString, tryParseJson } from "../../json.ts";
import { MissingCredentials } from "../protocol.ts";

/** The claim of a ChatGPT token that holds the account. */
const accountClaim = "https://api.openai.com/auth";

/** The account id in a ChatGPT token. Throws `MissingCredentials` if `token` is not a ChatGPT token. */
export function getAccountId(token: string): string {
  const [, payload = "", signature] = token.split(".");
  const claims = signature === undefined ? {} : readClaims(payload);
  const accountId = asString(asRecord(claims[accountClaim])["chatgpt_account_id"]);
  if (accountId) return accountId;
  throw new MissingCredentials(
    "The key for Codex is not a token of a ChatGPT account: it contains no account id. Sign in again, or use the provider openai with an API key.",
  );
}

function readClaims(payload: string): Record<string, unknown> {
  // `atob` throws on anything but base64; the payload is base64url without padding.
  if (!/^[\w-]+$/.test(payload) || payload.length % 4 === 1) return {};
  return asRecord(tryParseJson(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))));
}
