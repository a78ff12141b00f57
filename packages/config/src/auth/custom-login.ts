/** A login that functions carry out, such as that of an extension. Other logins are data: see `oauth-providers.ts`. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, isRecord, untilAborted, untilTimeout } from "@tau/ai/internal";
import { formatCredentialProblem, type OAuthCredential, parseCredential } from "./credential.ts";
import { cancelled, type Failed, failed } from "./failure.ts";
import { formatLoginCommand } from "./key-hint.ts";
import { checkKey, type KeyValue } from "./key-value.ts";
import type { LoginInteraction } from "./login-interaction.ts";

export interface CustomLogin {
  /** The provider's id, as in `auth.json` and in models. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  /** Resolves to the fields of an `OAuthCredential`, and any others that it needs. They are stored. */
  login(interaction: LoginInteraction, signal: AbortSignal): Promise<unknown>;
  /** Called before the access token expires. Resolves to the fields that change. */
  renew(credential: OAuthCredential, signal: AbortSignal): Promise<unknown>;
  /** Returns the key that is sent with requests. */
  getKey(credential: OAuthCredential): string | Promise<string>;
}

export type CredentialOutcome = { kind: "credential"; credential: OAuthCredential } | Failed;

/**
 * The file of credentials is locked while a token is renewed and its key is made, so that no other process renews it too.
 * Others wait for longer than both.
 */
const maxRenewalMs = 30_000;
const maxKeyMs = 10_000;

export async function logInCustom(
  custom: CustomLogin,
  interaction: LoginInteraction,
  signal = new AbortController().signal,
): Promise<CredentialOutcome> {
  try {
    if (signal.aborted) return cancelled();
    const outcome = await untilAborted(custom.login(interaction, signal), signal);
    return outcome.kind === "aborted" ? cancelled() : toCredential(custom, outcome.value);
  } catch (error) {
    if (signal.aborted) return cancelled();
    return failed("server", `The login to ${custom.name} failed: ${getErrorMessage(error)}`);
  }
}

export async function renewCustom(
  custom: CustomLogin,
  credential: OAuthCredential,
  clock: Clock,
): Promise<CredentialOutcome> {
  const limit = new AbortController();
  try {
    const work = custom.renew(structuredClone(credential), limit.signal);
    const outcome = await untilTimeout(work, maxRenewalMs, clock);
    if (outcome.kind === "done") return toRenewed(custom, outcome.value, credential);
    limit.abort();
    return failed(
      "network",
      `${custom.name} did not renew the login within ${maxRenewalMs / 1000} s. Try again later.`,
    );
  } catch (error) {
    const reason = getErrorMessage(error).replace(/\.?$/, ".");
    return failed(
      "server",
      `The login to ${custom.name} could not be renewed: ${reason} If that does not help, log in again: ${formatLoginCommand(custom.id, true)}`,
    );
  }
}

export async function getCustomKey(custom: CustomLogin, credential: OAuthCredential, clock: Clock): Promise<KeyValue> {
  try {
    const work = Promise.resolve(custom.getKey(structuredClone(credential)));
    const outcome = await untilTimeout<unknown>(work, maxKeyMs, clock);
    if (outcome.kind === "timeout")
      return failed("network", `The login to ${custom.name} gave no key within ${maxKeyMs / 1000} s. Try again later.`);
    if (typeof outcome.value !== "string") return failed("server", `The login to ${custom.name} gave no key.`);
    return checkKey(outcome.value, `the key of ${custom.name}`);
  } catch (error) {
    return failed("server", `The login to ${custom.name} gives no key: ${getErrorMessage(error)}`);
  }
}

/** A renewal that changes nothing is a failure: the stored token expires, or has. */
function toRenewed(custom: CustomLogin, value: unknown, before: OAuthCredential): CredentialOutcome {
  const outcome = toCredential(custom, value, before);
  if (outcome.kind === "failed") return outcome;
  const { access, expires } = outcome.credential;
  if (access !== before.access || expires > before.expires) return outcome;
  return failed(
    "server",
    `The login to ${custom.name} could not be renewed: there is no new token. Log in again: ${formatLoginCommand(custom.id, true)}`,
  );
}

function toCredential({ id, name }: CustomLogin, value: unknown, before?: OAuthCredential): CredentialOutcome {
  const fields = isRecord(value) ? value : {};
  const parsed = parseCredential(id, { refresh: "", ...before, ...fields, type: "oauth" });
  if (parsed.kind === "bad")
    return failed("server", `The login to ${name} gave no valid token: ${formatCredentialProblem(parsed.problem)}`);
  return { kind: "credential", credential: parsed.credential as OAuthCredential };
}
