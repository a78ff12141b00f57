/** Handles the mouse on a full screen: presses, drags and clicks for components, scroll bars, wheels and links. */
import type { Component } from "../component.ts";
import { Container } from "../components/container.ts";
import type { ScrollView } from "../components/scroll-view.ts";
import type { MouseReport } from "../keys/mouse-report.ts";
import {
  getLayoutBoxesAt,
  getScrollbarGeometry,
  getScrollViewBox,
  getScrollViewsAt,
  type LayoutBox,
} from "../layout.ts";
import type { LayoutFrame } from "../layout.ts";
import { getLayoutNode } from "../layout-node.ts";
import {
  dispatchMouseEvent,
  retargetMouseEvent,
  type TuiMouseDispatchResult,
  type TuiMouseDispatchTarget,
} from "../mouse-dispatch.ts";
import type { TuiMouseEvent } from "../mouse.ts";
import { getOsc8LinkAtColumn } from "../terminal/hyperlink.ts";
import type { MouseSelection } from "./mouse-selection.ts";
import type { Overlays } from "./overlays.ts";

interface PointerHost {
  readonly overlays: Overlays;
  readonly selection: MouseSelection;
  /** In lines, for one step of the wheel. */
  readonly wheelLines: number;
  /** The last frame that was drawn. */
  getFrame(): LayoutFrame | undefined;
  setFocus(component: Component): void;
  requestRender(): void;
  /** Takes a press on something that is no component. */
  takePress(x: number, y: number): boolean;
  openUrl(url: string): boolean;
  /** A selection was made. */
  onSelected(): void;
  onRightPress(): void;
}

type Gesture =
  | { kind: "scrollbar"; view: ScrollView; grab: number }
  | { kind: "taken" }
  | { kind: "captured"; target: TuiMouseDispatchTarget; x: number; y: number; isMoved: boolean }
  | { kind: "pressed"; x: number; y: number; isMoved: boolean; selects: boolean };

/** Presses on the same word within this time count together. */
const multiClickMs = 500;
const altWheelFactor = 5;

export class Pointer {
  readonly #host: PointerHost;
  #gesture: Gesture | undefined;
  #lastPress = { word: "", button: "none", atMs: -Infinity, count: 0 };
  #hovered: ScrollView | undefined;

  constructor(host: PointerHost) {
    this.#host = host;
  }

  handle(report: MouseReport): void {
    const frame = this.#host.getFrame();
    if (!frame) return;
    const event = createEvent(report, frame);
    switch (report.type) {
      case "wheel":
        return this.#wheel(frame, report, event);
      case "press":
        return this.#press(frame, event);
      case "drag":
        return this.#drag(frame, event);
      case "release":
        return this.#release(frame, event);
      case "move":
        this.#hoverAt(frame, event);
        this.#dispatch(frame, event);
    }
  }

