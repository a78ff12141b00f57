/** Takes secrets out of data that is to be written down, and makes plain JSON of it. Pure, but for getters it calls. */
import { plainView } from "./plain-view.ts";
import { secretForms } from "./secret-forms.ts";
import { announcesSecret, fields, isSecretName, looks } from "./secret-looks.ts";

/** Stands for what was taken out. */
export const mark = "[secret]";

export interface RedactLimits {
  /** How deep objects are followed. Default 12. */
  depth?: number;
  /** How many values are looked at. Default 10,000. */
  values?: number;
  /** How many characters of all strings together are kept. Default 256 Ki. */
  characters?: number;
}

export interface Redactor {
  /** Never throws. */
  redact(value: unknown): unknown;
  /** Whether a text holds one of the secrets in any of its forms. */
  holdsSecret(text: string): boolean;
}

const defaults: Required<RedactLimits> = { depth: 12, values: 10_000, characters: 256 * 1024 };

/**
 * A copy of `value` as JSON can hold it, without secrets: those that are known, in the forms of `secretForms`, also in
 * keys; what fields hold whose names say so; what looks like a well-known key. What is too deep, too much or cannot be
 * read is named instead. Secrets shorter than 8 characters are not looked for.
 */
export const redact = (value: unknown, secrets: Iterable<string>): unknown => createRedactor(secrets).redact(value);

/** For many values: finds out only once how the secrets are written. */
export function createRedactor(secrets: Iterable<string>, limits: RedactLimits = {}): Redactor {
  const forms = [...new Set([...secrets].flatMap(secretForms))];
  const bounds = { ...defaults, ...limits };
  return {
    redact: (value) => createWalk(forms, bounds)(value, 0),
    holdsSecret: (text) => forms.some((form) => text.includes(form)),
  };
}

type Walk = (value: unknown, depth: number) => unknown;

function createWalk(forms: readonly string[], bounds: Required<RedactLimits>): Walk {
  let values = 0;
  let characters = bounds.characters;
  const above = new Set<object>();
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
      // Whatever a getter or a proxy throws may hold anything: only that it threw is said.
      return error instanceof RangeError ? "[too deep]" : "[unreadable]";
    }
  };

  const numberOrMark = (value: number) => {
    const text = clean(String(value));
    return text === String(value) && Number.isFinite(value) ? value : text;
  };

  const follow = (value: object, depth: number, work: () => unknown): unknown => {
    if (above.has(value)) return "[circular]";
    if (depth >= bounds.depth) return "[deeper]";
    above.add(value);
    try {
      return work();
    } finally {
      above.delete(value);
    }
  };

  const list = (items: Iterable<unknown>, depth: number): unknown[] => {
    const out: unknown[] = [];
    const isPair = Array.isArray(items) && items.length === 2;
    let before: unknown;
    for (const item of items) {
      if (++values > bounds.values || characters <= 0) return [...out, "[more]"];
      out.push(typeof item === "string" && announcesSecret(before, isPair) ? mark : walk(item, depth));
      before = item;
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

/** How much further than it is kept a text is read, so that no secret is cut in two and half of it kept. */
const lookahead = 4096;

/** The first `most` characters without secrets, and how many there would be more. */
export function cleanText(text: string, forms: readonly string[], most: number): { kept: string; left: number } {
  const longest = forms.reduce((length, form) => Math.max(length, form.length), 0);
  const seen = text.length > most + lookahead + longest ? text.slice(0, most + lookahead + longest) : text;
  const ranges = [...knownRanges(seen, forms), ...guessedRanges(seen)];
  if (ranges.length === 0 && seen.length <= most) return { kept: seen, left: 0 };
  ranges.sort((a, b) => a.from - b.from);
  let kept = "";
  let at = 0;
  for (const { from, to } of ranges) {
    if (from >= most) break;
    if (to <= at) continue;
    if (from >= at) kept += seen.slice(at, from) + mark;
    at = to;
  }
  if (at < most) kept += seen.slice(at, most);
  return { kept, left: Math.max(0, text.length - Math.max(at, most)) };
}

interface Range {
  from: number;
  to: number;
}

function* knownRanges(text: string, forms: readonly string[]): Generator<Range> {
  for (const form of forms) {
    // One letter further each time: a secret may begin in the middle of itself.
    for (let from = text.indexOf(form); from !== -1; from = text.indexOf(form, from + 1))
      yield { from, to: from + form.length };
  }
}

function* guessedRanges(text: string): Generator<Range> {
  if (text.length < 12) return;
  for (const look of [...looks, ...fields]) {
    for (const match of text.matchAll(look)) {
      const to = match.index + match[0].length;
      yield { from: match.index + (match[1]?.length ?? 0), to };
    }
  }
}
