import { joinColumns } from "../columns.ts";
import type { Component } from "../component.ts";
import type { LayoutRect } from "../rect.ts";
import { visibleWidth } from "../text/cells.ts";
import { keepSame } from "./same-lines.ts";
import { allocateStackSizes, Stack, visibleStackEntries } from "./stack.ts";

/** Components beside each other. Sizes are widths. */
export class HStack extends Stack {
  protected readonly layoutType = "hstack";
  #lines: string[] = [];

  /** Draws as many lines as the highest child has. */
  override render(width: number): string[] {
    const { columns, height } = this.#layOut(width);
    const lines = Array.from({ length: height }, (_, row) =>
      joinColumns(
        columns.map(({ x, y, width: columnWidth, part }) => ({ x, width: columnWidth, text: part[row - y] ?? "" })),
        width,
      ),
    );
    this.#lines = keepSame(this.#lines, lines);
    return this.#lines;
  }

  protected override *placeChildren(width: number): Iterable<[child: Component, rect: LayoutRect]> {
    for (const { component, x, y, width: columnWidth, part } of this.#layOut(width).columns) {
      yield [component, { x, y, width: columnWidth, height: part.length }];
    }
  }

  #layOut(width: number) {
    const entries = visibleStackEntries(this.entries, { width, height: Infinity });
    const natural = entries.map(({ component, basis = "auto" }) =>
      basis === "auto" ? component.render(width).reduce((widest, line) => Math.max(widest, visibleWidth(line)), 0) : 0,
    );
    const sizes = allocateStackSizes(entries, natural, width, this.gap);
    const parts = entries.map(({ component }, index) =>
      (sizes[index] as number) > 0 ? component.render(sizes[index] as number) : [],
    );
    const height = parts.reduce((highest, { length }) => Math.max(highest, length), 0);
    let x = 0;
    const columns = entries.map(({ component }, index) => {
      const part = parts[index] as string[];
      const column = {
        component,
        part,
        x,
        y: getOffset(this.align, part.length, height),
        width: sizes[index] as number,
      };
      x += column.width + this.gap;
      return column;
    });
    return { columns, height };
  }
}

/** How far from the beginning something of `size` is in `room`. */
export const getOffset = (align: "stretch" | "start" | "center" | "end", size: number, room: number): number => {
  const rest = Math.max(0, room - size);
  return align === "center" ? Math.floor(rest / 2) : align === "end" ? rest : 0;
};
