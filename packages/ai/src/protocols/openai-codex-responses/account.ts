import { MissingCredentials } from "../protocol.ts";
import { record, text } from "../read.ts";

/** The claim of a ChatGPT token that describes its account. */
const accountClaim = "https://api.openai.com/auth";

/** The account a token was issued for. Throws `MissingCredentials` for anything that is not such a token. */
export function getAccountId(token: string): string {
  const [, payload = "", signature] = token.split(".");
  const claims = signature === undefined ? {} : readClaims(payload);
  const accountId = text(record(claims[accountClaim])["chatgpt_account_id"]);
  if (accountId) return accountId;
  throw new MissingCredentials(
    "The key for Codex is not a token of a ChatGPT account: it does not name one. Sign in again, or use the provider openai with an API key.",
  );
}

function readClaims(payload: string): Record<string, unknown> {
  // Base64url, without padding; nothing else may reach `atob`, which throws.
  if (!/^[\w-]+$/.test(payload) || payload.length % 4 === 1) return {};
  try {
    return record(JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
