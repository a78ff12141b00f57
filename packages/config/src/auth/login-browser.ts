/** Login in a browser: authorization code with PKCE. The browser is redirected here, or the user pastes the code. */
import { systemClock } from "@tau/ai";
import { failed } from "./failure.ts";
import { type OAuthPorts, post } from "./oauth-post.ts";
import type { BrowserLogin, OAuthProvider } from "./oauth-provider.ts";
import { isToken, type LoginTokens, readTokens, type TokenOutcome } from "./oauth-tokens.ts";
import type { LoginInteraction } from "./login-interaction.ts";
import { type Attempt, createAttempt } from "./pkce.ts";
import { receiveCode } from "./receive-code.ts";

interface BrowserRequest {
  provider: OAuthProvider;
  browser: BrowserLogin;
  interaction: LoginInteraction;
  /** The user pastes the code, and no server is opened. */
  isPasted: boolean;
}

export async function loginWithBrowser(request: BrowserRequest, ports: OAuthPorts): Promise<LoginTokens> {
  const { provider, browser, interaction, isPasted } = request;
  const attempt = createAttempt();
  const received = await receiveCode(
    {
      name: provider.name,
      state: attempt.state,
      redirect: browser.redirect,
      hasStateInPath: browser.dialect === "key",
      isPasted,
      pasteRedirectUrl: browser.pasteRedirectUrl,
      interaction,
      getAuthorizeUrl: (redirectUrl) => createAuthorizeUrl(provider, browser, { attempt, redirectUrl }),
    },
    ports,
  );
  if (received.kind === "failed") return received;
  const { code, redirectUrl } = received;
  if (browser.dialect === "key") return await exchangeForKey(provider, { code, verifier: attempt.verifier }, ports);
  const state = browser.sendsState ? { state: attempt.state } : {};
  return await exchangeCode(
    provider,
    { code, code_verifier: attempt.verifier, redirect_uri: redirectUrl, ...state },
    ports,
  );
}

export function createAuthorizeUrl(
  { clientId, scopes }: OAuthProvider,
  { authorizeUrl: address, parameters = {}, dialect = "standard" }: BrowserLogin,
  { attempt, redirectUrl }: { attempt: Omit<Attempt, "verifier">; redirectUrl: string },
): string {
  const url = new URL(address);
  const challenge = { code_challenge: attempt.challenge, code_challenge_method: "S256" };
  if (dialect === "key") {
    const all = { ...parameters, callback_url: redirectUrl, ...challenge };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    return url.href;
  }
  const all = {
    ...parameters,
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUrl,
    scope: scopes.join(" "),
    ...challenge,
    state: attempt.state,
  };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return url.href;
}

export async function exchangeCode(
  provider: OAuthProvider,
  fields: Record<string, string>,
  ports: OAuthPorts,
): Promise<TokenOutcome> {
  const { tokenUrl: url, clientId, format = "form" } = provider;
  const all = { grant_type: "authorization_code", client_id: clientId, ...fields };
  const answer = await post({ url, fields: all, format }, ports);
  if (answer.kind === "failed") return answer;
  const outcome = readTokens(answer, { provider, nowMs: (ports.clock ?? systemClock).now() });
  if (outcome.kind === "tokens" || outcome.failure.kind !== "login_required") return outcome;
  return failed(
    "login_required",
    `${provider.name} did not accept the code: it is valid once and for a short time. Start again.`,
  );
}

async function exchangeForKey(
  { name, tokenUrl: url, format = "form" }: OAuthProvider,
  { code, verifier }: { code: string; verifier: string },
  ports: OAuthPorts,
): Promise<LoginTokens> {
  const fields = { code, code_verifier: verifier, code_challenge_method: "S256" };
  const answer = await post({ url, fields, format }, ports);
  if (answer.kind === "failed") return answer;
  const { status, json } = answer;
  const key = json?.["key"];
  if (status === 200 && isToken(key)) return { kind: "key", key };
  if (status === 400 || status === 403 || status === 409) {
    return failed(
      "login_required",
      `${name} did not accept the code: it is valid once and for a short time. Start again.`,
    );
  }
  return failed("server", `${name} gave no key (HTTP ${status}). Try again later.`);
}
