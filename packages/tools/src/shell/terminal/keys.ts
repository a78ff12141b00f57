/** Text with keys, as a call writes it: `ls -l<enter>`. Pure. */
import { ToolsError } from "../../errors.ts";
import type { TerminalSize } from "./screen.ts";

export type WrittenPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "key"; readonly name: string; readonly bytes: string };

export interface Written {
  readonly parts: readonly WrittenPart[];
  /** The size that the terminal gets first: `<80x24>`. */
  readonly size?: TerminalSize;
}

export const defaultSize: TerminalSize = { columns: 120, rows: 40 };
const maxSize: TerminalSize = { columns: 200, rows: 50 };
const minSize: TerminalSize = { columns: 20, rows: 5 };

/** More than a person would want to judge at once. */
const maxWrittenLength = 8_192;

const fixedKeys: Readonly<Record<string, string>> = {
  enter: "\r",
  tab: "\t",
  esc: "\x1b",
  backspace: "\x7f",
  delete: "\x1b[3~",
  insert: "\x1b[2~",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  home: "\x1b[H",
  end: "\x1b[F",
  pageup: "\x1b[5~",
  pagedown: "\x1b[6~",
  "shift-tab": "\x1b[Z",
  f1: "\x1bOP",
  f2: "\x1bOQ",
  f3: "\x1bOR",
  f4: "\x1bOS",
  f5: "\x1b[15~",
  f6: "\x1b[17~",
  f7: "\x1b[18~",
  f8: "\x1b[19~",
  f9: "\x1b[20~",
  f10: "\x1b[21~",
  f11: "\x1b[23~",
  f12: "\x1b[24~",
};

const otherArrows = new Set("up down left right home end".split(" ").map((name) => fixedKeys[name]!));

/** Some programs ask for other arrows. */
export const toApplicationKey = (bytes: string): string => (otherArrows.has(bytes) ? bytes.replace("[", "O") : bytes);

function findKey(name: string): string | undefined {
  if (Object.hasOwn(fixedKeys, name)) return fixedKeys[name];
  const control = /^ctrl-([a-z\\\]])$/.exec(name)?.[1];
  if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 0x1f);
  const alt = /^alt-([a-z0-9])$/.exec(name)?.[1];
  return alt === undefined ? undefined : `\x1b${alt}`;
}

/** All but tab and line feed. */
// oxlint-disable-next-line no-control-regex
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;

/** `<lt>` is the character `<`. What is no key stays as it is. */
export function parseWritten(written: string): Written {
  if (written.length > maxWrittenLength)
    throw new ToolsError("too_large", `Write at most ${maxWrittenLength} characters at once.`);
  const parts: WrittenPart[] = [];
  let size: TerminalSize | undefined;
  const addText = (typed: string) => {
    const text = typed.replaceAll("\r\n", "\n");
    if (controls.test(text))
      throw new ToolsError("invalid_input", "Write control characters by their keys, such as <ctrl-c> and <esc>.");
    for (const [index, line] of text.split("\n").entries()) {
      if (index > 0) parts.push({ kind: "key", name: "enter", bytes: "\r" });
      for (const [tab, piece] of line.split("\t").entries()) {
        if (tab > 0) parts.push({ kind: "key", name: "tab", bytes: "\t" });
        if (piece !== "") parts.push({ kind: "text", text: piece });
      }
    }
  };
  for (const piece of written.split(/(<[\w\\\]-]{1,12}>)/)) {
    const name = /^<(.+)>$/.exec(piece)?.[1]?.toLowerCase() ?? "";
    const bytes = findKey(name);
    const asked = /^(\d+)x(\d+)$/.exec(name);
    if (bytes !== undefined) parts.push({ kind: "key", name, bytes });
    else if (asked) size = toSize(Number(asked[1]), Number(asked[2]));
    else addText(name === "lt" ? "<" : piece);
  }
  return { parts: joinTexts(parts), ...(size && { size }) };
}

function toSize(columns: number, rows: number): TerminalSize {
  const fits = columns >= minSize.columns && columns <= maxSize.columns && rows >= minSize.rows && rows <= maxSize.rows;
  if (fits) return { columns, rows };
  const range = `${minSize.columns}x${minSize.rows} to ${maxSize.columns}x${maxSize.rows}`;
  throw new ToolsError("invalid_input", `A terminal has ${range} characters, not ${columns}x${rows}.`);
}

function joinTexts(parts: readonly WrittenPart[]): WrittenPart[] {
  const joined: WrittenPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.kind === "text" && last?.kind === "text")
      joined[joined.length - 1] = { kind: "text", text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
}
