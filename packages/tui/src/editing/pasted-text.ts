/** Text that a terminal sends as a bracketed paste. */

const start = "\x1b[200~";
const end = "\x1b[201~";

/** Collects pastes that come in several pieces. */
export class PasteReader {
  #pieces: string[] | undefined;

  /** Splits input into what was typed and what was pasted, in order. An open paste is kept until its end comes. */
  read(data: string): { kind: "typed" | "pasted"; text: string }[] {
    if (this.#pieces) return this.#readPaste(data);
    const index = data.indexOf(start);
    if (index === -1) return data === "" ? [] : [{ kind: "typed", text: data }];
    this.#pieces = [];
    const before = data.slice(0, index);
    const rest = this.#readPaste(data.slice(index + start.length));
    return before === "" ? rest : [{ kind: "typed", text: before }, ...rest];
  }

  #readPaste(data: string): { kind: "typed" | "pasted"; text: string }[] {
    const pieces = this.#pieces as string[];
    // The end may be cut in two.
    const last = pieces.pop() ?? "";
    const tail = last.slice(-(end.length - 1));
    pieces.push(last.slice(0, last.length - tail.length));
    const text = tail + data;
    const index = text.indexOf(end);
    pieces.push(index === -1 ? text : text.slice(0, index));
    if (index === -1) return [];
    this.#pieces = undefined;
    return [{ kind: "pasted", text: pieces.join("") }, ...this.read(text.slice(index + end.length))];
  }
}

const tabBlanks = "    ";

/** Line breaks become `\n`, tabs blanks. */
export const normalizeText = (text: string): string => text.replace(/\r\n?/g, "\n").replaceAll("\t", tabBlanks);

/** Some terminals send control characters in a paste as reports of keys. */
const controlReport = /\x1b\[(\d+);5u/g;
const control = /[\x00-\x09\x0b-\x1f\x7f-\x9f]/g;

/** Without control characters but line breaks. */
export function cleanPaste(text: string): string {
  const decoded = text.replace(controlReport, (whole, code) => {
    const character = Number(code) | 0x20;
    return character >= 0x61 && character <= 0x7a ? String.fromCharCode(character - 0x60) : whole;
  });
  return normalizeText(decoded).replace(control, "");
}
