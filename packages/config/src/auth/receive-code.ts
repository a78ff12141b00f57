/** Receives the code of a login in a browser: the browser is redirected here, or the user pastes the address or the code. */
import { systemClock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { type CallbackServer, openCallbackServer } from "./callback-server.ts";
import { cancelled, type Failed, failed } from "./failure.ts";
import type { LoginInteraction } from "./login-interaction.ts";
import type { OAuthPorts } from "./oauth-post.ts";
import type { BrowserLogin } from "./oauth-provider.ts";
import { type AuthorizationAnswer, parsePasted } from "./pasted-code.ts";
import { isSameState } from "./pkce.ts";

/** How long the user may take to log in. */
const maxLoginMs = 15 * 60_000;

export interface CodeRequest {
  /** Names where the user logs in, for messages. */
  name: string;
  state: string;
  redirect: BrowserLogin["redirect"];
  /** Whether the path of the redirect holds the state, for a server that gives none back. Default false. */
  hasStateInPath?: boolean;
  /** The user pastes the code, and no server is opened. With an address: the page of the provider that shows the code. */
  isPasted?: boolean;
  pasteRedirectUrl?: string | undefined;
  /** Whether a pasted text has to have the state in it, which proves that it belongs to this login. Default false. */
  needsState?: boolean;
  interaction: LoginInteraction;
  /** Resolves with the address that the user opens, once it is known where the browser is redirected to. */
  getAuthorizeUrl(redirectUrl: string): string | Promise<string | Failed>;
}

/** `issuer` is the one that the answer names (RFC 9207). */
export type ReceivedCode = { kind: "code"; code: string; issuer: string | undefined; redirectUrl: string } | Failed;

export async function receiveCode(options: CodeRequest, ports: OAuthPorts): Promise<ReceivedCode> {
  const { hasStateInPath = false, state } = options;
  const path = hasStateInPath ? `${options.redirect.path}/${state}` : options.redirect.path;
  const request = { ...options, redirect: { ...options.redirect, path } };
  const { interaction, redirect, isPasted = false } = request;
  const server = isPasted ? undefined : await openCallbackServer(redirect, hasStateInPath ? undefined : state);
  try {
    if (!server && (!interaction.paste || (!isPasted && redirect.port === 0))) return failNoServer(request);
    const redirectUrl = getRedirect(request, server);
    const url = await request.getAuthorizeUrl(redirectUrl);
    if (typeof url !== "string") return url;
    interaction.notify({ type: "auth_url", url });
    const answer = await waitForAnswer({ interaction, server }, ports);
    if (answer.kind === "failed") return answer;
    const code = checkCode(answer, request);
    return code.kind === "failed" ? code : { ...code, redirectUrl };
  } finally {
    server?.close();
  }
}

function failNoServer({ name, redirect }: CodeRequest): Failed {
  const port = redirect.port === 0 ? "A port" : `Port ${redirect.port}`;
  return failed(
    "unsupported",
    `${port} on this machine could not be opened for ${name}. Close the program that uses it, and try again.`,
  );
}

/** Without a server the address is the same as with one: the user copies it from the browser's address bar. */
function getRedirect({ redirect, pasteRedirectUrl, isPasted }: CodeRequest, server: CallbackServer | undefined) {
  const { host = "localhost", port, path } = redirect;
  if (isPasted && pasteRedirectUrl !== undefined) return pasteRedirectUrl;
  return server?.redirectUrl ?? `http://${host}:${port}${path}`;
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
  { code, state, error, issuer }: AuthorizationAnswer,
  { name, state: expected, needsState = false }: CodeRequest,
): { kind: "code"; code: string; issuer: string | undefined } | Failed {
  if (state !== undefined && !isSameState(state, expected)) {
    return failed(
      "wrong_state",
      "The pasted text belongs to another login. Start again, and paste the text of the new login.",
    );
  }
  if (state === undefined && needsState) {
    return failed("wrong_state", "The pasted text is not the whole address. Start again, and paste all of it.");
  }
  if (error === "access_denied") return failed("denied", `The login to ${name} was refused in the browser.`);
  if (error !== undefined) return failed("server", `${name} ended the login with an error. Try again.`);
  if (code === undefined) return failed("server", "There is no code in the pasted text. Paste the whole address.");
  return { kind: "code", code, issuer };
}
