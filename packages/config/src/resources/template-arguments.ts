/** Splits the arguments of `/name arg "another one"`, and fills them into a template. Pure. */

/**
 * Splits like a shell: at white space, except inside of quotes; a backslash escapes the next character, but not inside of
 * single quotes. It differs from a shell where users write prose: an apostrophe inside of a word (`don't`) is not a quote, and
 * neither is a quote that is not closed.
 */
export function splitArguments(text: string): string[] {
  const args: string[] = [];
  let current: string | undefined;
  for (let index = 0; index < text.length;) {
    const character = text[index]!;
    if (/\s/.test(character)) {
      if (current !== undefined) args.push(current);
      current = undefined;
      index++;
      continue;
    }
    const piece = readQuoted(text, index) ?? readEscaped(text, index) ?? { value: character, end: index + 1 };
    current = (current ?? "") + piece.value;
    index = piece.end;
  }
  if (current !== undefined) args.push(current);
  return args;
}

interface Piece {
  value: string;
  end: number;
}

function readEscaped(text: string, start: number): Piece | undefined {
  const next = text[start + 1];
  return text[start] === "\\" && next !== undefined ? { value: next, end: start + 2 } : undefined;
}

function readQuoted(text: string, start: number): Piece | undefined {
  const quote = text[start];
  if (quote === "'") {
    if (/[\p{L}\p{N}]/u.test(text[start - 1] ?? "")) return undefined;
    const end = text.indexOf("'", start + 1);
    return end < 0 ? undefined : { value: text.slice(start + 1, end), end: end + 1 };
  }
  if (quote !== '"') return undefined;
  let value = "";
  for (let index = start + 1; index < text.length; index++) {
    const character = text[index]!;
    if (character === '"') return { value, end: index + 1 };
    const isEscape = character === "\\" && /["\\$`]/.test(text[index + 1] ?? "");
    value += isEscape ? text[++index]! : character;
  }
  return undefined;
}

/** The inverse: `splitArguments` of the result gives the argument. */
export const quoteArgument = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `"${argument.replaceAll(/["\\$`]/g, "\\$&")}"`;

interface Filled {
  text: string;
  /** Placeholders without an argument and without a default, as written in the template, each once. */
  missing: string[];
  /** Whether the template has any placeholders. */
  takesArguments: boolean;
}

/** The length of a default is limited, so that the expression is fast for many braces that are not closed. */
const placeholder =
  /\$\{([1-9]\d*|@|ARGUMENTS):-([^}]{0,1000})\}|\$\{@:(\d+)(?::(\d+))?\}|\$(@|ARGUMENTS(?!\w)|[1-9]\d*)/g;

/**
 * Fills arguments into a template: `$1`, `$@` and `$ARGUMENTS` (all, separated by spaces), `${@:N}` (from the Nth on),
 * `${@:N:M}` (M of them), `${1:-default}`, `${@:-default}`. Placeholders inside of arguments are not filled. There is no
 * escape: any other `$` stays as it is.
 */
export function fillTemplate(template: string, args: readonly string[]): Filled {
  const missing = new Set<string>();
  let takesArguments = false;
  const text = template.replace(
    placeholder,
    (whole, target?: string, defaultValue?: string, from?: string, count?: string, plain?: string) => {
      takesArguments = true;
      if (from !== undefined) {
        // Counted from 1; 0 counts as 1.
        const start = Math.max(0, Number(from) - 1);
        return args.slice(start, count === undefined ? undefined : start + Number(count)).join(" ");
      }
      const name = target ?? plain!;
      const isAll = name === "@" || name === "ARGUMENTS";
      const value = isAll ? args.join(" ") : args[Number(name) - 1];
      if (defaultValue !== undefined) return value === undefined || value === "" ? defaultValue : value;
      if (value === undefined) missing.add(whole);
      return value ?? "";
    },
  );
  return { text, missing: [...missing], takesArguments };
}
