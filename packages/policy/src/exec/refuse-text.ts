/** Refuses text that people cannot read as a shell reads it, and text that is too large to analyse. Pure. */

export type Refusal =
  /** The text must not be parsed at all. */
  | { kind: "too_large"; reason: string }
  /** `cleaned` has the same commands without the trick, so that a class can be found for them. */
  | { kind: "unreadable"; reason: string; cleaned: string };

const maxBytes = 65_536;
const maxBlanks = 64;
const maxNesting = 32;
const maxBrackets = 128;
const maxOperators = 2_000;
const maxHereDocuments = 32;
const maxBraces = 512;
const maxBackticks = 64;
const maxQuotes = 1_500;
const maxGlobs = 500;

/** C0 and C1 control characters but tab, newline and a carriage return before a newline; characters that are none. */
// oxlint-disable-next-line no-control-regex
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]|\r(?!\n)/;
/** Bidirectional controls and characters without width. */
const invisible = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;
/** Part of many emoji. */
const joinedEmoji = /(?<=\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})/gu;
const blankLookalikes = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

const longBlanks = new RegExp(`\\S[ \\t]{${maxBlanks + 1}}`);

/** Undefined for text that may be parsed. */
export function refuseText(text: string): Refusal | undefined {
  if (text.length > maxBytes || Buffer.byteLength(text) > maxBytes) {
    return { kind: "too_large", reason: `The command is longer than ${maxBytes} bytes.` };
  }
  const visible = text.includes("\u200d") ? text.replace(joinedEmoji, "") : text;
  const code = removeQuoted(visible);
  const reason =
    findControl(visible) ??
    (blankLookalikes.test(code) ? "The command has blanks that a shell does not treat as blanks." : undefined) ??
    (longBlanks.test(code) ? "The command has a long run of blanks that hides what follows." : undefined);
  const size = findExcess(code);
  if (size) return { kind: "too_large", reason: size };
  return reason ? { kind: "unreadable", reason, cleaned: clean(text) } : undefined;
}

function findControl(text: string): string | undefined {
  const control = controls.exec(text) ?? invisible.exec(text);
  if (!control) return undefined;
  const code = control[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  return `The command has the invisible character U+${code}, so it may read differently from what runs.`;
}

function clean(text: string): string {
  return text
    .replace(/\r(?!\n)/g, "\n")
    .replace(new RegExp(controls, "g"), "")
    .replace(new RegExp(invisible, "gu"), "")
    .replace(new RegExp(blankLookalikes, "g"), " ")
    .replace(/[ \t]{2,}/g, " ");
}

/** Counts what makes parsing and walking expensive. */
function findExcess(code: string): string | undefined {
  let substitutions = 0;
  let operators = 0;
  let hereDocuments = 0;
  let braces = 0;
  let backticks = 0;
  let quotes = 0;
  let globs = 0;
  const open: boolean[] = [];
  for (let index = 0; index < code.length; index++) {
    const char = code[index]!;
    if (char === "(" || char === "{" || char === "[") {
      const isSubstitution = char !== "[" && /[$<>=]/.test(code[index - 1] ?? "");
      open.push(isSubstitution);
      if (isSubstitution) substitutions++;
      if (char !== "[") braces++;
    } else if (char === ")" || char === "}" || char === "]") {
      if (open.pop()) substitutions--;
    } else if (char === "`") backticks++;
    else if (char === '"' || char === "'") quotes++;
    else if (char === "*" || char === "?") globs++;
    else if (char === ";" || char === "|" || char === "&" || char === "\n" || char === "$") operators++;
    else if (char === "<" || char === ">") {
      operators++;
      if (char === "<" && code[index + 1] === "<" && code[index + 2] !== "<") hereDocuments++;
    }
    if (substitutions > maxNesting || open.length > maxBrackets) return "The command is nested too deeply.";
  }
  const isTooLarge =
    operators > maxOperators ||
    hereDocuments > maxHereDocuments ||
    braces > maxBraces ||
    quotes > maxQuotes ||
    globs > maxGlobs ||
    backticks > maxBackticks;
  return isTooLarge ? "The command has too many parts." : undefined;
}

/**
 * Removes what a shell takes as it is: quoted text, and here-documents with a quoted delimiter. It only has to be right for
 * ordinary scripts: what it removes in error is still parsed and judged.
 */
function removeQuoted(text: string): string {
  const code = text.includes("<<") ? removeBodies(text) : text;
  if (!/['"\\]/.test(code)) return code;
  return code.replace(/\\.|'[^']*'|"(?:\\.|[^"\\$`])*"/gs, (part) => (part[0] === "\\" ? part : '""'));
}

/** Each line is looked at once: the body of a here-document is skipped up to its end. */
function removeBodies(text: string): string {
  const kept: string[] = [];
  let delimiter: string | undefined;
  for (const line of text.split("\n")) {
    if (delimiter !== undefined) {
      if (line.trim().replace(/\)+$/, "") === delimiter) delimiter = undefined;
      continue;
    }
    kept.push(line);
    delimiter = /<<-?\s*(?:'([^']{1,64})'|"([^"]{1,64})"|\\(\w{1,64}))/.exec(line)?.slice(1).find(Boolean);
  }
  return kept.join("\n");
}
