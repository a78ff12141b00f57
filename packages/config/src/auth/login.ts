/** Logs in with the chosen method. */
import { cancelled, type Failed, failed } from "./failure.ts";
import { loginWithBrowser } from "./login-browser.ts";
import { loginWithDevice } from "./login-device.ts";
import { parseDomain, withDomain } from "./provider-domain.ts";
import { exchangeToken } from "./token-exchange.ts";
import type { LoginInteraction } from "./login-interaction.ts";
import type { OAuthPorts } from "./oauth-post.ts";
import type { OAuthProvider } from "./oauth-provider.ts";
import type { LoginTokens } from "./oauth-tokens.ts";

/** `paste` needs no redirect to this machine; `device` needs a browser on any device. */
export type LoginMethod = "browser" | "paste" | "device";

export interface LoginOptions {
  /** Default: `browser` if the provider has it, else `device`. */
  method?: LoginMethod;
  signal?: AbortSignal;
}

export type LoginOutcome = { kind: "done" } | Failed;

export function loginMethods({ browser, device }: OAuthProvider): LoginMethod[] {
  return [...(browser ? (["browser", "paste"] as const) : []), ...(device ? (["device"] as const) : [])];
}

export async function login(
  provider: OAuthProvider,
  interaction: LoginInteraction,
  options: Pick<LoginOptions, "method"> & OAuthPorts,
): Promise<LoginTokens> {
  if (!provider.domain) return await logIn(provider, interaction, options);
  const { question, default: defaultDomain } = provider.domain;
  const signal = options.signal ?? new AbortController().signal;
  const message = `${question} (empty for ${defaultDomain})`;
  const typed = interaction.ask ? await interaction.ask({ message, placeholder: defaultDomain }, signal) : "";
  if (typed === undefined) return cancelled();
  const domain = parseDomain(typed, defaultDomain);
  if (domain === undefined) return failed("unsupported", `${JSON.stringify(typed)} is not a host. Start again.`);
  const outcome = await logIn(withDomain(provider, domain), interaction, options);
  if (outcome.kind !== "tokens" || domain === defaultDomain) return outcome;
  return { kind: "tokens", tokens: { ...outcome.tokens, domain } };
}

async function logIn(
  provider: OAuthProvider,
  interaction: LoginInteraction,
  options: Pick<LoginOptions, "method"> & OAuthPorts,
): Promise<LoginTokens> {
  const { method: _method, ...ports } = options;
  const outcome = await logInWith(provider, interaction, options);
  if (outcome.kind !== "tokens" || !provider.exchange) return outcome;
  return await exchangeToken({ provider, exchange: provider.exchange, token: outcome.tokens.access }, ports);
}

async function logInWith(
  provider: OAuthProvider,
  interaction: LoginInteraction,
  { method = provider.browser ? "browser" : "device", ...ports }: Pick<LoginOptions, "method"> & OAuthPorts,
): Promise<LoginTokens> {
  const { browser, device } = provider;
  if (method === "device") {
    return device ? await loginWithDevice({ provider, device, interaction }, ports) : unsupported(provider, method);
  }
  const isPasted = method === "paste";
  if (!browser || (isPasted && !interaction.paste)) return unsupported(provider, method);
  return await loginWithBrowser({ provider, browser, interaction, isPasted }, ports);
}

const unsupported = (provider: OAuthProvider, method: LoginMethod): Failed =>
  failed(
    "unsupported",
    `${provider.name} has no login by ${method}. Use one of: ${loginMethods(provider).join(", ")}.`,
  );
