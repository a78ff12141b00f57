/** Where a person's text mentions files: `@src/main.ts`, `@"a name with blanks.md"`. Pure. */
import { withoutCode } from "./without-code.ts";

export interface Mention {
  /** As it stands in the text, with the `@`. */
  typed: string;
  /** What may be meant, the likeliest first: punctuation at the end may belong to the sentence. */
  paths: readonly string[];
  /** Whether it can hardly mean anything but a file, so that a missing one is worth a word. */
  isPath: boolean;
}

/** An address has letters before its `@`, and a decorator or a package in pasted code stands between backticks. */
const mention = /(?<=^|[\s([{,;])@(?:"([^"\n]+)"|'([^'\n]+)'|((?:\\.|[^\s"'`\\])(?:\\.|[^\s\\])*))/g;

/** No system takes a longer one. */
const maxPathLength = 4_096;

/** Each path once, in the order of the text. */
export function findMentions(text: string): Mention[] {
  if (!text.includes("@")) return [];
  const prose = withoutCode(text);
  const found = new Map<string, Mention>();
  for (const [typed, double, single, bare] of prose.matchAll(mention)) {
    if (typed.length > maxPathLength) continue;
    const quoted = double ?? single;
    const one = quoted === undefined ? bareMention(bare!) : { typed, paths: [quoted], isPath: true };
    const key = one.paths.at(-1)!;
    if (!found.has(key)) found.set(key, one);
  }
  return [...found.values()];
}

function bareMention(bare: string): Mention {
  const whole = bare.replaceAll(/\\(.)/g, "$1");
  const trimmed = whole.replace(/[.,;:!?)\]}>*_…]+$/, "");
  const paths = trimmed === "" || trimmed === whole ? [whole] : [whole, trimmed];
  return { typed: `@${bare}`, paths, isPath: looksLikePath(paths.at(-1)!) };
}

/** `@Component` and `@scope/name` are no paths; `@./x`, `@src/a/b` and `@notes.md` can hardly be anything else. */
function looksLikePath(path: string): boolean {
  if (/^(?:~\/|\.{0,2}\/)/.test(path)) return true;
  const parts = path.split("/");
  return parts.length > 2 || /^[^.].*\.[A-Za-z]\w{0,4}$/.test(parts.at(-1)!);
}
