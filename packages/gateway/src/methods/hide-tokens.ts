/** The tokens of webhooks are in the settings, which a client may read that may not call a webhook. */
import type { GatewaySettings } from "../settings.ts";

const hiddenToken = "[secret]";

/** A value without the tokens that the settings name. `config.get` shows them to those who may change them. Pure. */
export function hideTokens<T>(value: T, { hooks }: Pick<GatewaySettings, "hooks">): T {
  const tokens = Object.values(hooks).flatMap(({ token }) => token ?? []);
  if (tokens.length === 0) return value;
  // A token has no character that is written differently in JSON.
  const line = tokens.reduce((text, token) => text.replaceAll(token, hiddenToken), JSON.stringify(value));
  return JSON.parse(line) as T;
}
