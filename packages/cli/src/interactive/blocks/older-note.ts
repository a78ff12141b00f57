import type { Look } from "../look.ts";
import { ThemedText } from "./themed-text.ts";

const blank = [""];

/** Stands in the place of older entries. While some of them are about to be drawn there, nothing that follows is printed. */
export class OlderNote extends ThemedText {
  isHolding = false;

  constructor(text: string, { theme }: Look) {
    super(() => theme.fg("dim", text));
  }

  override render(width: number): string[] {
    return this.isHolding ? blank : super.render(width);
  }

  countFinished(width: number): number {
    return this.isHolding ? 0 : this.render(width).length;
  }
}
