/** Texts as a line of a transcript shows them: the same on every machine, on one line, and never very long. Pure. */
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ShowOptions {
  /** What differs from run to run, and the name that stands for it. Only whole paths and words are replaced. */
  names: ReadonlyMap<string, string>;
  /** Longer texts are cut. */
  maxCharacters: number;
}

export interface Show {
  text(text: string): string;
  /** As JSON, on one line. */
  json(value: unknown): string;
}

export function createShow({ names, maxCharacters }: ShowOptions): Show {
  const named = createNaming(names);
  const cut = (text: string) => cutTo(text, maxCharacters);
  return {
    // Cut between the two: how long a name or an escape is must not decide what is seen.
    text: (text) => visible(cut(named(text)), /[\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu),
    json: (value) => {
      const plain = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "string" ? named(inner) : inner));
      // JSON has escaped the backslashes itself.
      return visible(cut(plain ?? ""), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu);
    },
  };
}

/** The files that keep what is too long for a request. */
const keptResult = new RegExp(
  `${escaped(join(tmpdir(), "tau-"))}(?:results-\\w{6}/result-[\\w-]+\\.txt|\\d+-[a-z]+-[\\w-]+\\.log)`,
  "g",
);

function createNaming(names: ReadonlyMap<string, string>): (text: string) => string {
  // The longest first: a directory may lie in another.
  const known = [...names.keys()].filter((name) => name !== "").sort((a, b) => b.length - a.length);
  const withoutKept = (text: string) => text.replace(keptResult, "<kept result>");
  if (known.length === 0) return withoutKept;
  const any = known.map(escaped).join("|");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_.-])(?:${any})(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}_])`, "gu");
  return (text) => withoutKept(text).replace(pattern, (found) => names.get(found) ?? found);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** By characters, so that none is cut in two. */
function cutTo(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text];
  const left = characters.length - most;
  return left > 0 ? `${characters.slice(0, most).join("")}… (${left} more)` : text;
}

const short: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const visible = (text: string, hidden: RegExp): string =>
  // What joins an emoji's parts is seen as that emoji.
  text.replace(hidden, (found) => (found === "\u200d" ? found : (short[found] ?? getCode(found))));

function getCode(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16);
  if (digits.length <= 2) return `\\x${digits.padStart(2, "0")}`;
  return digits.length <= 4 ? `\\u${digits.padStart(4, "0")}` : `\\u{${digits}}`;
}
