/** Terminal output as HTML: colours become classes, every other escape sequence is removed. */
import { escapeSequence, html } from "./text.ts";

export function ansiHtml(text: string): string {
  const parts: string[] = [];
  let style: Style = plain;
  let start = 0;
  const write = (end: number) => {
    const escaped = html(text.slice(start, end));
    const classes = getClasses(style);
    if (escaped) parts.push(classes ? `<span class="${classes}">${escaped}</span>` : escaped);
  };
  for (const match of text.matchAll(escapeSequence)) {
    const [sequence, parameters = "", command] = match;
    write(match.index);
    start = match.index + sequence.length;
    if (command === "m") style = applyCodes(style, parameters);
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

function applyCodes(style: Style, parameters: string): Style {
  const codes = parameters.slice(0, 256).split(/[;:]/).map(Number);
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index]!;
    // A colour by number (`5;n`) or by its parts (`2;r;g;b`): its parameters are skipped. Only 16 colours have classes.
    const length = code === 38 || code === 48 || code === 58 ? (codes[index + 1] === 5 ? 2 : 4) : 0;
    if (code === 38) style = { ...style, colour: length === 2 ? toNamedColour(codes[index + 2]) : undefined };
    else if (length === 0) style = { ...style, ...getChange(code) };
    index += length;
  }
  return style;
}

const toNamedColour = (colour: number | undefined) => (colour !== undefined && colour < 16 ? colour : undefined);

function getChange(code: number): Partial<Style> {
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
