/** Keeps the secrets of a login out of texts: a server may repeat what it was sent. */
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/client";

/** A shorter text would be found by chance. */
const minSecretLength = 6;

export class Secrets {
  readonly #values = new Set<string>();

  add(...values: readonly (string | undefined)[]): void {
    for (const value of values) if (value !== undefined && value.length >= minSecretLength) this.#values.add(value);
  }

  addLogin(tokens: OAuthTokens | undefined, client: OAuthClientInformationMixed | undefined): void {
    this.add(tokens?.access_token, tokens?.refresh_token, tokens?.id_token, client?.client_secret);
  }

  hide(text: string): string {
    let hidden = text;
    for (const value of this.#values)
      for (const form of new Set([value, encodeURIComponent(value)])) hidden = hidden.replaceAll(form, "[hidden]");
    return hidden;
  }
}
