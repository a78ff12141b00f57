/** Brackets around parts of formulas, as high as these. Pure. */
import { type Box, isOneLine, joinBeside, type TallBracket, toBox, toTall } from "./box.ts";

const toBracket = ([top = "", between = "", bottom = "", middle = between]: string): TallBracket => ({
  top,
  between,
  bottom,
  middle,
});

const tall = new Map(
  Object.entries({
    "(": "⎛⎜⎝",
    ")": "⎞⎟⎠",
    "[": "⎡⎢⎣",
    "]": "⎤⎥⎦",
    "{": "⎧⎪⎩⎨",
    "}": "⎫⎪⎭⎬",
    "|": "│││",
    "‖": "║║║",
    "⌊": "⎢⎢⎣",
    "⌋": "⎥⎥⎦",
    "⌈": "⎡⎢⎢",
    "⌉": "⎤⎥⎥",
  }).map(([bracket, parts]) => [bracket, toBracket(parts)]),
);

/** Empty brackets are none. `gap` is between them and what they enclose. */
export function enclose(open: string, body: Box, close: string, gap = ""): Box {
  const isBrace = open === "{" || close === "}";
  const inner = isBrace && body.lines.length % 2 === 0 ? insertMiddle(body) : body;
  const draw = (bracket: string): Box[] => {
    const parts = tall.get(bracket);
    if (bracket === "") return [];
    return [isOneLine(inner) || !parts ? toBox(bracket) : toTall(parts, inner)];
  };
  const blank = toBox(gap);
  return joinBeside([
    ...draw(open),
    ...(open === "" ? [] : [blank]),
    inner,
    ...(close === "" ? [] : [blank]),
    ...draw(close),
  ]);
}

/** A brace has a tip, for which there has to be a line. */
function insertMiddle({ lines, width }: Box): Box {
  const half = lines.length / 2;
  return { lines: [...lines.slice(0, half), " ".repeat(width), ...lines.slice(half)], baseline: half, width };
}

/** Brackets around a text of several characters that could be read together with what follows. */
export const parenthesize = (text: string): string => (isSimple(text) ? text : `(${text})`);

const isSimple = (text: string): boolean =>
  /^[\p{L}\p{M}\p{N}.′∞]*$/u.test(text) || [...text].length === 1 || isInBrackets(text);

function isInBrackets(text: string): boolean {
  if (!/^\(.*\)$/.test(text)) return false;
  let depth = 0;
  for (const [index, character] of [...text].entries()) {
    if (character === "(") depth++;
    else if (character === ")" && --depth === 0) return index === [...text].length - 1;
  }
  return false;
}
