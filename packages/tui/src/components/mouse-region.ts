import type { Component } from "../component.ts";
import { dispatchMouseEvent, type TuiMouseDispatchResult } from "../mouse-dispatch.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";

export type MouseRegionHandler = (event: TuiMouseEvent) => TuiMouseEventResult | undefined;

/** Handles the mouse for a component, which is asked first. */
export class MouseRegion implements Component {
  readonly #child: Component;
  readonly #onMouse: MouseRegionHandler;

  constructor(child: Component, onMouse: MouseRegionHandler) {
    this.#child = child;
    this.#onMouse = onMouse;
  }

  render(width: number): string[] {
    return this.#child.render(width);
  }

  handleMouse(event: TuiMouseEvent): TuiMouseDispatchResult | TuiMouseEventResult | undefined {
    return dispatchMouseEvent(this.#child, event) ?? this.#onMouse(event);
  }

  invalidate(): void {
    this.#child.invalidate();
  }
}
