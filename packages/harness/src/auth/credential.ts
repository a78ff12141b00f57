/** What `auth.json` holds for a provider. Fields that are not known here are kept as they are. */
import type { FieldProblem, Fields, ReadContext } from "../fields/field.ts";
import { decimal, map, object, oneOf, optional, text } from "../fields/kinds.ts";
import { formatFieldProblem } from "../fields/problem.ts";

export interface ApiKeyCredential {
  type: "api_key";
  /** The key itself, or `$VAR`, `${VAR}`, or `!command`. A literal `$` is written `$$`, a literal first `!` is `$!`. */
  key?: string;
  /** Looked at before the environment, for the variables of `key` and those that a provider reads. */
  env?: Record<string, string>;
  /** The host the key was given for, where it is not the provider's own. */
  host?: string;
  [field: string]: unknown;
}

export interface OAuthCredential {
  type: "oauth";
  access: string;
  /** Empty where the server gave none. */
  refresh: string;
  /** When `access` ends, in milliseconds since the epoch. */
  expires: number;
  /** How long `access` was good for when it was given, in seconds. */
  expires_in?: number;
  /** The host the token was given for, where it is not the provider's own. */
  host?: string;
  [field: string]: unknown;
}

export type Credential = ApiKeyCredential | OAuthCredential;

const shared = { host: optional(text) };

/** What is checked of each type. */
const fieldsOfType = {
  api_key: { ...shared, type: oneOf("api_key"), key: optional(text), env: optional(map(text)) },
  oauth: {
    ...shared,
    type: oneOf("oauth"),
    access: text,
    refresh: text,
    expires: decimal({ min: 0, unit: "milliseconds since 1970" }),
    expires_in: optional(decimal({ min: 0, unit: "seconds" })),
  },
};

export type ParsedCredential = { kind: "good"; credential: Credential } | { kind: "bad"; problem: FieldProblem };

/** The entry of a provider. A problem has the provider at the beginning of its path. */
export function parseCredential(provider: string, entry: unknown): ParsedCredential {
  const problems: FieldProblem[] = [];
  const context: ReadContext = { path: [provider], report: (problem) => problems.push(problem) };
  const type = object({ type: oneOf("api_key", "oauth") }).read(entry, context)?.type;
  if (type) object<Fields>(fieldsOfType[type]).read(entry, context);
  const problem = problems.find(({ kind }) => kind !== "unknown_field");
  if (problem) return { kind: "bad", problem };
  // Also fields that are not known here. Null stands for a field that is left out.
  const known = Object.entries(structuredClone(entry) as Credential).filter(([, value]) => value !== null);
  return { kind: "good", credential: Object.fromEntries(known) as Credential };
}

/** A sentence that does not repeat anything secret. */
export const formatCredentialProblem = (problem: FieldProblem): string =>
  formatFieldProblem(problem, { showValues: false });
