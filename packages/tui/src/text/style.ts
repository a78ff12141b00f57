/** Which styles and which link are active at a place in a text, so that a piece of it can be drawn alone. */
import { isLink, isStyle } from "./escape.ts";

/** Which parameter ends each attribute that is switched on by a number. */
const attributeEnds: Readonly<Record<number, number>> = {
  1: 22,
  2: 22,
  3: 23,
  4: 24,
  5: 25,
  6: 25,
  7: 27,
  8: 28,
  9: 29,
  21: 24,
  53: 55,
};

const foreground = 39;
const background = 49;
const underlineColor = 59;
const underline = 24;

export const linkEnd = "\x1b]8;;\x07";

/** Feed it all escape sequences of a text in order. */
export class StyleTracker {
  /** The parameters that are on, by the parameter that ends them. Bold and faint end together, so that they share a list. */
  readonly #active = new Map<number, string[]>();
  #link: string | undefined;

  /** Takes note of a style or a link; other escape sequences change nothing. */
  add(escape: string): void {
    if (isLink(escape)) this.#link = isLinkEnd(escape) ? undefined : escape;
    else if (isStyle(escape)) this.#addParameters(escape.slice(2, -1));
  }

  /** What switches on everything that is active. */
  open(): string {
    const parameters = [...this.#active.values()].flat();
    return (parameters.length === 0 ? "" : `\x1b[${parameters.join(";")}m`) + (this.#link ?? "");
  }

  /** What must not reach the end of a line: underlines would run over padding, and links over the next component. */
  closeLine(): string {
    return (this.#active.has(underline) ? "\x1b[24m" : "") + (this.#link === undefined ? "" : linkEnd);
  }

  get hasLink(): boolean {
    return this.#link !== undefined;
  }

  /** The background alone. */
  openBackground(): string {
    const parameters = this.#active.get(background);
    return parameters === undefined ? "" : `\x1b[${parameters.join(";")}m`;
  }

  #addParameters(parameters: string): void {
    const parts = parameters.split(";");
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as string;
      const code = Number.parseInt(part || "0", 10);
      const isColor = code === 38 || code === 48 || code === 58;
      // `38;5;N` and `38;2;R;G;B` go over several parts, `38:2::R:G:B` is one.
      const extra =
        isColor && !part.includes(":") ? (parts[index + 1] === "5" ? 2 : parts[index + 1] === "2" ? 4 : 0) : 0;
      this.#addCode(code, parts.slice(index, index + 1 + extra).join(";"));
      index += extra;
    }
  }

  #addCode(code: number, parameter: string): void {
    if (code === 0) this.#active.clear();
    else if (code === 4 && parameter === "4:0") this.#active.delete(underline);
    else if (attributeEnds[code] !== undefined) this.#switchOn(attributeEnds[code], parameter);
    else if ((code >= 30 && code <= 38) || (code >= 90 && code <= 97)) this.#active.set(foreground, [parameter]);
    else if ((code >= 40 && code <= 48) || (code >= 100 && code <= 107)) this.#active.set(background, [parameter]);
    else if (code === 58) this.#active.set(underlineColor, [parameter]);
    else this.#active.delete(code);
  }

  #switchOn(end: number, parameter: string): void {
    const before = end === 22 ? (this.#active.get(end) ?? []) : [];
    if (!before.includes(parameter)) this.#active.set(end, [...before, parameter]);
  }
}

const isLinkEnd = (escape: string) => /^\x1b\]8;[^;]*;(?:\x07|\x1b\\)$/.test(escape);
