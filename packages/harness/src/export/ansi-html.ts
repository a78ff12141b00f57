/** What a program wrote to a terminal, as HTML: colours become classes, every other escape sequence is left out. */
import { escapeSequence, html } from "./text.ts";

export function ansiHtml(text: string): string {
  const parts: string[] = [];
  let classes = "";
  let from = 0;
  const write = (end: number) => {
    const shown = html(text.slice(from, end));
    if (shown) parts.push(classes ? `<span class="${classes}">${shown}</span>` : shown);
  };
  let style: Style = plain;
  for (const found of text.matchAll(escapeSequence)) {
    write(found.index);
    from = found.index + found[0].length;
    if (found[2] !== "m") continue;
    style = restyle(style, found[1] ?? "");
    classes = getClasses(style);
  }
  write(text.length);
  return parts.join("");
}

interface Style {
  /** 0 to 15. */
  colour: number | undefined;
  isBold: boolean;
  isDim: boolean;
  isItalic: boolean;
  isUnderlined: boolean;
}

const plain: Style = { colour: undefined, isBold: false, isDim: false, isItalic: false, isUnderlined: false };

function restyle(style: Style, parameters: string): Style {
  const codes = parameters.slice(0, 256).split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    // A colour by number or by its parts; its own parameters are no codes. Only the sixteen names have classes.
    const length = code === 38 || code === 48 || code === 58 ? (codes[at + 1] === 5 ? 2 : 4) : 0;
    if (code === 38) style = { ...style, colour: length === 2 ? named(codes[at + 2]) : undefined };
    else if (length === 0) style = { ...style, ...change(code) };
    at += length;
  }
  return style;
}

const named = (colour: number | undefined) => (colour !== undefined && colour < 16 ? colour : undefined);

function change(code: number): Partial<Style> {
  if (code >= 30 && code <= 37) return { colour: code - 30 };
  if (code >= 90 && code <= 97) return { colour: code - 82 };
  return changes[code] ?? {};
}

const changes: Readonly<Record<number, Partial<Style>>> = {
  0: plain,
  1: { isBold: true },
  2: { isDim: true },
  3: { isItalic: true },
  4: { isUnderlined: true },
  22: { isBold: false, isDim: false },
  23: { isItalic: false },
  24: { isUnderlined: false },
  39: { colour: undefined },
};

const getClasses = ({ colour, isBold, isDim, isItalic, isUnderlined }: Style): string =>
  [
    colour !== undefined && Number.isInteger(colour) && colour >= 0 && `c${colour}`,
    isBold && "bold",
    isDim && "dim",
    isItalic && "italic",
    isUnderlined && "underline",
  ]
    .filter(Boolean)
    .join(" ");
