/** Which styles and which link are active at a place in a text, so that a piece of it can be drawn alone. */
import { isLink, isStyle } from "./escape.ts";

/** What can be set independently, with the parameter that ends it. Bold and faint end together. */
const ends = ["39", "49", "22", "22", "23", "24", "25", "27", "28", "29", "55", "59"] as const;
const [
  foreground,
  background,
  bold,
  faint,
  italic,
  underline,
  blink,
  inverse,
  hidden,
  strikethrough,
  overline,
  underlineColor,
] = ends.keys() as unknown as readonly [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

const attributes: Readonly<Record<number, number>> = {
  1: bold,
  2: faint,
  3: italic,
  4: underline,
  5: blink,
  6: blink,
  7: inverse,
  8: hidden,
  9: strikethrough,
  21: underline,
  53: overline,
};

/** What blanks show of a style. */
const visibleOnBlanks = [background, underline, inverse, strikethrough, overline] as const;

export const linkEnd = "\x1b]8;;\x07";

/** Ends a link in the form it was begun, BEL or ST: some programs that read the output know only one of them. */
const getLinkEnd = (link: string): string => (link === "" ? "" : link.endsWith("\x07") ? linkEnd : "\x1b]8;;\x1b\\");

type Change = readonly [slot: number, parameter: string];
const all = -1;

/** Texts have few different styles, and each is met often. */
const parsed = new Map<string, readonly Change[]>();
const maxParsed = 2_000;

/** Feed it all escape sequences of a text in order. */
export class StyleTracker {
  /** The parameter of each that is on, else empty. */
  readonly #parameters: string[] = Array.from(ends, () => "");
  #link = "";

  /** Takes note of a style or a link; other escape sequences change nothing. */
  add(escape: string): void {
    if (isStyle(escape)) this.#addStyle(escape);
    else if (isLink(escape)) this.#link = isLinkEnd(escape) ? "" : escape;
  }

  /** What switches on everything that is active. */
  open(): string {
    const parameters = this.#parameters.filter((parameter) => parameter !== "");
    return (parameters.length === 0 ? "" : `\x1b[${parameters.join(";")}m`) + this.#link;
  }

  /** What must not reach the end of a line: underlines would run over padding, and links over the next component. */
  closeLine(): string {
    return (this.#parameters[underline] === "" ? "" : "\x1b[24m") + getLinkEnd(this.#link);
  }

  /** As at the beginning of a text. */
  reset(): void {
    this.#parameters.fill("");
    this.#link = "";
  }

  /** What switches off everything that is active. */
  close(): string {
    const style = this.#parameters.some((parameter) => parameter !== "") ? "\x1b[0m" : "";
    return style + getLinkEnd(this.#link);
  }

  /** What ends the active link; empty if there is none. */
  closeLink(): string {
    return getLinkEnd(this.#link);
  }

  get hasLink(): boolean {
    return this.#link !== "";
  }

  /** Whether a blank looks different from one without any style. */
  get showsOnBlanks(): boolean {
    return visibleOnBlanks.some((slot) => this.#parameters[slot] !== "");
  }

  /** Switches from the styles of another to these, and makes the other the same. */
  transitionFrom(other: StyleTracker): string {
    const parameters: string[] = [];
    const [wanted, current] = [this.#parameters, other.#parameters];
    for (let slot = 0; slot < ends.length; slot++) {
      if (wanted[slot] === "" && current[slot] !== "") other.#end(slot, parameters);
    }
    for (let slot = 0; slot < ends.length; slot++) {
      if (wanted[slot] === current[slot]) continue;
      parameters.push(wanted[slot] as string);
      current[slot] = wanted[slot] as string;
    }
    const style = parameters.length === 0 ? "" : `\x1b[${parameters.join(";")}m`;
    if (this.#link === other.#link) return style;
    const end = getLinkEnd(other.#link);
    other.#link = this.#link;
    return style + (this.#link === "" ? end : this.#link);
  }

  /** Switches off what blanks show of a style. */
  hideOnBlanks(): string {
    const parameters: string[] = [];
    for (const slot of visibleOnBlanks) if (this.#parameters[slot] !== "") this.#end(slot, parameters);
    return parameters.length === 0 ? "" : `\x1b[${parameters.join(";")}m`;
  }

  #end(slot: number, parameters: string[]): void {
    parameters.push(ends[slot] as string);
    this.#parameters[slot] = "";
    if (slot === bold) this.#parameters[faint] = "";
    if (slot === faint) this.#parameters[bold] = "";
  }

  #addStyle(escape: string): void {
    let changes = parsed.get(escape);
    if (!changes) {
      if (parsed.size >= maxParsed) parsed.clear();
      parsed.set(escape, (changes = parseStyle(escape.slice(2, -1))));
    }
    for (const [slot, parameter] of changes) {
      if (slot === all) this.#parameters.fill("");
      else this.#parameters[slot] = parameter;
    }
  }
}

function parseStyle(parameters: string): Change[] {
  const changes: Change[] = [];
  const parts = parameters.split(";");
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as string;
    const code = Number.parseInt(part || "0", 10);
    const isColor = code === 38 || code === 48 || code === 58;
    // `38;5;N` and `38;2;R;G;B` go over several parts, `38:2::R:G:B` is one.
    const kind = parts[index + 1];
    const extra = isColor && !part.includes(":") ? (kind === "5" ? 2 : kind === "2" ? 4 : 0) : 0;
    changes.push(...getChanges(code, parts.slice(index, index + 1 + extra).join(";")));
    index += extra;
  }
  return changes;
}

function getChanges(code: number, parameter: string): Change[] {
  if (code === 0) return [[all, ""]];
  if (parameter === "4:0") return [[underline, ""]];
  const attribute = attributes[code];
  if (attribute !== undefined) return [[attribute, parameter]];
  if ((code >= 30 && code <= 38) || (code >= 90 && code <= 97)) return [[foreground, parameter]];
  if ((code >= 40 && code <= 48) || (code >= 100 && code <= 107)) return [[background, parameter]];
  if (code === 58) return [[underlineColor, parameter]];
  return ends.flatMap((end, slot): Change[] => (end === String(code) ? [[slot, ""]] : []));
}

const isLinkEnd = (escape: string) => /^\x1b\]8;[^;]*;(?:\x07|\x1b\\)$/.test(escape);
