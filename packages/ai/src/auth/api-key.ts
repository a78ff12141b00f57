import { type AuthContext, MissingCredentials } from "../protocols/protocol.ts";
import { bearer, type KeyHeader, providers } from "../providers/index.ts";
import type { HttpRequest } from "../transport/http.ts";
import { missingKeyText } from "./env-keys.ts";

/** The key, or undefined where the provider needs none. Throws when one is needed and missing. */
export function requireApiKey(auth: AuthContext): string | undefined {
  if (auth.apiKey) return auth.apiKey;
  if (providers[auth.model.provider]?.keyless) return undefined;
  throw new MissingCredentials(missingKeyText(auth.model.provider));
}

/** Adds the key where the provider's data says, else where `usual` says. */
export function withApiKey(request: HttpRequest, auth: AuthContext, usual: KeyHeader = bearer): HttpRequest {
  const key = requireApiKey(auth);
  const { name, prefix } = providers[auth.model.provider]?.keyHeader ?? usual;
  return key === undefined ? request : withHeader(request, name, prefix + key);
}

export const withHeader = (request: HttpRequest, name: string, value: string): HttpRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});
