/** An interface in a terminal: components below each other, overlays, the focus, and when to draw. */
import type { Component } from "../component.ts";
import { Container } from "../components/container.ts";
import { isKeyRelease } from "../keys/match.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { Frames } from "./frames.ts";
import { MainScreen } from "./main-screen.ts";
import { type OverlayHandle, Overlays } from "./overlays.ts";
import type { OverlayOptions } from "./overlay-layout.ts";

export type TuiInputListenerResult = { consume?: boolean; data?: string } | undefined;
/** Gets what is typed before the component with the focus: may take it, or change it. */
export type TuiInputListener = (data: string) => TuiInputListenerResult;

const beginUpdate = "\x1b[?2026h";
const endUpdate = "\x1b[?2026l";
const ascii = /^[\x00-\x7f]*$/;

/** In the main screen: what leaves it is in the scrollback of the terminal. */
export class TUI extends Container {
  readonly mode: "regular" | "fullscreen" = "regular";
  terminal: Terminal;
  /** Called before each frame, to bring components up to date with what they show. */
  beforeRender: (() => void) | undefined;
  readonly #screen = new MainScreen();
  readonly #frames: Frames;
  readonly #overlays: Overlays;
  readonly #listeners = new Set<TuiInputListener>();
  #showsCursor: boolean;
  #isRunning = false;
  /** What the first frame waits for. */
  #ready: Promise<unknown> | undefined;

  constructor(terminal: Terminal, showHardwareCursor = false) {
    super();
    this.terminal = terminal;
    this.#showsCursor = showHardwareCursor;
    this.#frames = new Frames(() => this.#draw());
    this.#overlays = new Overlays(
      () => this.terminal,
      () => this.requestRender(),
    );
  }

  /** The first frame waits for `ready`, such as answers of the terminal; keys are taken at once. */
  start(ready?: Promise<unknown>): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#ready = ready;
    void ready?.finally(() => {
      if (this.#ready === ready) this.#ready = undefined;
      this.requestRender();
    });
    this.terminal.start(
      (data) => this.#handleInput(data),
      () => this.requestRender(),
    );
    this.terminal.hideCursor();
    this.requestRender();
  }

  /** The last frame is drawn and stays; the cursor is below it. */
  stop(): void {
    if (!this.#isRunning) return;
    this.#frames.drawNow();
    this.#isRunning = false;
    this.#frames.cancel();
    this.terminal.write(this.#screen.leave());
    this.terminal.showCursor();
    this.terminal.stop();
  }

  /** Draws soon. With `force`, every visible line is drawn, also those that did not change. */
  requestRender(force = false): void {
    if (force && this.#isRunning) this.terminal.write(this.#screen.forget());
    if (this.#isRunning) this.#frames.request();
  }

  renderNow(force = false): void {
    this.requestRender(force);
    if (this.#isRunning) this.#frames.drawNow();
  }

  override invalidate(): void {
    super.invalidate();
    for (const component of this.#overlays.components) component.invalidate();
  }

  setFocus(component: Component | null): void {
    this.#overlays.setFocus(component);
    this.requestRender();
  }

  getFocusedComponent(): Component | null {
    return this.#overlays.focused;
  }

  showOverlay(component: Component, options?: OverlayOptions): OverlayHandle {
    return this.#overlays.show(component, options);
  }

  /** The one in front. */
  hideOverlay(): void {
    this.#overlays.hideTop();
  }

  hasOverlay(): boolean {
    return this.#overlays.hasVisible();
  }

  /** Returns a function that removes it. */
  addInputListener(listener: TuiInputListener): () => void {
    this.#listeners.add(listener);
    return () => this.removeInputListener(listener);
  }

  removeInputListener(listener: TuiInputListener): void {
    this.#listeners.delete(listener);
  }

  getShowHardwareCursor(): boolean {
    return this.#showsCursor;
  }

  setShowHardwareCursor(enabled: boolean): void {
    if (enabled === this.#showsCursor) return;
    this.#showsCursor = enabled;
    if (!enabled) this.terminal.hideCursor();
    this.requestRender();
  }

  #handleInput(data: string): void {
    let rest = data;
    for (const listener of this.#listeners) {
      const result = listener(rest);
      if (result?.consume) return;
      rest = result?.data ?? rest;
      if (rest === "") return;
    }
    const target = this.#overlays.getInputTarget();
    if (!target?.handleInput || (isKeyRelease(rest) && !target.wantsKeyRelease)) return;
    target.handleInput(rest);
    this.requestRender();
  }

  #draw(): void {
    if (!this.#isRunning || this.#ready) return;
    this.beforeRender?.();
    const size = { columns: this.terminal.columns, rows: this.terminal.rows };
    const bytes = this.#screen.draw(this.children, size, (lines) => this.#overlays.composite(lines, size));
    if (bytes === "") return;
    // Where a terminal measures a character differently, the rest of its line is cut, instead of pushing all others down.
    const guarded = ascii.test(bytes) ? bytes : `\x1b[?7l${bytes}\x1b[?7h`;
    this.terminal.write(`${beginUpdate}${guarded}${this.#showsCursor ? "\x1b[?25h" : ""}${endUpdate}`);
  }
}
