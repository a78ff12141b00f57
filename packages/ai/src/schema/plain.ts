/**
 * Checks for schemas that say only simple things, as those of most tools do. They spare the engine, which is more to load
 * than everything else that a first call needs. A check only ever says yes where the engine would: what it refuses, and
 * every schema that it does not know all words of, is the engine's to judge.
 */
import { isRecord } from "../is-record.ts";

/** True: the value is valid. False: the engine has to say. */
export type PlainCheck = (value: unknown) => boolean;

/** Undefined for a schema that says more than is understood here. */
export function plainCheck(schema: unknown): PlainCheck | undefined {
  if (!isRecord(schema) || Object.keys(schema).some((word) => !known.has(word))) return undefined;
  const checks: PlainCheck[] = [];
  for (const word of Object.keys(rules) as (keyof typeof rules)[]) {
    if (!Object.hasOwn(schema, word)) continue;
    const check = rules[word](schema[word], schema);
    if (!check) return undefined;
    checks.push(check);
  }
  return all(checks);
}

/** Loops, here and below: this runs for every call of a tool, mostly before V8 has optimised it. */
function all(checks: readonly PlainCheck[]): PlainCheck {
  if (checks.length === 1) return checks[0]!;
  return (value) => {
    for (let at = 0; at < checks.length; at++) if (!checks[at]!(value)) return false;
    return true;
  };
}

const types: Readonly<Record<string, PlainCheck>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number" && Number.isFinite(value),
  integer: (value) => typeof value === "number" && Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isRecord,
};

/** What each word means, or undefined where it says something unusual. */
const rules = {
  type: (type: unknown) => (typeof type === "string" && Object.hasOwn(types, type) ? types[type] : undefined),
  enum: (values: unknown) =>
    Array.isArray(values) && values.every(isSimple) ? (value: unknown) => values.includes(value) : undefined,
  minimum: (least: unknown) =>
    typeof least === "number" ? (value: unknown) => typeof value !== "number" || value >= least : undefined,
  exclusiveMinimum: (least: unknown) =>
    typeof least === "number" ? (value: unknown) => typeof value !== "number" || value > least : undefined,
  maximum: (most: unknown) =>
    typeof most === "number" ? (value: unknown) => typeof value !== "number" || value <= most : undefined,
  minItems: (least: unknown) =>
    typeof least === "number" ? (value: unknown) => !Array.isArray(value) || value.length >= least : undefined,
  // How long a text is, is a matter of what counts as a letter; whether it is empty is not.
  minLength: (least: unknown) =>
    least === 0 || least === 1 ? (value: unknown) => typeof value !== "string" || value.length >= least : undefined,
  anyOf: (members: unknown) => {
    const checks = Array.isArray(members) ? members.map(plainCheck) : [undefined];
    return checks.every((check) => check !== undefined)
      ? (value: unknown) => checks.some((check) => check(value))
      : undefined;
  },
  required: (names: unknown) => {
    if (!Array.isArray(names) || !names.every((name) => typeof name === "string")) return undefined;
    return (value: unknown) => {
      if (!isRecord(value)) return true;
      for (let at = 0; at < names.length; at++) if (!Object.hasOwn(value, names[at]!)) return false;
      return true;
    };
  },
  properties: checkProperties,
  additionalProperties: (said: unknown, { properties = {} }: Record<string, unknown>) => {
    if (said === true) return () => true;
    if (said !== false || !isRecord(properties)) return undefined;
    return (value: unknown) => !isRecord(value) || Object.keys(value).every((name) => Object.hasOwn(properties, name));
  },
  items: (items: unknown) => {
    const check = plainCheck(items);
    return check && ((value: unknown) => !Array.isArray(value) || value.every(check));
  },
} satisfies Record<string, (said: unknown, schema: Record<string, unknown>) => PlainCheck | undefined>;

/** These say nothing about a value. */
const remarks = ["title", "description", "default", "examples", "$comment"];
const known = new Set([...Object.keys(rules), ...remarks]);

const isSimple = (value: unknown): boolean => typeof value === "string" || typeof value === "boolean" || value === null;

function checkProperties(properties: unknown): PlainCheck | undefined {
  if (!isRecord(properties)) return undefined;
  const names = Object.keys(properties);
  const checks: PlainCheck[] = [];
  for (const name of names) {
    const check = plainCheck(properties[name]);
    if (!check) return undefined;
    checks.push(check);
  }
  return (value) => {
    if (!isRecord(value)) return true;
    for (let at = 0; at < names.length; at++) {
      const name = names[at]!;
      if (Object.hasOwn(value, name) && !checks[at]!(value[name])) return false;
    }
    return true;
  };
}
