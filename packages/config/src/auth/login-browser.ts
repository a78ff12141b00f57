/** Login in a browser: authorization code with PKCE. The browser is redirected here, or the user pastes the code. */
import { systemClock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { type CallbackServer, openCallbackServer } from "./callback-server.ts";
import { cancelled, type Failed, failed } from "./failure.ts";
import { type OAuthPorts, post } from "./oauth-post.ts";
import type { BrowserLogin, OAuthProvider } from "./oauth-providers.ts";
import { readTokens, type TokenOutcome } from "./oauth-tokens.ts";
import type { LoginInteraction } from "./login-interaction.ts";
import { type AuthorizationAnswer, parsePasted } from "./pasted-code.ts";
import { type Attempt, isSameState, createAttempt } from "./pkce.ts";

/** How long the user may take to log in. */
const maxLoginMs = 15 * 60_000;

interface BrowserRequest {
  provider: OAuthProvider;
  browser: BrowserLogin;
  interaction: LoginInteraction;
  /** The user pastes the code, and no server is opened. */
  isPasted: boolean;
}

export async function loginWithBrowser(request: BrowserRequest, ports: OAuthPorts): Promise<TokenOutcome> {
  const { provider, browser, interaction, isPasted } = request;
  const attempt = createAttempt();
  const server = isPasted ? undefined : await openCallbackServer(browser.redirect, attempt.state);
  try {
    if (!server && !interaction.paste) return failNoServer(provider, browser);
    const redirectUrl = getRedirect(browser, server, isPasted);
    interaction.notify({ type: "auth_url", url: createAuthorizeUrl(provider, browser, { attempt, redirectUrl }) });
    const answer = await waitForAnswer({ interaction, server }, ports);
    if (answer.kind === "failed") return answer;
    const code = checkCode(answer, provider, attempt);
    if (code.kind === "failed") return code;
    const state = browser.sendsState ? { state: attempt.state } : {};
    return await exchangeCode(
      provider,
      { code: code.code, code_verifier: attempt.verifier, redirect_uri: redirectUrl, ...state },
      ports,
    );
  } finally {
    server?.close();
  }
}

function failNoServer({ name }: OAuthProvider, { redirect }: BrowserLogin): Failed {
  const port = redirect.port === 0 ? "A port" : `Port ${redirect.port}`;
  return failed(
    "unsupported",
    `${port} on this machine could not be opened for ${name}. Close the program that uses it, and try again.`,
  );
}

/** Without a server the address is the same as with one: the user copies it from the browser's address bar. */
function getRedirect(browser: BrowserLogin, server: CallbackServer | undefined, isPasted: boolean): string {
  const { host = "localhost", port, path } = browser.redirect;
  if (isPasted && browser.pasteRedirectUrl !== undefined) return browser.pasteRedirectUrl;
  return server?.redirectUrl ?? `http://${host}:${port}${path}`;
}

export function createAuthorizeUrl(
  { clientId, scopes }: OAuthProvider,
  { authorizeUrl: address, parameters = {} }: BrowserLogin,
  { attempt, redirectUrl }: { attempt: Omit<Attempt, "verifier">; redirectUrl: string },
): string {
  const url = new URL(address);
  const all = {
    ...parameters,
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUrl,
    scope: scopes.join(" "),
    code_challenge: attempt.challenge,
    code_challenge_method: "S256",
    state: attempt.state,
  };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return url.href;
}

type Answer = ({ kind: "answer" } & AuthorizationAnswer) | Failed;

/** Waits for the redirect, the pasted code, the time limit or the signal, and stops the others. */
async function waitForAnswer(
  { interaction, server }: { interaction: LoginInteraction; server: CallbackServer | undefined },
  { clock = systemClock, signal }: OAuthPorts,
): Promise<Answer> {
  const done = new AbortController();
  const stop = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
  const answers: Promise<Answer>[] = [
    sleep(clock, maxLoginMs, stop).then((end) =>
      end === "elapsed" ? failed("expired", "The login was not finished within 15 minutes. Start again.") : cancelled(),
    ),
  ];
  if (server) answers.push(server.answer.then((answer) => ({ kind: "answer", ...answer })));
  if (interaction.paste) answers.push(askForCode(interaction, stop));
  try {
    return await Promise.race(answers);
  } finally {
    done.abort();
    // A prompt that was stopped may reject.
    void Promise.allSettled(answers);
  }
}

async function askForCode(interaction: LoginInteraction, stop: AbortSignal): Promise<Answer> {
  const text = await interaction.paste?.(stop);
  return text === undefined ? cancelled() : { kind: "answer", ...parsePasted(text) };
}

function checkCode(
  { code, state, error }: AuthorizationAnswer,
  { name }: OAuthProvider,
  attempt: Attempt,
): { kind: "code"; code: string } | Failed {
  if (state !== undefined && !isSameState(state, attempt.state)) {
    return failed(
      "wrong_state",
      "The pasted text belongs to another login. Start again, and paste the text of the new login.",
    );
  }
  if (error === "access_denied") return failed("denied", `The login to ${name} was refused in the browser.`);
  if (error !== undefined) return failed("server", `${name} ended the login with an error. Try again.`);
  if (code === undefined) return failed("server", "There is no code in the pasted text. Paste the whole address.");
  return { kind: "code", code };
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
