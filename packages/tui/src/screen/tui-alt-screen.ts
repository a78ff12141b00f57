/** An interface in the alternate screen of a terminal: as high as the terminal, with scrolling, search and mouse of its own. */
import type { Component } from "../component.ts";
import { Container } from "../components/container.ts";
import { ScrollView } from "../components/scroll-view.ts";
import { getKeybindings, type Keybinding } from "../keys/keybindings.ts";
import { isKeyRelease } from "../keys/match.ts";
import { parseMouseReport } from "../keys/mouse-report.ts";
import { getScrollViewBox, type LayoutFrame, renderLayoutFrame } from "../layout.ts";
import { getCapabilities, setImagesHidden } from "../terminal/capabilities.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visibleWidth } from "../text/cells.ts";
import { compositeTuiLine } from "./composite.ts";
import { DocumentSearch } from "./document-search.ts";
import { Flashes } from "./flashes.ts";
import { endFullScreen, enterFullScreen, FullScreen, leaveFullScreen } from "./full-screen.ts";
import { renderEnd } from "./end-lines.ts";
import { toLine } from "./line.ts";
import { MouseSelection } from "./mouse-selection.ts";
import type { OverlayHandle } from "./overlays.ts";
import { Pointer } from "./pointer.ts";
import { scrollByKey, usesScrollKeys } from "./scroll-keys.ts";
import { SearchPanel } from "./search-panel.ts";
import { TuiBase, type TuiStopOptions } from "./tui-base.ts";

export const VIEWPORT_TUI: unique symbol = Symbol("viewport");

/** An interface with a height of its own, in which components can be laid out. */
export interface ViewportTUI extends TuiBase {
  readonly [VIEWPORT_TUI]: true;
  setLayoutRoot(component: Component | undefined): void;
}

export const isViewportTUI = (tui: TuiBase): tui is ViewportTUI => VIEWPORT_TUI in tui;

export interface TuiAltScreenOptions {
  /** For one step of the wheel; with Alt five times as many. Default 1. */
  wheelScrollLines?: number;
  /** Whether the mouse is ours; without it, the terminal selects text. Default true. */
  mouse?: boolean;
  searchMatchStyle?: (text: string) => string;
  searchCurrentMatchStyle?: (text: string) => string;
  searchNavigationButtonStyle?: (text: string, hovered: boolean) => string;
  /** A label on the last row of the primary view while it does not show its end; a click on it goes there. */
  scrollToEndIndicator?: () => string;
  /** For a click on a link. Default: nothing happens. */
  openUrl?: (url: string) => void;
  /** For the right button. Only on Windows, where people expect it. */
  onRightClickPaste?: () => void;
  /** Whether selected text is copied when the button is released. Default true. */
  copyOnSelect?: boolean;
  /** True if it was copied; else what to say, or false. Default: the terminal copies it (OSC 52). */
  copySelection?: (text: string) => Promise<boolean | string>;
}

type ResolvedOptions = Omit<Required<TuiAltScreenOptions>, "scrollToEndIndicator" | "openUrl" | "copySelection"> &
  Pick<TuiAltScreenOptions, "scrollToEndIndicator" | "openUrl" | "copySelection">;

const defaults: ResolvedOptions = {
  wheelScrollLines: 1,
  mouse: true,
  searchMatchStyle: (text) => `\x1b[4m${text}\x1b[24m`,
  searchCurrentMatchStyle: (text) => `\x1b[1;7m${text}\x1b[22;27m`,
  searchNavigationButtonStyle: (text, hovered) => (hovered ? `\x1b[7m${text}\x1b[27m` : text),
  onRightClickPaste: () => {},
  copyOnSelect: true,
};

/** Reports of the window's focus. */
const focusIn = "\x1b[I";
const focusOut = "\x1b[O";

/** How many lines of the document are printed at most when the screen is left. */
const maxExitLines = 1_000;
const flashMs = 1_500;