  /** The window lost the focus: nobody will say when the button is released. */
  cancel(): void {
    this.#gesture = undefined;
    this.#hover(undefined);
    if (this.#host.selection.cancel()) this.#host.requestRender();
  }

  reset(): void {
    this.#gesture = undefined;
    this.#hover(undefined);
  }

  #wheel(frame: LayoutFrame, { wheel, alt }: MouseReport, event: TuiMouseEvent): void {
    if (wheel === 0) return;
    const lines = wheel * this.#host.wheelLines * (alt ? altWheelFactor : 1);
    if (this.#dispatch(frame, { ...event, wheelDelta: lines })) return;
    const views = getScrollViewsAt(frame, event.screenX, event.screenY);
    let rest = lines;
    for (const view of views.length > 0 ? views : [frame.primaryScrollView]) {
      rest = view?.scrollBy(rest) ?? 0;
      if (rest === 0 || view?.overscroll === "contain") break;
    }
    this.#hoverAt(frame, event);
    this.#host.requestRender();
  }

  #press(frame: LayoutFrame, event: TuiMouseEvent): void {
    const { screenX: x, screenY: y, button } = event;
    const count = this.#countPress(frame, event);
    const isLeft = button === "left";
    this.#host.selection.clear();
    this.#host.requestRender();
    this.#gesture = { kind: "taken" };
    const overlay = this.#host.overlays.dispatchMouse(event);
    if (overlay.isHit) return this.#hold(event, overlay.result, false);
    if (isLeft && this.#host.takePress(x, y)) return;
    const bar = isLeft ? findScrollbar(frame, event) : undefined;
    if (bar) {
      this.#gesture = { kind: "scrollbar", view: bar.view, grab: bar.grab };
      this.#hover(bar.view);
      return this.#scrollTo(frame, bar.view, bar.grab, y);
    }
    const result = dispatchToLayout(frame, event);
    this.#hold(event, result, isLeft && !result);
    if (result) return;
    if (isLeft) this.#host.selection.press(frame, x, y, count);
    else if (button === "right" && !event.shift && !event.alt && !event.ctrl) this.#host.onRightPress();
  }

  #hold(event: TuiMouseEvent, result: TuiMouseDispatchResult | undefined, selects: boolean): void {
    const { screenX: x, screenY: y } = event;
    if (result) this.#apply(event, result);
    this.#gesture = result?.capture
      ? { kind: "captured", target: result.target, x, y, isMoved: false }
      : { kind: "pressed", x, y, isMoved: false, selects };
  }

  #drag(frame: LayoutFrame, event: TuiMouseEvent): void {
    const gesture = this.#gesture;
    const { screenX: x, screenY: y } = event;
    if (gesture?.kind === "scrollbar") return this.#scrollTo(frame, gesture.view, gesture.grab, y);
    if (gesture?.kind !== "captured" && gesture?.kind !== "pressed") return;
    gesture.isMoved ||= x !== gesture.x || y !== gesture.y;
    if (gesture.isMoved) this.#lastPress.count = 0;
    if (gesture.kind === "captured") this.#dispatchTo(gesture.target, event);
    else if (gesture.selects && gesture.isMoved) {
      this.#host.selection.drag(frame, x, y);
      this.#host.requestRender();
    }
  }

  #release(frame: LayoutFrame, event: TuiMouseEvent): void {
    const gesture = this.#gesture;
    this.#gesture = undefined;
    this.#hoverAt(frame, event);
    if (gesture?.kind === "captured") this.#dispatchTo(gesture.target, event);
    else if (gesture?.kind !== "pressed") return;
    else this.#dispatch(frame, event);
    this.#host.selection.release();
    if (!gesture.isMoved) this.#click(frame, event);
    if (this.#host.selection.isActive) this.#host.onSelected();
  }

  /** A link is opened before whoever is around it gets the click. */
  #click(frame: LayoutFrame, event: TuiMouseEvent): void {
    const click: TuiMouseEvent = { ...event, type: "click", clickCount: this.#lastPress.count };
    const overlay = this.#host.overlays.dispatchMouse(click);
    if (overlay.result) this.#apply(click, overlay.result);
    if (overlay.isHit) return;
    const line = frame.lines[event.screenY] ?? "";
    const url = event.button === "left" ? getOsc8LinkAtColumn(line, event.screenX) : undefined;
    if (url !== undefined && this.#host.openUrl(url)) return;
    const result = dispatchToLayout(frame, click);
    if (result) this.#apply(click, result);
  }

  #countPress(frame: LayoutFrame, { screenX: x, screenY: y, button }: TuiMouseEvent): number {
    const last = this.#lastPress;
    const atMs = performance.now();
    const { start, end } = this.#host.selection.findWord(frame, x, y);
    const word = `${y}:${start.column}-${end.column}`;
    const isSame = last.word === word && last.button === button && atMs - last.atMs < multiClickMs;
    const count = isSame ? (last.count % 3) + 1 : 1;
    this.#lastPress = { word, button, atMs, count };
    return count;
  }

  /** To an overlay, or to what is laid out. Returns whether somebody took it, or is in front. */
  #dispatch(frame: LayoutFrame, event: TuiMouseEvent): boolean {
    const overlay = this.#host.overlays.dispatchMouse(event);
    const result = overlay.isHit ? overlay.result : dispatchToLayout(frame, event);
    if (result) this.#apply(event, result);
    return overlay.isHit || result !== undefined;
  }

  #dispatchTo(target: TuiMouseDispatchTarget, event: TuiMouseEvent): void {
    const result = dispatchMouseEvent(target.component, retargetMouseEvent(event, target));
    if (result) this.#apply(event, result);
  }

  #apply({ type }: TuiMouseEvent, { focusTarget, render }: TuiMouseDispatchResult): void {
    if (focusTarget) this.#host.setFocus(focusTarget);
    if (render ?? (type !== "move" && type !== "release")) this.#host.requestRender();
  }

  #hoverAt(frame: LayoutFrame, event: TuiMouseEvent): void {
    this.#hover(findScrollbar(frame, event, true)?.view);
  }

  #hover(view: ScrollView | undefined): void {
    if (view === this.#hovered) return;
    this.#hovered?.setScrollbarActive(false);
    view?.setScrollbarActive(true);
    this.#hovered = view;
  }

  #scrollTo(frame: LayoutFrame, view: ScrollView, grab: number, y: number): void {
    const box = getScrollViewBox(frame, view);
    const bar = box && getScrollbarGeometry(box, true);
    if (!bar) return;
    const progress = (y - grab - bar.trackTop) / Math.max(1, bar.trackHeight - bar.thumbHeight);
    view.scrollTo(Math.round(Math.max(0, Math.min(1, progress)) * bar.maxScrollTop));
    this.#host.requestRender();
  }
}

