/**
 * The system's own safe, where there is one. With it, secrets are kept there and `auth.json` only says that they are:
 * `{ "type": "api_key", "keyChain": true }`.
 */
export interface KeyChain {
  /** Undefined when there is nothing under this name. Rejects when the safe cannot be opened. */
  get(service: string, account: string): Promise<string | undefined>;
  set(service: string, account: string, secret: string): Promise<void>;
  /** Does nothing when there is nothing under this name. */
  delete(service: string, account: string): Promise<void>;
}
