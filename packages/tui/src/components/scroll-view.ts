import type { Component } from "../component.ts";
import { LAYOUT_NODE, type ScrollLayoutNode } from "../layout-node.ts";
import { Container } from "./container.ts";

export type ScrollViewScrollbar = "hidden" | "auto" | "always";

export interface ScrollViewOptions {
  axis?: "vertical";
  /** "end": stays at the end while the content grows, until the user scrolls away. Default "none". */
  follow?: "none" | "end";
  /** Gets the keys for scrolling. Default false. */
  primary?: boolean;
  /** Whether what the view cannot scroll goes to the view around it. Default "chain". */
  overscroll?: "chain" | "contain";
  /** "auto" shows it over the last column for a while after scrolling. Default "hidden". */
  scrollbar?: ScrollViewScrollbar;
  scrollbarTrackStyle?: (text: string) => string;
  scrollbarThumbStyle?: (text: string) => string;
  /** Default 1000. */
  scrollbarHideDelayMs?: number;
}

export interface ScrollViewScrollToOptions {
  /** Does not follow the end, even if the end is where it goes. */
  disableFollow?: boolean;
}

/** "stopped": not even at the end, until the user scrolls. */
type Follow = "none" | "end" | "stopped";

/** A part of a component that is higher than the room for it. Where there is no layout, it draws all of it. */
export class ScrollView extends Container {
  readonly followEnd: boolean;
  readonly primary: boolean;
  readonly overscroll: "chain" | "contain";
  readonly scrollbarTrackStyle: (text: string) => string;
  readonly scrollbarThumbStyle: (text: string) => string;
  readonly #child: Component;
  readonly #hideDelayMs: number;
  readonly #position: { top: number; contentHeight: number; viewportHeight: number; follow: Follow };
  readonly #bar: { kind: ScrollViewScrollbar; isActive: boolean; timer: NodeJS.Timeout | undefined };
  #requestRender: () => void = () => {};
  #held: Component | undefined;

  constructor(component: Component, options: ScrollViewOptions = {}) {
    super();
    this.#child = component;
    super.addChild(component);
    this.followEnd = options.follow === "end";
    this.primary = options.primary ?? false;
    this.overscroll = options.overscroll ?? "chain";
    this.scrollbarTrackStyle = options.scrollbarTrackStyle ?? ((text) => `\x1b[90m${text}\x1b[39m`);
    this.scrollbarThumbStyle = options.scrollbarThumbStyle ?? ((text) => `\x1b[37m${text}\x1b[39m`);
    this.#hideDelayMs = options.scrollbarHideDelayMs ?? 1000;
    this.#position = { top: 0, contentHeight: 0, viewportHeight: 0, follow: this.followEnd ? "end" : "none" };
    this.#bar = { kind: options.scrollbar ?? "hidden", isActive: false, timer: undefined };
  }

  get scrollTop(): number {
    return this.#position.top;
  }

  get isFollowingEnd(): boolean {
    return this.#position.follow === "end";
  }

  /** Asks for a frame, once the view is laid out. */
  get requestRender(): () => void {
    return this.#requestRender;
  }

  get viewportHeight(): number {
    return this.#position.viewportHeight;
  }

  get scrollbar(): ScrollViewScrollbar {
    return this.#bar.kind;
  }

  get isScrollbarVisible(): boolean {
    if (this.#bar.kind === "auto") return this.#maxTop > 0 && (this.#bar.isActive || this.#bar.timer !== undefined);
    return this.#bar.kind === "always";
  }

  /** The mouse is on it. */
  get isScrollbarActive(): boolean {
    return this.#bar.isActive;
  }

  setScrollbar(scrollbar: ScrollViewScrollbar): void {
    this.#bar.kind = scrollbar;
    if (scrollbar !== "auto") this.#stopTimer();
  }

  setScrollbarActive(active: boolean): void {
    if (active === this.#bar.isActive) return;
    this.#bar.isActive = active;
    this.#showScrollbar();
    this.#requestRender();
  }

  /** A scroll bar that is always shown has a column of its own. */
  getContentWidth(width: number): number {
    return this.#bar.kind === "always" ? Math.max(1, width - 1) : width;
  }

  scrollTo(scrollTop: number, options: ScrollViewScrollToOptions = {}): void {
    const top = Math.max(0, Math.min(Math.floor(scrollTop), this.#maxTop));
    const isMoved = top !== this.#position.top;
    this.#position.top = top;
    if (this.followEnd) {
      const isEnd = top === this.#maxTop;
      this.#position.follow = !isEnd ? "none" : options.disableFollow ? "stopped" : "end";
    }
    if (!isMoved) return;
    this.#showScrollbar();
    this.#requestRender();
  }

  /** Returns how many lines it could not scroll. */
  scrollBy(lines: number): number {
    const before = this.#position.top;
    this.scrollTo(before + lines);
    return lines - (this.#position.top - before);
  }

  scrollToStart(): void {
    this.scrollTo(0);
  }

  scrollToEnd(): void {
    this.scrollTo(this.#maxTop);
  }

  /**
   * Keeps `component` where it is on the screen while something is put before it, until the next frame. It has to be drawn
   * already.
   */
  hold(component: Component): void {
    this.#held = component;
  }

  /** For the layout. */
  takeHeld(): Component | undefined {
    const held = this.#held;
    this.#held = undefined;
    return held;
  }

  /**
   * For the layout: what there is to scroll, and in how much room. `grown` is by how many lines what is above is higher than was
   * known; what is shown stays the same. Default 0.
   */
  updateLayout(contentHeight: number, viewportHeight: number, requestRender: () => void, grown = 0): void {
    const position = this.#position;
    position.top = Math.max(0, position.top + grown);
    position.contentHeight = contentHeight;
    position.viewportHeight = viewportHeight;
    this.#requestRender = requestRender;
    // Content that became shorter may end where the view is.
    if (this.followEnd && position.follow === "none" && position.top >= this.#maxTop) position.follow = "end";
    position.top = this.isFollowingEnd ? this.#maxTop : Math.min(position.top, this.#maxTop);
  }

  override addChild(_component: Component): void {
    throw new Error("A ScrollView has exactly one child. Put a Container into it.");
  }

  override removeChild(_component: Component): void {
    throw new Error("The child of a ScrollView cannot be removed.");
  }

  override clear(): void {
    throw new Error("The child of a ScrollView cannot be removed.");
  }

  override render(width: number): string[] {
    return this.#child.render(this.getContentWidth(width));
  }

  [LAYOUT_NODE](): ScrollLayoutNode {
    return { type: "scroll", component: this.#child, state: this };
  }

  get #maxTop(): number {
    return Math.max(0, this.#position.contentHeight - this.#position.viewportHeight);
  }

  #showScrollbar(): void {
    if (this.#bar.kind !== "auto") return;
    this.#stopTimer();
    this.#bar.timer = setTimeout(() => {
      this.#bar.timer = undefined;
      this.#requestRender();
    }, this.#hideDelayMs);
    this.#bar.timer.unref();
  }

  #stopTimer(): void {
    clearTimeout(this.#bar.timer);
    this.#bar.timer = undefined;
  }
}
