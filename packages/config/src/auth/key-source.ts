/** Where keys are written. */

/** Where a key is from, in order of precedence. */
export type KeySource = "explicit" | "settings" | "stored" | "models" | "environment";

/** Several keys of a provider, of which one is used. */
export interface KeyList {
  /** The keys as written: a key, `$VAR`, `${VAR}` or `!command`. All are from files of the user. */
  written: readonly string[];
  /** The base URL that the user's files have for the provider. Default: the provider's own hosts. */
  host?: string;
  /** Picks one of the keys that could be resolved, at least one. */
  pick: (keys: readonly string[]) => string;
}

/** A key in the models file. */
export interface ModelsKey {
  /** The key as written: a key, `$VAR`, `${VAR}` or `!command`. */
  key: string;
  /** The base URL in the same entry. Default: the provider's own hosts. */
  host?: string;
  /** Whether it is from the user's own file, so that a command may run. Default false. */
  isOwn?: boolean;
  /** Where it is written, for messages. Default: models.json. */
  place?: string;
}