/** Without a layout, the children are one document that is scrolled, and its end is followed while it is visible. */
export class TuiAltScreen extends TuiBase implements ViewportTUI {
  readonly mode = "fullscreen";
  readonly [VIEWPORT_TUI] = true as const;
  readonly #options: ResolvedOptions;
  readonly #screen = new FullScreen();
  readonly #document = new Container();
  readonly #documentView = new ScrollView(this.#document, { follow: "end", primary: true });
  readonly #flashes = new Flashes(() => this.requestRender());
  readonly #selection = new MouseSelection();
  readonly #search = new DocumentSearch();
  readonly #pointer: Pointer;
  readonly #onExit = () =>
    this.terminal.write(this.#screen.forget() + endFullScreen(this.#options.mouse) + leaveFullScreen + "\x1b[?25h");
  #layoutRoot: Component | undefined;
  #frame: LayoutFrame | undefined;
  #indicator: { row: number; start: number; end: number } | undefined;
  #panel: { component: SearchPanel; overlay: OverlayHandle } | undefined;

  constructor(
    terminal: Terminal,
    showHardwareCursor = false,
    logDirectory?: string,
    options: TuiAltScreenOptions = {},
  ) {
    super(terminal, showHardwareCursor, logDirectory);
    this.#options = { ...defaults, ...options };
    this.#pointer = new Pointer({
      overlays: this.overlays,
      selection: this.#selection,
      wheelLines: Math.max(1, Math.floor(this.#options.wheelScrollLines)),
      getFrame: () => this.#frame,
      setFocus: (component) => this.setFocus(component),
      requestRender: () => this.requestRender(),
      takePress: (x, y) => this.#takePress(x, y),
      openUrl: (url) => {
        this.#options.openUrl?.(url);
        return this.#options.openUrl !== undefined;
      },
      onSelected: () => {
        if (this.#options.copyOnSelect) void this.copyActiveSelectionToClipboard();
      },
      onRightPress: () => {
        // The terminal of VS Code pastes by itself.
        const pastesItself = process.env["TERM_PROGRAM"]?.toLowerCase() === "vscode";
        if (process.platform === "win32" && !pastesItself) this.#options.onRightClickPaste();
      },
    });
  }

  /** The first line of the primary view that is visible. */
  get viewportTop(): number {
    return this.#view.scrollTop;
  }

  get isFollowingOutput(): boolean {
    return this.#view.isFollowingEnd;
  }

  getCopyOnSelect(): boolean {
    return this.#options.copyOnSelect;
  }

  setCopyOnSelect(enabled: boolean): void {
    this.#options.copyOnSelect = enabled;
  }

  hasActiveSelection(): boolean {
    return this.#getSelectedText() !== "";
  }

  /** Resolves to whether there was something to copy, and it was copied. */
  async copyActiveSelectionToClipboard(): Promise<boolean> {
    const text = this.#getSelectedText();
    if (text === "") return false;
    const { copySelection } = this.#options;
    if (!copySelection) this.terminal.write(`\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`);
    const result = copySelection ? await copySelection(text).catch(() => false) : true;
    this.flash(result === true ? "Copied!" : result === false ? "Copy failed" : result);
    return result === true;
  }

  /** Sets the component that fills the screen instead of the children. */
  setLayoutRoot(component: Component | undefined): void {
    this.#layoutRoot = component;
    this.#frame = undefined;
    this.#selection.clear();
    this.requestRender();
  }

  scrollBy(lines: number): void {
    this.#view.scrollBy(lines);
    this.requestRender();
  }

  scrollToTop(): void {
    this.#view.scrollToStart();
    this.requestRender();
  }

  scrollToBottom(): void {
    this.#view.scrollToEnd();
    this.requestRender();
  }

  /** Shows a message for a while. */
  flash(message: string, durationMs = flashMs): void {
    this.#flashes.show(message, durationMs);
  }

  /** The whole document. */
  override render(width: number): string[] {
    return this.#layoutRoot?.render(width) ?? super.render(width);
  }

  override invalidate(): void {
    super.invalidate();
    this.#layoutRoot?.invalidate();
  }

  protected override get roots(): readonly Component[] {
    return this.#layoutRoot ? [this.#layoutRoot] : this.children;
  }

  get #view(): ScrollView {
    return this.#frame?.primaryScrollView ?? this.#documentView;
  }

  protected override beforeTerminalStart(): void {
    this.terminal.write(enterFullScreen(this.#options.mouse));
    this.#screen.forget();
    // By other protocols nothing takes a part of an image away, and rows are drawn over each other all the time.
    const { images } = getCapabilities();
    if (images === "kitty") this.invalidate();
    else if (images) this.#showImagesAsText();
  }

  #showImagesAsText(): void {
    setImagesHidden(true);
    this.invalidate();
  }

  /** A program that ends without `stop` must not leave its screen behind. The keyboard is restored first: each screen has its own. */
  protected override afterTerminalStart(): void {
    process.on("exit", this.#onExit);
  }

  protected override beforeTerminalStop({ preserveScreen = false }: TuiStopOptions): void {
    this.#closeSearch();
    this.#flashes.clear();
    this.#selection.clear();
    this.#pointer.reset();
    process.off("exit", this.#onExit);
    this.terminal.write(this.#screen.forget() + endFullScreen(this.#options.mouse));
    // What is printed then would send all the images of the last lines again.
    if (!preserveScreen && getCapabilities().images) this.#showImagesAsText();
  }

  protected override afterTerminalStop({ preserveScreen = false }: TuiStopOptions): void {
    const { columns } = this.terminal;
    const lines = preserveScreen
      ? []
      : renderEnd(this.roots, columns, maxExitLines).map((text) => toLine(text, columns).text);
    const printed = lines.map((text) => `${text}\r\n`).join("");
    this.terminal.write(`${leaveFullScreen}${printed === "" ? "" : `\x1b[?7l${printed}\x1b[?7h`}\x1b[?25h`);
    setImagesHidden(false);
  }

  protected override beforeResize(): number {
    // The size may be the same again.
    this.#screen.forgetRows();
    return 0;
  }

  protected override forgetScreen(): string {
    return this.#screen.forget();
  }

  protected override drawFrame(): string {
    const size = { columns: this.terminal.columns, rows: this.terminal.rows };
    this.#document.children = this.children;
    const root = this.#layoutRoot ?? this.#documentView;
    const frame = renderLayoutFrame(root, size.columns, size.rows, () => this.requestRender());
    this.#frame = frame;
    const lines = [...frame.lines];
    const { searchMatchStyle: match, searchCurrentMatchStyle: currentMatch } = this.#options;
    this.#search.highlight(frame, this.#view, lines, { match, currentMatch });
    this.#selection.highlight(frame, lines);
    this.#drawIndicator(frame, lines);
    const composed = this.overlays.composite(lines, size, frame.images).slice(0, size.rows);
    this.#flashes.composite(composed, size.columns, frame.images);
    return this.#screen.draw(this.toShown(composed), size, frame.images.images);
  }

  protected override takeInput(data: string): boolean {
    if (data.startsWith("\x1b[<")) {
      const report = parseMouseReport(data);
      if (report && !this.#frame) this.renderNow();
      if (report && this.#options.mouse) this.#pointer.handle(report);
      return report !== undefined;
    }
    if (data === focusIn) return true;
    if (data === focusOut) {
      this.#pointer.cancel();
      return true;
    }
    if (isKeyRelease(data)) return false;
    const keys = getKeybindings();
    const isKey = (action: Keybinding) => keys.matches(data, action);
    if (isKey("tui.altScreen.search")) return this.#toggleSearch();
    if (this.#panel?.overlay.isFocused()) {
      if (isKey("tui.altScreen.searchClose")) return this.#closeSearch();
      if (isKey("tui.altScreen.searchPrevious")) return this.#navigateSearch(-1);
      if (isKey("tui.altScreen.searchNext")) return this.#navigateSearch(1);
    } else if (this.overlays.hasFocus() || usesScrollKeys(this.overlays.getInputTarget())) return false;
    if (!scrollByKey(data, this.#view, this.#frame)) return false;
    this.requestRender();
    return true;
  }

  #getSelectedText(): string {
    return this.#frame ? this.#selection.getText(this.#frame) : "";
  }

  #toggleSearch(): boolean {
    if (this.#panel) return this.#closeSearch();
    const component = new SearchPanel({
      onQuery: (query) => {
        if (!this.#frame) this.renderNow();
        if (!this.#frame) return;
        const { index, count } = this.#search.setQuery(this.#frame, this.#view, query);
        component.setResult(index, count);
        this.requestRender();
      },
      onNavigate: (direction) => this.#navigateSearch(direction),
      buttonStyle: this.#options.searchNavigationButtonStyle,
    });
    const overlay = this.showOverlay(component, { anchor: "top-right", margin: 1, width: 40 });
    this.#panel = { component, overlay };
    return true;
  }

  #closeSearch(): true {
    this.#panel?.overlay.hide();
    this.#panel = undefined;
    this.#search.clear();
    return true;
  }

  #navigateSearch(direction: -1 | 1): true {
    if (!this.#frame || !this.#panel) return true;
    const { index, count } = this.#search.navigate(this.#frame, this.#view, direction);
    this.#panel.component.setResult(index, count);
    this.requestRender();
    return true;
  }

  #drawIndicator(frame: LayoutFrame, lines: string[]): void {
    this.#indicator = undefined;
    const view = frame.primaryScrollView;
    const box = view && getScrollViewBox(frame, view);
    if (!box || !view.followEnd || view.isFollowingEnd || box.clip.height === 0) return;
    const label = this.#options.scrollToEndIndicator?.() ?? "";
    const width = Math.min(visibleWidth(label), box.clip.width);
    if (width === 0) return;
    const row = box.clip.y + box.clip.height - 1;
    const start = box.clip.x + Math.floor((box.clip.width - width) / 2);
    this.#indicator = { row, start, end: start + width };
    lines[row] = compositeTuiLine(lines[row] as string, label, start, width, frame.width);
    frame.images.cover({ x: start, y: row, width, height: 1 });
  }

  #takePress(x: number, y: number): boolean {
    const indicator = this.#indicator;
    if (!indicator || y !== indicator.row || x < indicator.start || x >= indicator.end) return false;
    this.scrollToBottom();
    return true;
  }
}
