/** The arguments of `/name arg "another one"`, and where a template puts them. Pure. */

/**
 * Splits as a shell does: blanks separate, single quotes keep everything, double quotes keep blanks, a backslash keeps
 * the next character. Two things are otherwise, because people write prose here: an apostrophe inside a word (`don't`)
 * is no quote, and neither is a quote that nothing closes.
 */
export function splitArguments(text: string): string[] {
  const found: string[] = [];
  let current: string | undefined;
  for (let at = 0; at < text.length;) {
    const sign = text[at]!;
    if (/\s/.test(sign)) {
      if (current !== undefined) found.push(current);
      current = undefined;
      at++;
      continue;
    }
    const piece = quotedAt(text, at) ?? escapedAt(text, at) ?? { value: sign, end: at + 1 };
    current = (current ?? "") + piece.value;
    at = piece.end;
  }
  if (current !== undefined) found.push(current);
  return found;
}

interface Piece {
  value: string;
  end: number;
}

function escapedAt(text: string, at: number): Piece | undefined {
  const next = text[at + 1];
  return text[at] === "\\" && next !== undefined ? { value: next, end: at + 2 } : undefined;
}

function quotedAt(text: string, at: number): Piece | undefined {
  const quote = text[at];
  if (quote === "'") {
    if (/[\p{L}\p{N}]/u.test(text[at - 1] ?? "")) return undefined;
    const end = text.indexOf("'", at + 1);
    return end < 0 ? undefined : { value: text.slice(at + 1, end), end: end + 1 };
  }
  if (quote !== '"') return undefined;
  let value = "";
  for (let inside = at + 1; inside < text.length; inside++) {
    const sign = text[inside]!;
    if (sign === '"') return { value, end: inside + 1 };
    const isEscape = sign === "\\" && /["\\$`]/.test(text[inside + 1] ?? "");
    value += isEscape ? text[++inside]! : sign;
  }
  return undefined;
}

/** The other way round: splitting what this returns gives the argument. */
export const quoteArgument = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `"${argument.replaceAll(/["\\$`]/g, "\\$&")}"`;

export interface Filled {
  text: string;
  /** Placeholders without a default whose argument was not given, as they stand in the template, each once. */
  missing: string[];
  /** Whether the template has a place for arguments at all. */
  takesArguments: boolean;
}

/** A default is bounded, so that many that are never closed cost no time. */
const placeholder =
  /\$\{([1-9]\d*|@|ARGUMENTS):-([^}]{0,1000})\}|\$\{@:(\d+)(?::(\d+))?\}|\$(@|ARGUMENTS(?!\w)|[1-9]\d*)/g;

/**
 * Puts arguments into a template: `$1`, `$@` and `$ARGUMENTS` (all, with blanks between), `${@:N}` (from the Nth on),
 * `${@:N:M}` (M of them), `${1:-default}`, `${@:-default}`. What is put in is never looked at again, so an argument
 * cannot ask for another one. There is no escape: a `$` before anything else stays as it is.
 */
export function fillTemplate(template: string, args: readonly string[]): Filled {
  const missing = new Set<string>();
  let takesArguments = false;
  const text = template.replace(
    placeholder,
    (whole, target?: string, otherwise?: string, from?: string, count?: string, plain?: string) => {
      takesArguments = true;
      if (from !== undefined) {
        // Counted from 1; 0 is read as 1, as a shell counts its arguments.
        const start = Math.max(0, Number(from) - 1);
        return args.slice(start, count === undefined ? undefined : start + Number(count)).join(" ");
      }
      const wanted = target ?? plain!;
      const isAll = wanted === "@" || wanted === "ARGUMENTS";
      const value = isAll ? args.join(" ") : args[Number(wanted) - 1];
      if (otherwise !== undefined) return value === undefined || value === "" ? otherwise : value;
      if (value === undefined) missing.add(whole);
      return value ?? "";
    },
  );
  return { text, missing: [...missing], takesArguments };
}
