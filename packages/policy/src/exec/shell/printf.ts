/** Predicts the output of `printf` and `echo`. Pure. */
import { concat, emptyText, isKnown, joinOrigins, known, unknown, type Options, type Text } from "./text.ts";

const maxRounds = 64;

export function formatPrintf(args: readonly Text[]): Text {
  const [format = emptyText, ...values] = args[0]?.text === "--" ? args.slice(1) : args;
  if (!isKnown(format.text)) return unknown(joinOrigins(args));
  let rest = values;
  let output = known("", format.origin);
  for (let round = 0; round === 0 || (rest.length > 0 && round < maxRounds); round++) {
    let used = 0;
    const pieces = format.text.matchAll(
      /%(?:%|[-+ #0]*(?:\*|\d+)?(?:\.\d+)?([a-zA-Z])|\([^)]*\)T)|\\(?:x[\da-fA-F]{1,2}|[0-7]{1,3}|u[\da-fA-F]{1,4}|U[\da-fA-F]{1,8}|.)|[^%\\]+|./gs,
    );
    for (const [piece, conversion] of pieces) {
      if (piece === "%%") output = concat(output, known("%"));
      else if (conversion) output = concat(output, convert(piece, conversion, rest[used++] ?? emptyText));
      else output = concat(output, known(piece[0] === "\\" ? unescape(piece) : piece));
    }
    if (used === 0) break;
    rest = rest.slice(used);
  }
  return output;
}

function convert(piece: string, conversion: string, value: Text): Text {
  if (!isKnown(value.text)) return value;
  const isPlain = piece.length === 2;
  if (conversion === "s" || conversion === "q")
    return isPlain ? value : known(toWidth(piece, value.text), value.origin);
  if (conversion === "b") return { ...value, text: unescapeAll(value.text) };
  if (conversion === "c") return { ...value, text: value.text.slice(0, 1) };
  const quoted = /^['"](.)/su.exec(value.text);
  const number = quoted ? quoted[1]!.codePointAt(0)! : Number(value.text || "0");
  if (!Number.isFinite(number)) return unknown(value.origin);
  const digits =
    conversion === "x"
      ? number.toString(16)
      : conversion === "X"
        ? number.toString(16).toUpperCase()
        : conversion === "o"
          ? number.toString(8)
          : String(number);
  return known(toWidth(piece, digits), value.origin);
}

function toWidth(piece: string, text: string): string {
  const [, flags = "", width, precision] = /^%([-+ #0]*)(\d+)?(?:\.(\d+))?/.exec(piece)!;
  const cut = precision !== undefined && piece.endsWith("s") ? text.slice(0, Number(precision)) : text;
  const size = Math.min(Number(width ?? 0), 1_024);
  if (flags.includes("-")) return cut.padEnd(size);
  return cut.padStart(size, flags.includes("0") ? "0" : " ");
}

/** With and without escapes, where the shells differ. */
export function formatEcho(args: readonly Text[]): Options<Text> {
  let index = 0;
  let hasEscapes = false;
  let isOpen = true;
  for (; index < args.length && /^-[neE]+$/.test(args[index]!.text); index++) {
    if (args[index]!.text.includes("e")) hasEscapes = true;
    if (args[index]!.text.includes("n")) isOpen = false;
  }
  const words = args.slice(index);
  const text = words.reduce((all, word, at) => concat(at > 0 ? concat(all, known(" ")) : all, word), emptyText);
  const end = known(isOpen ? "\n" : "");
  const escaped = concat({ ...text, text: unescapeAll(text.text) }, end);
  if (hasEscapes || !text.text.includes("\\")) return [escaped];
  return [concat(text, end), escaped];
}

export const unescapeAll = (text: string): string =>
  text.replace(/\\(?:x[\da-fA-F]{1,2}|0?[0-7]{1,3}|u[\da-fA-F]{1,4}|U[\da-fA-F]{1,8}|.)/gs, unescape);

const simple: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  c: "",
};

function unescape(escape: string): string {
  const body = escape.slice(1);
  if (/^[xuU]./.test(body)) {
    const code = Number.parseInt(body.slice(1), 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : "";
  }
  if (/^[0-7]/.test(body)) return String.fromCharCode(Number.parseInt(body, 8) & 0xff);
  return simple[body] ?? escape;
}
