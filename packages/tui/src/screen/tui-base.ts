/** The base of every interface in a terminal: components, overlays, the focus, input, and when to draw. */
import { type Component, hideFakeCursor } from "../component.ts";
import { Container } from "../components/container.ts";
import { isKeyRelease, matchesKey } from "../keys/match.ts";
import { getCapabilities } from "../terminal/capabilities.ts";
import type { RgbColor, TerminalColorScheme } from "../terminal/colors.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { Frames } from "./frames.ts";
import type { OverlayOptions } from "./overlay-layout.ts";
import { type OverlayHandle, Overlays } from "./overlays.ts";
import { TerminalQueries } from "./terminal-queries.ts";

export type TuiMode = "regular" | "fullscreen";

export interface TuiStopOptions {
  /** Nothing of the document is printed and the cursor stays: another interface continues in this terminal. Default false. */
  preserveScreen?: boolean;
}

export type TuiInputListenerResult = { consume?: boolean; data?: string } | undefined;
/** Gets what is typed before the component with the focus: may take it, or change it. */
export type TuiInputListener = (data: string) => TuiInputListenerResult;

const beginUpdate = "\x1b[?2026h";
const endUpdate = "\x1b[?2026l";

export abstract class TuiBase extends Container {
  abstract readonly mode: TuiMode;
  terminal: Terminal;
  /** Called for Shift, Ctrl and D, which then nobody else gets. */
  onDebug?: () => void;
  /** Called before each frame, to bring components up to date with what they show. */
  beforeRender: (() => void) | undefined;
  protected readonly overlays: Overlays;
  readonly #frames = new Frames(() => this.#draw());
  readonly #queries = new TerminalQueries(
    (data) => this.terminal.write(data),
    () => {
      this.invalidate();
      this.requestRender();
    },
  );
  readonly #listeners = new Set<TuiInputListener>();
  readonly #settings: { showsCursor: boolean; clearsOnShrink: boolean; notifiesScheme: boolean };
  #isRunning = false;
  /** Whether a component threw when it was drawn the last time. */
  #isBroken = false;
  /** The first frame waits for it. */
  #ready: Promise<unknown> | undefined;
  #fullRedraws = { count: 0, columns: 0, rows: 0 };

  /** The third parameter of pi's, a directory for logs, is taken and not used. */
  constructor(terminal: Terminal, showHardwareCursor = false, _logDirectory?: string) {
    super();
    this.terminal = terminal;
    this.#settings = { showsCursor: showHardwareCursor, clearsOnShrink: false, notifiesScheme: false };
    this.overlays = new Overlays({
      getSize: () => this.terminal,
      getRoots: () => this.roots,
      onChange: () => this.requestRender(),
    });
  }

  /** The bytes of the next frame; empty if nothing changed. `isLast` if the interface stops after it. */
  protected abstract drawFrame(isLast: boolean): string;
  /** Whether the last frame moved what is visible up, or drew every row, for another reason than a resize. */
  protected get isDrawnAnew(): boolean {
    return false;
  }
  /** All that is known of the screen is forgotten. Returns what is to be written before the next frame, which draws every row. */
  protected abstract forgetScreen(): string;
  /** Gets input after the listeners and before the component with the focus. Returns true if it took it. */
  protected takeInput(_data: string): boolean {
    return false;
  }
  /** The terminal has another size, or had one. Returns how long the next frame waits, in milliseconds. */
  protected beforeResize(): number {
    return 0;
  }
  protected beforeTerminalStart(): void {}
  protected afterTerminalStart(): void {}
  protected beforeTerminalStop(_options: TuiStopOptions): void {}
  protected afterTerminalStop(_options: TuiStopOptions): void {}

  /** The first frame waits for `ready`, such as answers of the terminal; keys are taken at once. */
  start(ready?: Promise<unknown>): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#ready = ready;
    void ready?.finally(() => {
      if (this.#ready === ready) this.#ready = undefined;
      this.requestRender();
    });
    this.beforeTerminalStart();
    this.#fullRedraws.columns = 0;
    this.terminal.start(
      (data) => this.#handleInput(data),
      () => {
        this.#frames.hold(this.beforeResize());
        this.requestRender();
      },
    );
    this.afterTerminalStart();
    this.terminal.hideCursor();
    if (this.#settings.notifiesScheme) this.terminal.write("\x1b[?2031h");
    if (getCapabilities().images) this.#queries.queryCellSize();
    this.#frames.requestNext();
  }

  /** The last frame is drawn first, unless the one before it failed: the terminal is restored in any case. */
  stop(options: TuiStopOptions = {}): void {
    if (!this.#isRunning) return;
    const isBroken = this.#isBroken;
    if (!isBroken) this.#draw(!options.preserveScreen);
    this.#isRunning = false;
    this.#frames.cancel();
    if (this.#settings.notifiesScheme) this.terminal.write("\x1b[?2031l");
    this.beforeTerminalStop(options);
    this.terminal.showCursor();
    this.terminal.stop();
    this.afterTerminalStop(isBroken ? { ...options, preserveScreen: true } : options);
  }

  /** How often the screen was drawn from its top: at the start, when it is forced, after a resize, when what is visible moves up. */
  get fullRedraws(): number {
    return this.#fullRedraws.count;
  }

  /** Lines with one cursor at most: that of the terminal, or one that is drawn. */
  protected toShown(lines: readonly string[]): readonly string[] {
    return this.#settings.showsCursor ? lines.map(hideFakeCursor) : lines;
  }

  /** The components that are drawn below the overlays. */
  protected get roots(): readonly Component[] {
    return this.children;
  }

  protected get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Draws soon. With `force`, it is in the next tick, and every visible line is drawn, also those that did not change. */
  requestRender(force = false): void {
    if (!this.#isRunning) return;
    if (force) {
      this.#fullRedraws.columns = 0;
      this.terminal.write(this.forgetScreen());
      this.#frames.requestNext();
    } else this.#frames.request();
  }

  renderNow(force = false): void {
    this.requestRender(force);
    if (this.#isRunning) this.#frames.drawNow();
  }

  override invalidate(): void {
    super.invalidate();
    for (const component of this.overlays.components) component.invalidate();
  }

  setFocus(component: Component | null): void {
    this.overlays.setFocus(component);
    this.requestRender();
  }

  getFocusedComponent(): Component | null {
    return this.overlays.focused;
  }

  showOverlay(component: Component, options?: OverlayOptions): OverlayHandle {
    return this.overlays.show(component, options);
  }

  /** The one in front. */
  hideOverlay(): void {
    this.overlays.hideTop();
  }

  hasOverlay(): boolean {
    return this.overlays.hasVisible();
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
    return this.#settings.showsCursor;
  }

  setShowHardwareCursor(enabled: boolean): void {
    if (enabled === this.#settings.showsCursor) return;
    this.#settings.showsCursor = enabled;
    if (!enabled) this.terminal.hideCursor();
    this.requestRender();
  }

  getClearOnShrink(): boolean {
    return this.#settings.clearsOnShrink;
  }

  /** Whether every row is drawn again when the document became shorter. Default false: rows that became empty are always cleared. */
  setClearOnShrink(enabled: boolean): void {
    this.#settings.clearsOnShrink = enabled;
  }

  /** Undefined if the terminal does not answer in time. */
  queryTerminalBackgroundColor({ timeoutMs }: { timeoutMs: number }): Promise<RgbColor | undefined> {
    return this.#queries.queryBackground(timeoutMs);
  }

  /** Undefined if the terminal does not answer in time. */
  queryTerminalColorScheme({ timeoutMs }: { timeoutMs: number }): Promise<TerminalColorScheme | undefined> {
    return this.#queries.queryScheme(timeoutMs);
  }

  /** Returns a function that removes the listener. */
  onTerminalColorSchemeChange(listener: (scheme: TerminalColorScheme) => void): () => void {
    return this.#queries.addSchemeListener(listener);
  }

  /** Whether the terminal says when it changes between light and dark. Default false. */
  setTerminalColorSchemeNotifications(enabled: boolean): void {
    if (enabled === this.#settings.notifiesScheme) return;
    this.#settings.notifiesScheme = enabled;
    if (this.#isRunning) this.terminal.write(enabled ? "\x1b[?2031h" : "\x1b[?2031l");
  }

  #handleInput(data: string): void {
    if (this.#queries.takeAnswer(data)) return;
    this.#frames.hurry();
    let rest = data;
    for (const listener of this.#listeners) {
      const result = listener(rest);
      if (result?.consume) return;
      rest = result?.data ?? rest;
      if (rest === "") return;
    }
    if (this.onDebug && matchesKey(rest, "shift+ctrl+d")) return this.onDebug();
    if (this.takeInput(rest)) return;
    const target = this.overlays.getInputTarget();
    if (!target?.handleInput || (isKeyRelease(rest) && !target.wantsKeyRelease)) return;
    target.handleInput(rest);
    this.requestRender();
  }

  #draw(isLast = false): void {
    if (!this.#isRunning || this.#ready) return;
    this.#isBroken = true;
    this.beforeRender?.();
    const bytes = this.drawFrame(isLast);
    this.#isBroken = false;
    this.#countFullRedraw();
    if (bytes === "") return;
    this.terminal.write(`${beginUpdate}${bytes}${this.#settings.showsCursor ? "\x1b[?25h" : ""}${endUpdate}`);
  }

  #countFullRedraw(): void {
    const { columns, rows } = this.terminal;
    const { count, ...last } = this.#fullRedraws;
    const isResized = columns !== last.columns || rows !== last.rows;
    if (isResized || this.isDrawnAnew) this.#fullRedraws = { count: count + 1, columns, rows };
  }
}
