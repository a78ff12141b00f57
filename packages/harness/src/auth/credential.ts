/** What `auth.json` holds for a provider. Fields that are not known here are kept as they are. */
import { isRecord } from "@tau/ai";
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

/** The field that is wrong and what it should be, if the entry cannot be used. Never its value. */
export type ParsedCredential =
  | { kind: "good"; credential: Credential }
  | { kind: "bad"; field: string | undefined; wanted: string };

export function parseCredential(value: unknown): ParsedCredential {
  if (!isRecord(value)) return bad(undefined, 'an object with a "type"');
  const field = Object.hasOwn(value, "type") ? value["type"] : undefined;
  if (field !== "api_key" && field !== "oauth") return bad("type", '"api_key" or "oauth"');
  if (!isAbsentOr(value["host"], isText)) return bad("host", "a host such as api.example.com");
  if (field === "api_key") {
    if (!isAbsentOr(value["key"], isText)) return bad("key", "a string");
    if (!isAbsentOr(value["env"], isTexts)) return bad("env", "an object of strings");
  } else {
    for (const name of ["access", "refresh"]) if (!isText(value[name])) return bad(name, "a string");
    if (!Number.isFinite(value["expires"])) return bad("expires", "a time in milliseconds since 1970");
    if (!isAbsentOr(value["expires_in"], Number.isFinite)) return bad("expires_in", "a number of seconds");
  }
  return { kind: "good", credential: structuredClone(value) as Credential };
}

const bad = (field: string | undefined, wanted: string): ParsedCredential => ({ kind: "bad", field, wanted });

const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown) => isRecord(value) && Object.values(value).every(isText);
const isAbsentOr = (value: unknown, test: (value: unknown) => boolean) => value === undefined || test(value);
