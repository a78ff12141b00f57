import { type AuthContext, MissingCredentials } from "../protocols/protocol.ts";
import { bearer, getProviderInfo, type KeyHeader } from "../providers/index.ts";
import type { HttpRequest } from "../transport/http.ts";
import { describeMissingKey } from "./env-keys.ts";

/** The key, or undefined if the provider needs none. Throws `MissingCredentials` if a required key is missing. */
export function requireApiKey(auth: AuthContext): string | undefined {
  if (auth.apiKey) return auth.apiKey;
  if (getProviderInfo(auth.model.provider)?.keyless) return undefined;
  throw new MissingCredentials(describeMissingKey(auth.model.provider, auth.options));
}

/** Adds the key in the provider's own header, or in `defaultHeader` if the provider has none. A bearer token has its own. */
export function withApiKey(request: HttpRequest, auth: AuthContext, defaultHeader: KeyHeader = bearer): HttpRequest {
  const key = requireApiKey(auth);
  const { keyHeader = defaultHeader, tokens = [] } = getProviderInfo(auth.model.provider) ?? {};
  const { name, prefix } = tokens.some((variable) => auth.env(variable) === key) ? bearer : keyHeader;
  return key === undefined ? request : withHeader(request, name, prefix + key);
}

export const withHeader = (request: HttpRequest, name: string, value: string): HttpRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});
