import type { Component } from "../component.ts";
import { dispatchMouseEvent, type TuiMouseDispatchResult } from "../mouse-dispatch.ts";
import type { TuiMouseEvent } from "../mouse.ts";
import { contains, type LayoutRect } from "../rect.ts";

/** Components below each other. */
export class Container implements Component {
  children: Component[] = [];
  #last: { parts: readonly string[][]; lines: string[] } = { parts: [], lines: [] };

  addChild(component: Component): void {
    this.children.push(component);
  }

  removeChild(component: Component): void {
    const index = this.children.indexOf(component);
    if (index !== -1) this.children.splice(index, 1);
  }

  clear(): void {
    this.children = [];
  }

  invalidate(): void {
    for (const child of this.children) child.invalidate();
  }

  render(width: number): string[] {
    const parts = this.children.map((child) => child.render(width));
    const last = this.#last.parts;
    if (parts.length !== last.length || parts.some((part, index) => part !== last[index])) {
      this.#last = { parts, lines: parts.flat() };
    }
    return this.#last.lines;
  }

  /** Passes it on to the child under the mouse. */
  handleMouse(event: TuiMouseEvent): TuiMouseDispatchResult | undefined {
    for (const [child, rect] of this.placeChildren(event.width)) {
      if (!contains(rect, event.x, event.y)) continue;
      const { width, height } = rect;
      return dispatchMouseEvent(child, { ...event, x: event.x - rect.x, y: event.y - rect.y, width, height });
    }
    return undefined;
  }

  /** Where `render(width)` draws the children. */
  protected *placeChildren(width: number): Iterable<[child: Component, rect: LayoutRect]> {
    let y = 0;
    for (const child of this.children) {
      const height = child.render(width).length;
      yield [child, { x: 0, y, width, height }];
      y += height;
    }
  }
}

/** Whether it is nothing but its children, so that they can be asked instead. */
export const isPlainContainer = (component: Component): component is Container =>
  component instanceof Container &&
  component.render === Container.prototype.render &&
  component.handleMouse === Container.prototype.handleMouse;