function createEvent({ wheel: _wheel, x, y, ...report }: MouseReport, { width, height }: LayoutFrame): TuiMouseEvent {
  return { ...report, x, y, screenX: x, screenY: y, width, height };
}

/**
 * `grab` is where in the thumb it is held; beside the thumb, it jumps to the mouse with its middle. One that is hidden does
 * not take the text below it.
 */
function findScrollbar(frame: LayoutFrame, { screenX: x, screenY: y }: TuiMouseEvent, includeHidden = false) {
  for (const box of getLayoutBoxesAt(frame, x, y)) {
    const bar = getScrollbarGeometry(box, includeHidden);
    if (!bar || !box.scrollView || x !== bar.column || bar.maxScrollTop === 0) continue;
    const isOnThumb = y >= bar.thumbTop && y < bar.thumbTop + bar.thumbHeight;
    return { view: box.scrollView, grab: isOnThumb ? y - bar.thumbTop : Math.floor(bar.thumbHeight / 2) };
  }
  return undefined;
}

/** From the innermost component at the place outwards, until one takes it. */
function dispatchToLayout(frame: LayoutFrame, event: TuiMouseEvent): TuiMouseDispatchResult | undefined {
  for (const box of getLayoutBoxesAt(frame, event.screenX, event.screenY)) {
    const target = findTarget(box, event.screenY);
    if (!target) continue;
    const result = dispatchMouseEvent(target.component, retargetMouseEvent(event, target));
    if (result) return result;
  }
  return undefined;
}

function findTarget({ component, rect, scrolledLines }: LayoutBox, y: number): TuiMouseDispatchTarget | undefined {
  // What is laid out has boxes for its children.
  const isOnlyLayout = getLayoutNode(component) && component.handleMouse === Container.prototype.handleMouse;
  if (isOnlyLayout) return undefined;
  const leaf = scrolledLines?.findLeaf(y - rect.y);
  if (scrolledLines && !leaf) return undefined;
  const area = leaf ? { originY: rect.y + leaf.top, height: leaf.height } : { originY: rect.y, height: rect.height };
  return { component: leaf?.component ?? component, originX: rect.x, width: rect.width, ...area };
}
