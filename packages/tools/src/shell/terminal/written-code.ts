/**
 * Finds the code in what is written to a program on a terminal, so that it is judged as a command of `bash` would be. A command that is
 * split over several writes is judged together with what was written before. Pure.
 */
import type { Reader } from "./foreground.ts";
import type { WrittenPart } from "./keys.ts";

/** The text that a program was given before. */
export interface WrittenBefore {
  /** Lines that may decide what later ones do: of a shell those that may change its state, and of others all. */
  readonly kept: string;
  /** The text since the last Enter. */
  readonly line: string;
  /** Whether keys have changed the line, or brought back another one, so that what is in it is not known. */
  readonly isUnknown: boolean;
}

export const nothingBefore: WrittenBefore = { kept: "", line: "", isUnknown: false };

interface WrittenCode {
  /** A command that would do the same; undefined if there is no code in what is written. */
  readonly command: string | undefined;
  /** Why a person has to decide, as a sentence; undefined if nobody has to. */
  readonly doubt: string | undefined;
  /** Once it is written. */
  readonly after: WrittenBefore;
}

/** More cannot be judged together. */
const maxKeptLength = 8_192;

const doubts = {
  line: "Its keys change a line of the program, so that what would be run is not known.",
  history: "An exclamation mark or a caret brings back earlier commands, so that what would be run is not known.",
  length: "So much was written to this program before that it cannot be judged together.",
} as const;

export function readWritten(reader: Reader, before: WrittenBefore, parts: readonly WrittenPart[]): WrittenCode {
  return reader.kind === "screen" ? readScreenKeys(before, parts) : readLines(reader, before, parts);
}

function readLines(
  reader: Exclude<Reader, { kind: "screen" }>,
  before: WrittenBefore,
  parts: readonly WrittenPart[],
): WrittenCode {
  let { kept, line, isUnknown } = before;
  let code = "";
  let doubt: string | undefined;
  const end = () => {
    if (reader.kind === "interpreter" || mayChangeShell(line) || isOpen(kept)) kept = `${kept}${line}\n`;
    code += `${line}\n`;
    [line, isUnknown] = ["", false];
  };
  for (const part of parts) {
    if (part.kind === "text") line += part.text;
    else if (part.name === "enter") {
      if (isUnknown) doubt = doubts.line;
      end();
    } else if (part.name === "ctrl-c") [line, isUnknown] = ["", false];
    // Ctrl-D in a line completes it, or ends it without Enter.
    else if (part.name !== "ctrl-d" || line !== "") [isUnknown, doubt] = [true, doubts.line];
  }
  code += line;
  const isNothing = code.trim() === "";
  const isShell = reader.kind === "shell";
  if (isUnknown && !isNothing) doubt = doubts.line;
  if (isShell && /!(?![\s=(]|$)|^\^/m.test(code)) doubt ??= doubts.history;
  if (kept.length > maxKeptLength) doubt ??= doubts.length;
  const whole = (before.kept + code).slice(-2 * maxKeptLength);
  const command = isNothing ? undefined : isShell ? whole.trimEnd() : `${reader.argv} ${quote(whole.trimEnd())}`;
  return { command, doubt, after: { kept: kept.slice(-maxKeptLength - 1), line, isUnknown } };
}

/** Whether what later lines do may depend on what a line sets or defines, or on what it leaves open. */
const mayChangeShell = (line: string): boolean => setsOrDefines.test(line) || stateWords.test(line) || isOpen(line);

const setsOrDefines = /\(\s*\)|(?:^|[^\w])\w+(?:\[[^\]]*\])?\+?=/;

/** Whether more lines may belong to it. One that is only hard to read counts as open. */
const isOpen = (code: string): boolean =>
  /<<|(?:\\|\||&&)\s*$/.test(code) ||
  ['"', "'", "`"].some((quote) => count(code, quote) % 2 === 1) ||
  pairs.some(([open, close]) => count(code, open) !== count(code, close));

const pairs: readonly (readonly [string | RegExp, string | RegExp])[] = [
  ["(", ")"],
  ["{", "}"],
  ["[", "]"],
  [/\bdo\b/, /\bdone\b/],
  [/\bif\b/, /\bfi\b/],
  [/\bcase\b/, /\besac\b/],
];

const count = (code: string, sign: string | RegExp): number => code.split(sign).length - 1;

const stateWords =
  /(?:^|[\s;&|(){}`'"])(?:\.|cd|pushd|popd|export|declare|typeset|local|readonly|alias|unalias|set|shopt|source|eval|exec|read|mapfile|readarray|trap|enable|hash|unset|function|let|getopts|printf|bind|command|builtin|if|then|else|elif|fi|for|while|until|do|done|case|in|esac|select|coproc|time|umask|PS\d)(?=$|[\s;&|(){}`'"])/;

/** Commands of an editor that only move, search, save, leave or set an option. */
const harmlessCommand =
  /^:(?:\d*|[wqx]a?!?|wqa?!?|xa?!?|qa!?|e!|noh|(?:set|se) [\w=! ]+|[%\d,$]*s\/[^!|`]*|\/.*|\?.*)$/;

/** A pager or an editor runs what follows `!` or `|`, and an editor what follows `:` may be a command of any kind. */
function readScreenKeys(before: WrittenBefore, parts: readonly WrittenPart[]): WrittenCode {
  let { line } = before;
  const commands: string[] = [];
  const look = () => {
    const start = line.trimStart();
    const isCommand = start.startsWith(":") && !harmlessCommand.test(start);
    if (isCommand || /^[!|#]/.test(start) || /:.*(?:!|system\s*\(|\bterm)/.test(start))
      commands.push((/[!|#](.*)$/.exec(start)?.[1] ?? start.replace(/^[^:]*:/, "")).trim());
  };
  for (const part of parts) {
    if (part.kind === "text") line += part.text;
    else if (part.name === "enter" || part.name === "esc" || part.name === "ctrl-c") {
      look();
      line = "";
    }
  }
  const pending = line;
  look();
  const command = commands.filter((text) => text !== "").join("\n");
  return {
    command: command === "" ? undefined : command,
    doubt: undefined,
    after: { kept: "", line: pending.slice(-maxKeptLength), isUnknown: false },
  };
}

const quote = (code: string) => `'${code.replaceAll("'", `'\\''`)}'`;
