/** Which styles and which link are active at a place in a text, so that a piece of it can be drawn alone. */
import { isLink, isStyle } from "./escape.ts";
import { plainStyle, type StyleState } from "./style-state.ts";

export const linkEnd = "\x1b]8;;\x07";

/** Ends a link in the form it was begun, BEL or ST: some programs that read the output know only one of them. */
const getLinkEnd = (link: string): string => (link === "" ? "" : link.endsWith("\x07") ? linkEnd : "\x1b]8;;\x1b\\");

/** Feed it all escape sequences of a text in order. */
export class StyleTracker {
  #style: StyleState = plainStyle;
  #link = "";

  /** Takes note of a style or a link; other escape sequences change nothing. */
  add(escape: string): void {
    if (isStyle(escape)) this.#style = this.#style.after(escape);
    else if (isLink(escape)) this.#link = isLinkEnd(escape) ? "" : escape;
  }

  /** Returns what switches on everything that is active. */
  open(): string {
    return this.#style.open + this.#link;
  }

  /** Ends what must not reach the end of a line: underlines would run over padding, and links over the next component. */
  closeLine(): string {
    return (this.#style.isUnderlined ? "\x1b[24m" : "") + getLinkEnd(this.#link);
  }

  /** Returns to the state at the beginning of a text. */
  reset(): void {
    this.#style = plainStyle;
    this.#link = "";
  }

  /** Returns what switches off everything that is active. */
  close(): string {
    return (this.#style.open === "" ? "" : "\x1b[0m") + getLinkEnd(this.#link);
  }

  /** Returns what ends the active link; empty if there is none. */
  closeLink(): string {
    return getLinkEnd(this.#link);
  }

  get hasLink(): boolean {
    return this.#link !== "";
  }

  /** Whether a blank looks different from one without any style. */
  get showsOnBlanks(): boolean {
    return this.#style.showsOnBlanks;
  }

  /** Switches from the styles of another to these, and makes the other the same. */
  transitionFrom(other: StyleTracker): string {
    const style = this.#style === other.#style ? "" : this.#style.transitionFrom(other.#style);
    other.#style = this.#style;
    if (this.#link === other.#link) return style;
    const end = getLinkEnd(other.#link);
    other.#link = this.#link;
    return style + (this.#link === "" ? end : this.#link);
  }

  /** Switches off what blanks show of a style. */
  hideOnBlanks(): string {
    if (!this.#style.showsOnBlanks) return "";
    const { bytes, style } = this.#style.withoutBlanks();
    this.#style = style;
    return bytes;
  }
}

const isLinkEnd = (escape: string) => /^\x1b\]8;[^;]*;(?:\x07|\x1b\\)$/.test(escape);
