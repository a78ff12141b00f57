/** The overlays of a screen: which are shown, in which order, and who has the focus. */
import type { Component } from "../component.ts";
import { Container } from "../components/container.ts";
import type { ImageLayer } from "../image-layer.ts";
import { dispatchMouseEvent, type TuiMouseDispatchResult } from "../mouse-dispatch.ts";
import type { TuiMouseEvent } from "../mouse.ts";
import { compositeTuiLine } from "./composite.ts";
import { Focus } from "./focus.ts";
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
  /** The highest is in front. */
  order: number;
}

interface OverlaysHost {
  getSize(): Size;
  /** Returns the components below the overlays. */
  getRoots(): readonly Component[];
  onChange(): void;
}

export class Overlays {
  /** In the order in which they were shown. */
  #stack: Overlay[] = [];
  #order = 0;
  readonly #focus: Focus;
  readonly #host: OverlaysHost;

  constructor(host: OverlaysHost) {
    this.#host = host;
    this.#focus = new Focus({
      findOverlay: (component) => this.#stack.find((overlay) => overlay.component === component),
      isVisible: (overlay) => this.#stack.some((other) => other === overlay && this.#isVisible(other)),
      isMounted: (component) => host.getRoots().some((root) => contains(root, component)),
    });
  }

  get focused(): Component | null {
    return this.#focus.component;
  }

  get components(): Component[] {
    return this.#stack.map(({ component }) => component);
  }

  hasVisible(): boolean {
    return this.#stack.some((overlay) => this.#isVisible(overlay));
  }

  setFocus(component: Component | null): void {
    this.#focus.set(component);
  }

  /** The component that gets input. An overlay that is not visible loses the focus until it is visible again. */
  getInputTarget(): Component | null {
    const focused = this.#stack.find(({ component }) => component === this.focused);
    if (focused && !this.#isVisible(focused)) {
      const front = this.#getFront();
      if (front) this.#focus.set(front.component);
      else this.#focus.set(focused.previous, true);
    }
    this.#focus.restore();
    return this.focused;
  }

  show(component: Component, options: OverlayOptions = {}): OverlayHandle {
    const order = ++this.#order;
    const overlay: Overlay = { component, options, previous: this.focused, isHidden: false, bounds: undefined, order };
    this.#stack.push(overlay);
    if (!options.nonCapturing && this.#isVisible(overlay)) this.setFocus(component);
    this.#host.onChange();
    return this.#createHandle(overlay);
  }

  /** The one that was shown last. */
  hideTop(): void {
    const top = this.#stack.at(-1);
    if (top) this.#remove(top);
  }

  /** Whether an overlay has the focus. */
  hasFocus(): boolean {
    return this.#stack.some((overlay) => overlay.component === this.focused && this.#isVisible(overlay));
  }

  /** Passes a mouse event to the overlay in front at its place. The overlay keeps the focus, whatever in it is pressed. */
  dispatchMouse(event: TuiMouseEvent): { isHit: boolean; result?: TuiMouseDispatchResult } {
    const hit = this.#visible.findLast((overlay) => isInside(overlay.bounds, event));
    if (!hit?.bounds) return { isHit: false };
    const { row, col, width, height } = hit.bounds;
    const local = { ...event, x: event.screenX - col, y: event.screenY - row, width, height };
    const result = dispatchMouseEvent(hit.component, local);
    if (!result) return { isHit: true };
    return { isHit: true, result: result.focusTarget ? { ...result, focusTarget: hit.component } : result };
  }

  /**
   * The lines with all visible overlays on them. Images that overlays show or cover are reported to `images`, if it is
   * given.
   */
  composite(lines: readonly string[], size: Size, images?: ImageLayer): readonly string[] {
    const visible = this.#visible;
    if (visible.length === 0) return lines;
    const result = [...lines];
    for (const overlay of visible) {
      const { width, maxHeight } = resolveOverlaySize(overlay.options, size);
      const content = overlay.component.render(width).slice(0, maxHeight);
      const bounds = resolveOverlayBounds(overlay.options, size, { width, height: content.length });
      overlay.bounds = bounds;
      while (result.length < bounds.row + bounds.height) result.push("");
      const shown = content.slice(0, bounds.height);
      const rect = { x: bounds.col, y: bounds.row, width: bounds.width, height: bounds.height };
      images?.cover(rect);
      for (const [index, line] of (images?.takeFrom(shown, rect.x, rect.y, rect) ?? shown).entries()) {
        const row = bounds.row + index;
        result[row] = compositeTuiLine(result[row] ?? "", line, bounds.col, width, size.columns);
      }
    }
    return result;
  }

  /** The last is in front. */
  get #visible(): Overlay[] {
    return this.#stack.filter((overlay) => this.#isVisible(overlay)).sort((a, b) => a.order - b.order);
  }

  #isVisible({ isHidden, options }: Overlay): boolean {
    const { columns, rows } = this.#host.getSize();
    return !isHidden && (options.visible?.(columns, rows) ?? true);
  }

  /** The visible overlay in front that takes the focus. */
  #getFront(): Overlay | undefined {
    return this.#visible.findLast(({ options }) => !options.nonCapturing);
  }

  /** For one that is gone or hidden: the focus goes to the next overlay, else to the component that had it before. */
  #leave(overlay: Overlay): void {
    this.#focus.forget(overlay);
    if (this.focused === overlay.component) this.setFocus(this.#getFront()?.component ?? overlay.previous);
  }

  #bringToFront(overlay: Overlay): void {
    overlay.order = ++this.#order;
    this.setFocus(overlay.component);
  }

  #remove(overlay: Overlay): void {
    if (!this.#stack.includes(overlay)) return;
    this.#stack = this.#stack.filter((other) => other !== overlay);
    // Overlays above this one give the focus back to the component that this one took it from.
    for (const other of this.#stack) if (other.previous === overlay.component) other.previous = overlay.previous;
    this.#leave(overlay);
    this.#host.onChange();
  }

  #createHandle(overlay: Overlay): OverlayHandle {
    return {
      hide: () => this.#remove(overlay),
      setHidden: (hidden) => {
        if (overlay.isHidden === hidden) return;
        overlay.isHidden = hidden;
        if (hidden) this.#leave(overlay);
        else if (!overlay.options.nonCapturing && this.#isVisible(overlay)) this.#bringToFront(overlay);
        this.#host.onChange();
      },
      isHidden: () => overlay.isHidden,
      focus: () => {
        if (!this.#stack.includes(overlay) || !this.#isVisible(overlay)) return;
        this.#bringToFront(overlay);
        this.#host.onChange();
      },
      unfocus: (options) => {
        const front = this.#getFront();
        const fallback = front && front !== overlay ? front.component : overlay.previous;
        this.#focus.release(overlay, fallback, options);
        this.#host.onChange();
      },
      isFocused: () => this.focused === overlay.component,
      getBounds: () => (this.#isVisible(overlay) ? overlay.bounds : undefined),
    };
  }
}

const contains = (root: Component, component: Component): boolean =>
  root === component || (root instanceof Container && root.children.some((child) => contains(child, component)));

const isInside = (bounds: OverlayBounds | undefined, { screenX, screenY }: TuiMouseEvent) =>
  bounds !== undefined &&
  screenX >= bounds.col &&
  screenX < bounds.col + bounds.width &&
  screenY >= bounds.row &&
  screenY < bounds.row + bounds.height;
