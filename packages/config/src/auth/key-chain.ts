/**
 * The key chain of the operating system. With it, secrets are kept there, and the entry in `auth.json` only says so:
 * `{ "type": "api_key", "keyChain": true }`.
 */
export interface KeyChain {
  /** Undefined if there is no such secret. Rejects if the key chain cannot be read. */
  get(service: string, account: string): Promise<string | undefined>;
  set(service: string, account: string, secret: string): Promise<void>;
  /** Does nothing if there is no such secret. */
  delete(service: string, account: string): Promise<void>;
}
