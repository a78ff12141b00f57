/** Settings as plain objects: reading, migrating and merging them. */
import { isRecord } from "@tau/ai/internal";
import { applyEdits, modify, parse, type ParseError, printParseErrorCode } from "jsonc-parser";

export type Values = Record<string, unknown>;

/** Throws for a text that is not an object. Comments are allowed. */
export function parseValues(text: string | undefined): Values {
  if (text === undefined || text.trim() === "") return {};
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) throw new SyntaxError(`The settings are not valid JSON: ${printParseErrorCode(error.error)}.`);
  if (!isRecord(value)) throw new SyntaxError("The settings are not a JSON object.");
  return migrate(value);
}

/** Names and forms of earlier versions. */
function migrate({ queueMode, websockets, ...values }: Values): Values {
  const migrated: Values = { ...values };
  if (queueMode !== undefined) migrated["steeringMode"] ??= queueMode;
  if (typeof websockets === "boolean") migrated["transport"] ??= websockets ? "websocket" : "sse";
  const { skills } = migrated;
  if (!isRecord(skills)) return migrated;
  const { enableSkillCommands, customDirectories } = skills;
  delete migrated["skills"];
  if (enableSkillCommands !== undefined) migrated["enableSkillCommands"] ??= enableSkillCommands;
  if (Array.isArray(customDirectories) && customDirectories.length > 0) migrated["skills"] = customDirectories;
  return migrated;
}

/** Objects are merged, everything else is replaced. */
export function mergeValues(base: Values, over: Values): Values {
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    if (value !== undefined) merged[key] = isRecord(value) && isRecord(before) ? mergeValues(before, value) : value;
  }
  return merged;
}

export function getAt(values: Values, path: readonly string[]): unknown {
  let current: unknown = values;
  for (const key of path) current = isRecord(current) ? current[key] : undefined;
  return current;
}

/** A copy with one value changed; undefined removes it. */
export function withValue(values: Values, [key, ...rest]: readonly string[], value: unknown): Values {
  if (key === undefined) return values;
  if (value === undefined && !Object.hasOwn(values, key)) return values;
  const inner = values[key];
  const next = rest.length === 0 ? value : withValue(isRecord(inner) ? inner : {}, rest, value);
  const { [key]: _previous, ...others } = values;
  return next === undefined ? others : { ...values, [key]: next };
}

/** Changes one value in a text and leaves the rest of it, comments too. */
export function editText(text: string, path: readonly string[], value: unknown): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2 };
  return applyEdits(text, modify(text, [...path], value, { formattingOptions }));
}
