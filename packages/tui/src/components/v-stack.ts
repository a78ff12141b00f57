import type { Component } from "../component.ts";
import type { LayoutRect } from "../rect.ts";
import { keepSame } from "./same-lines.ts";
import { allocateStackSizes, Stack, visibleStackEntries } from "./stack.ts";

export type { StackChild, StackEntry, StackEntryOptions, StackOptions } from "./stack.ts";

/** Components below each other. Sizes are heights. */
export class VStack extends Stack {
  protected readonly layoutType = "vstack";
  #last: { parts: string[][]; sizes: number[]; lines: string[] } = { parts: [], sizes: [], lines: [] };

  /** The whole document: nothing grows or shrinks. */
  override render(width: number): string[] {
    const { parts, sizes } = this.#layOut(width);
    const last = this.#last;
    if (keepSame(last.parts, parts) === last.parts && keepSame(last.sizes, sizes) === last.sizes) return last.lines;
    const lines: string[] = [];
    for (const [index, part] of parts.entries()) {
      if (index > 0) for (let count = 0; count < this.gap; count++) lines.push("");
      for (let row = 0; row < (sizes[index] as number); row++) lines.push(part[row] ?? "");
    }
    this.#last = { parts, sizes, lines };
    return lines;
  }

  protected override *placeChildren(width: number): Iterable<[child: Component, rect: LayoutRect]> {
    const { entries, sizes } = this.#layOut(width);
    let y = 0;
    for (const [index, { component }] of entries.entries()) {
      const height = sizes[index] as number;
      yield [component, { x: 0, y, width, height }];
      y += height + this.gap;
    }
  }

  #layOut(width: number) {
    const entries = visibleStackEntries(this.entries, { width, height: Infinity });
    const parts = entries.map(({ component }) => component.render(width));
    const heights = parts.map(({ length }) => length);
    return { entries, parts, sizes: allocateStackSizes(entries, heights, undefined, this.gap) };
  }
}
