/** An entry of `auth.json`. Unknown fields are kept. */
import type { FieldProblem, Fields, ReadContext } from "../fields/field.ts";
import { decimal, map, object, oneOf, optional, text } from "../fields/kinds.ts";
import { formatFieldProblem } from "../fields/problem.ts";

export interface ApiKeyCredential {
  type: "api_key";
  /** The key itself, or `$VAR`, `${VAR}`, or `!command`. A literal `$` is written `$$`, a literal first `!` is `$!`. */
  key?: string;
  /** Has precedence over the environment, for the variables of `key` and those of the provider. */
  env?: Record<string, string>;
  /** The host that the key is for, if it is not the provider's own. */
  host?: string;
  [field: string]: unknown;
}

export interface OAuthCredential {
  type: "oauth";
  access: string;
  /** Empty if the server gave none. */
  refresh: string;
  /** When `access` expires, in milliseconds since the epoch. */
  expires: number;
  /** The lifetime of `access`, in seconds. */
  expires_in?: number;
  /** The host that the token is for, if it is not the provider's own. */
  host?: string;
  [field: string]: unknown;
}

export type Credential = ApiKeyCredential | OAuthCredential;

const shared = { host: optional(text) };

/** The fields that are checked. */
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

export type ParsedCredential = { kind: "credential"; credential: Credential } | { kind: "bad"; problem: FieldProblem };

/** The entry of a provider. A problem has the provider at the beginning of its path. */
export function parseCredential(provider: string, entry: unknown): ParsedCredential {
  const problems: FieldProblem[] = [];
  const context: ReadContext = { path: [provider], report: (problem) => problems.push(problem) };
  const type = object({ type: oneOf("api_key", "oauth") }).read(entry, context)?.type;
  if (type) object<Fields>(fieldsOfType[type]).read(entry, context);
  const problem = problems.find(({ kind }) => kind !== "unknown_field");
  if (problem) return { kind: "bad", problem };
  // Unknown fields are kept. Null stands for a field that is left out.
  const known = Object.entries(structuredClone(entry) as Credential).filter(([, value]) => value !== null);
  return { kind: "credential", credential: Object.fromEntries(known) as Credential };
}

/** A sentence that does not repeat anything secret. */
export const formatCredentialProblem = (problem: FieldProblem): string =>
  formatFieldProblem(problem, { showValues: false });
