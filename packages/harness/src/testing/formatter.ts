/** Formats texts for the lines of a transcript: the same on every machine, on one line, and never very long. Pure. */
import { tmpdir } from "node:os";
import { join } from "node:path";

interface FormatterOptions {
  /** Texts that differ from run to run, and their replacements. Only whole paths and words are replaced. */
  names: ReadonlyMap<string, string>;
  /** Longer texts are cut. */
  maxCharacters: number;
}

export interface Formatter {
  text(text: string): string;
  /** JSON on one line. */
  json(value: unknown): string;
}

export function createFormatter({ names, maxCharacters }: FormatterOptions): Formatter {
  const replaceNames = createReplacement(names);
  const cut = (text: string) => cutText(text, maxCharacters);
  return {
    // Cut after names are replaced and before characters are escaped, so that their lengths do not change what is shown.
    text: (text) => escapeHidden(cut(replaceNames(text)), /[\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu),
    json: (value) => {
      const json = JSON.stringify(value, (_key, inner: unknown) =>
        typeof inner === "string" ? replaceNames(inner) : inner,
      );
      // JSON has already escaped backslashes.
      return escapeHidden(cut(json ?? ""), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu);
    },
  };
}

function createReplacement(names: ReadonlyMap<string, string>): (text: string) => string {
  // The longest first, because a directory may be inside another.
  const known = [...names.keys()].filter((name) => name !== "").sort((a, b) => b.length - a.length);
  // The files that hold results which are too long for a request.
  const temporary = escapePattern(join(tmpdir(), "tau-"));
  const saved = new RegExp(`${temporary}(?:results-\\w{6}/result-[\\w-]+\\.txt|\\d+-[a-z]+-[\\w-]+\\.log)`, "g");
  const withoutSaved = (text: string) => text.replace(saved, "<saved result>");
  if (known.length === 0) return withoutSaved;
  const any = known.map(escapePattern).join("|");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_.-])(?:${any})(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}_])`, "gu");
  return (text) => withoutSaved(text).replace(pattern, (name) => names.get(name) ?? name);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Counts code points, so that none is cut in two. */
function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const characters = [...text];
  const missing = characters.length - maxCharacters;
  return missing > 0 ? `${characters.slice(0, maxCharacters).join("")}… (${missing} more)` : text;
}

const shortEscapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const escapeHidden = (text: string, hidden: RegExp): string =>
  // The joiner of an emoji is visible as that emoji.
  text.replace(hidden, (found) => (found === "\u200d" ? found : (shortEscapes[found] ?? formatEscape(found))));

function formatEscape(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16);
  if (digits.length <= 2) return `\\x${digits.padStart(2, "0")}`;
  return digits.length <= 4 ? `\\u${digits.padStart(4, "0")}` : `\\u{${digits}}`;
}
