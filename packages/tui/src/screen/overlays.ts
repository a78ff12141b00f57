/** The overlays of a screen: which are shown, in which order, and who has the focus. */
import { type Component, isFocusable } from "../component.ts";
import { dispatchMouseEvent, type TuiMouseDispatchResult } from "../mouse-dispatch.ts";
import type { TuiMouseEvent } from "../mouse.ts";
import { compositeTuiLine } from "./composite.ts";
import { type OverlayBounds, type OverlayOptions, resolveOverlayBounds, resolveOverlaySize } from "./overlay-layout.ts";
import type { Size } from "./resize.ts";

export interface OverlayUnfocusOptions {
  target: Component | null;
}

export interface OverlayHandle {
  /** For good. */
  hide(): void;
  setHidden(hidden: boolean): void;
  isHidden(): boolean;
  /** Brings it to the front, too. */
  focus(): void;
  /** Gives the focus to `target`; without one to another overlay, or to who had it before. */
  unfocus(options?: OverlayUnfocusOptions): void;
  isFocused(): boolean;
  /** Where it was drawn last. */
  getBounds(): OverlayBounds | undefined;
}

interface Overlay {
  component: Component;
  options: OverlayOptions;
  /** The component that had the focus before. */
  previous: Component | null;
  isHidden: boolean;
  bounds: OverlayBounds | undefined;
}

export class Overlays {
  /** The last is in front. */
  #stack: Overlay[] = [];
  #focused: Component | null = null;
  readonly #getSize: () => Size;
  readonly #onChange: () => void;

  constructor(getSize: () => Size, onChange: () => void) {
    this.#getSize = getSize;
    this.#onChange = onChange;
  }

  get focused(): Component | null {
    return this.#focused;
  }

  get components(): Component[] {
    return this.#stack.map(({ component }) => component);
  }

  hasVisible(): boolean {
    return this.#stack.some((overlay) => this.#isVisible(overlay));
  }

  setFocus(component: Component | null): void {
    if (isFocusable(this.#focused)) this.#focused.focused = false;
    this.#focused = component;
    if (isFocusable(component)) component.focused = true;
  }

  /** The component that gets input. An overlay that is no longer visible loses the focus. */
  getInputTarget(): Component | null {
    const focused = this.#stack.find(({ component }) => component === this.#focused);
    if (focused && !this.#isVisible(focused)) this.setFocus(this.#getNext(focused));
    return this.#focused;
  }

  show(component: Component, options: OverlayOptions = {}): OverlayHandle {
    const overlay: Overlay = { component, options, previous: this.#focused, isHidden: false, bounds: undefined };
    this.#stack.push(overlay);
    if (!options.nonCapturing && this.#isVisible(overlay)) this.setFocus(component);
    this.#onChange();
    return this.#createHandle(overlay);
  }

  hideTop(): void {
    const top = this.#stack.at(-1);
    if (top) this.#remove(top);
  }

  /** Whether an overlay has the focus. */
  hasFocus(): boolean {
    return this.#stack.some((overlay) => overlay.component === this.#focused && this.#isVisible(overlay));
  }

  /** Passes a mouse event to the overlay in front at its place. The overlay keeps the focus, whatever in it is pressed. */
  dispatchMouse(event: TuiMouseEvent): { isHit: boolean; result?: TuiMouseDispatchResult } {
    const hit = this.#stack.findLast((overlay) => this.#isVisible(overlay) && isInside(overlay.bounds, event));
    if (!hit?.bounds) return { isHit: false };
    const { row, col, width, height } = hit.bounds;
    const local = { ...event, x: event.screenX - col, y: event.screenY - row, width, height };
    const result = dispatchMouseEvent(hit.component, local);
    if (!result) return { isHit: true };
    return { isHit: true, result: result.focusTarget ? { ...result, focusTarget: hit.component } : result };
  }

  /** The lines with all visible overlays on them. */
  composite(lines: readonly string[], size: Size): readonly string[] {
    const visible = this.#stack.filter((overlay) => this.#isVisible(overlay));
    if (visible.length === 0) return lines;
    const result = [...lines];
    for (const overlay of visible) {
      const { width, maxHeight } = resolveOverlaySize(overlay.options, size);
      const content = overlay.component.render(width).slice(0, maxHeight);
      const bounds = resolveOverlayBounds(overlay.options, size, { width, height: content.length });
      overlay.bounds = bounds;
      while (result.length < bounds.row + bounds.height) result.push("");
      for (const [index, line] of content.slice(0, bounds.height).entries()) {
        const row = bounds.row + index;
        result[row] = compositeTuiLine(result[row] ?? "", line, bounds.col, width, size.columns);
      }
    }
    return result;
  }

  #isVisible({ isHidden, options }: Overlay): boolean {
    const { columns, rows } = this.#getSize();
    return !isHidden && (options.visible?.(columns, rows) ?? true);
  }

  /** The next visible overlay that takes the focus, else who had it before this one. */
  #getNext(overlay: Overlay): Component | null {
    const others = this.#stack.filter((other) => other !== overlay && !other.options.nonCapturing);
    return others.findLast((other) => this.#isVisible(other))?.component ?? overlay.previous;
  }

  #release(overlay: Overlay): void {
    if (this.#focused === overlay.component) this.setFocus(this.#getNext(overlay));
  }

  #remove(overlay: Overlay): void {
    if (!this.#stack.includes(overlay)) return;
    this.#stack = this.#stack.filter((other) => other !== overlay);
    // Overlays above this one give the focus back to the component that this one took it from.
    for (const other of this.#stack) if (other.previous === overlay.component) other.previous = overlay.previous;
    this.#release(overlay);
    this.#onChange();
  }

  #createHandle(overlay: Overlay): OverlayHandle {
    return {
      hide: () => this.#remove(overlay),
      setHidden: (hidden) => {
        if (overlay.isHidden === hidden) return;
        overlay.isHidden = hidden;
        if (hidden) this.#release(overlay);
        else if (!overlay.options.nonCapturing && this.#isVisible(overlay)) this.setFocus(overlay.component);
        this.#onChange();
      },
      isHidden: () => overlay.isHidden,
      focus: () => {
        if (!this.#stack.includes(overlay) || !this.#isVisible(overlay)) return;
        this.#stack = [...this.#stack.filter((other) => other !== overlay), overlay];
        this.setFocus(overlay.component);
        this.#onChange();
      },
      unfocus: (options) => {
        if (this.#focused !== overlay.component) return;
        if (options) this.setFocus(options.target);
        else this.#release(overlay);
        this.#onChange();
      },
      isFocused: () => this.#focused === overlay.component,
      getBounds: () => (this.#isVisible(overlay) ? overlay.bounds : undefined),
    };
  }
}

const isInside = (bounds: OverlayBounds | undefined, { screenX, screenY }: TuiMouseEvent) =>
  bounds !== undefined &&
  screenX >= bounds.col &&
  screenX < bounds.col + bounds.width &&
  screenY >= bounds.row &&
  screenY < bounds.row + bounds.height;
