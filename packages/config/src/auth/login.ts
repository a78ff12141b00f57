/** Logs in with the chosen method. */
import { type Failed, failed } from "./failure.ts";
import { loginWithBrowser } from "./login-browser.ts";
import { loginWithDevice } from "./login-device.ts";
import type { LoginInteraction } from "./login-interaction.ts";
import type { OAuthPorts } from "./oauth-post.ts";
import type { OAuthProvider } from "./oauth-providers.ts";
import type { TokenOutcome } from "./oauth-tokens.ts";

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
  { method = provider.browser ? "browser" : "device", ...ports }: Pick<LoginOptions, "method"> & OAuthPorts,
): Promise<TokenOutcome> {
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
