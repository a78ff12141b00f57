/** Removes secrets from data for a log, and converts it to plain JSON. Pure, except for getters that it calls. */
import { plainView } from "./plain-view.ts";
import { getSecretForms } from "./secret-forms.ts";
import { isSecretLabel, isSecretName, keyPatterns, secretFieldPatterns } from "./secret-patterns.ts";

/** Replaces a secret. */
export const mark = "[secret]";

interface RedactLimits {
  /** The depth up to which objects are copied. */
  depth: number;
  /** The most values. */
  values: number;
  /** The most characters of all strings together. */
  characters: number;
}

export interface Redactor {
  /**
   * A copy of `value` as plain JSON, without secrets: known secrets in all forms of `getSecretForms`, also in names of
   * fields; values of fields with names such as `password`; texts that look like well-known keys. Parts that are too deep,
   * too large or unreadable are replaced by a note. Never throws.
   */
  redact(value: unknown): unknown;
  /** Whether a text has one of the secrets, in any form. */
  hasSecret(text: string): boolean;
}

/** Computes the forms of the secrets once. Secrets of fewer than 8 characters are not searched. */
export function createRedactor(secrets: Iterable<string>, limits: RedactLimits): Redactor {
  const forms = [...new Set([...secrets].flatMap(getSecretForms))];
  return {
    redact: (value) => createWalk(forms, limits)(value, 0),
    hasSecret: (text) => forms.some((form) => text.includes(form)),
  };
}

type Walk = (value: unknown, depth: number) => unknown;

function createWalk(forms: readonly string[], bounds: RedactLimits): Walk {
  let values = 0;
  let characters = bounds.characters;
  const ancestors = new Set<object>();
  const isNumberSecret = forms.some((form) => /^[\d.e+-]+$/i.test(form));

  const clean = (text: string): string => {
    const { kept, left } = cleanText(text, forms, characters);
    characters -= kept.length;
    return left === 0 ? kept : `${kept}… (${left} more characters)`;
  };

  const walk: Walk = (value, depth) => {
    if (typeof value === "string") return clean(value);
    if (value === null || value === undefined || typeof value === "boolean") return value;
    if (typeof value === "number") return isNumberSecret || !Number.isFinite(value) ? numberOrMark(value) : value;
    if (++values > bounds.values || characters <= 0) return "[more]";
    try {
      const view = plainView(value);
      switch (view.kind) {
        case "text":
          return clean(view.text);
        case "list":
        case "fields":
          return follow(value as object, depth, () =>
            view.kind === "list" ? list(view.items, depth + 1) : record(view.entries(), depth + 1),
          );
      }
    } catch (error) {
      // The error is dropped: what a getter or a proxy throws may contain anything.
      return error instanceof RangeError ? "[too deep]" : "[unreadable]";
    }
  };

  const numberOrMark = (value: number) => {
    const text = clean(String(value));
    return text === String(value) && Number.isFinite(value) ? value : text;
  };

  const follow = (value: object, depth: number, work: () => unknown): unknown => {
    if (ancestors.has(value)) return "[circular]";
    if (depth >= bounds.depth) return "[deeper]";
    ancestors.add(value);
    try {
      return work();
    } finally {
      ancestors.delete(value);
    }
  };

  const list = (items: Iterable<unknown>, depth: number): unknown[] => {
    const out: unknown[] = [];
    const isPair = Array.isArray(items) && items.length === 2;
    let previous: unknown;
    for (const item of items) {
      if (++values > bounds.values || characters <= 0) return [...out, "[more]"];
      out.push(typeof item === "string" && isSecretLabel(previous, isPair) ? mark : walk(item, depth));
      previous = item;
    }
    return out;
  };

  const record = (entries: Iterable<readonly [string, () => unknown]>, depth: number): unknown => {
    const out = Object.create(null) as Record<string, unknown>;
    for (const [name, read] of entries) {
      if (++values > bounds.values || characters <= 0) {
        out["…"] = "[more]";
        break;
      }
      let key = clean(name);
      for (let other = 2; Object.hasOwn(out, key); other++) key = `${clean(name)} ${other}`;
      out[key] = field(name, read, depth);
    }
    const label = out["name"] ?? out["key"];
    if (typeof label === "string" && isSecretName(label) && out["value"] !== undefined) out["value"] = mark;
    return out;
  };

  const field = (name: string, read: () => unknown, depth: number): unknown => {
    let value: unknown;
    try {
      value = read();
    } catch (error) {
      void error;
      return "[unreadable]";
    }
    const isNothing = value === null || value === undefined || value === "" || typeof value === "boolean";
    return !isNothing && isSecretName(name) ? mark : walk(value, depth);
  };

  return walk;
}

/** A text is searched this much further than it is kept, so that no part of a secret at the end is kept. */
const lookahead = 4096;

/** The first `maxLength` characters without secrets, and the number of characters after them. */
export function cleanText(text: string, forms: readonly string[], maxLength: number): { kept: string; left: number } {
  const maxFormLength = forms.reduce((length, form) => Math.max(length, form.length), 0);
  const searched =
    text.length > maxLength + lookahead + maxFormLength ? text.slice(0, maxLength + lookahead + maxFormLength) : text;
  const ranges = [...knownRanges(searched, forms), ...guessedRanges(searched)];
  if (ranges.length === 0 && searched.length <= maxLength) return { kept: searched, left: 0 };
  ranges.sort((a, b) => a.from - b.from);
  let kept = "";
  let end = 0;
  for (const { from, to } of ranges) {
    if (from >= maxLength) break;
    if (to <= end) continue;
    if (from >= end) kept += searched.slice(end, from) + mark;
    end = to;
  }
  if (end < maxLength) kept += searched.slice(end, maxLength);
  return { kept, left: Math.max(0, text.length - Math.max(end, maxLength)) };
}

interface Range {
  from: number;
  to: number;
}

function* knownRanges(text: string, forms: readonly string[]): Generator<Range> {
  for (const form of forms) {
    // From the next character each time: occurrences may overlap.
    for (let from = text.indexOf(form); from !== -1; from = text.indexOf(form, from + 1))
      yield { from, to: from + form.length };
  }
}

function* guessedRanges(text: string): Generator<Range> {
  if (text.length < 12) return;
  for (const pattern of [...keyPatterns, ...secretFieldPatterns]) {
    for (const match of text.matchAll(pattern)) {
      const to = match.index + match[0].length;
      yield { from: match.index + (match[1]?.length ?? 0), to };
    }
  }
}
