import { CancellableLoader, Container, Loader, Spacer, Text, type Theme, type TUI } from "@tau/tui";
import { DynamicBorder } from "./dynamic-border.ts";
import { keyHint } from "./key-hints.ts";

/** A loader between two lines. */
export class BorderedLoader extends Container {
  readonly #loader: Loader;
  /** Used by a loader that cannot be cancelled. Never aborts. */
  readonly #signal = new AbortController().signal;

  constructor(tui: TUI, theme: Theme, message: string, { cancellable = true }: { cancellable?: boolean } = {}) {
    super();
    const accent = (text: string) => theme.fg("accent", text);
    const muted = (text: string) => theme.fg("muted", text);
    const border = (text: string) => theme.fg("border", text);
    this.#loader = cancellable
      ? new CancellableLoader(tui, accent, muted, message)
      : new Loader(tui, accent, muted, message);
    this.addChild(new DynamicBorder(border));
    this.addChild(this.#loader);
    if (cancellable) {
      this.addChild(new Spacer(1));
      this.addChild(new Text(keyHint("tui.select.cancel", "cancel"), 1, 0));
    }
    this.addChild(new Spacer(1));
    this.addChild(new DynamicBorder(border));
  }

  get signal(): AbortSignal {
    return this.#loader instanceof CancellableLoader ? this.#loader.signal : this.#signal;
  }

  set onAbort(callback: (() => void) | undefined) {
    if (!(this.#loader instanceof CancellableLoader)) return;
    if (callback) this.#loader.onAbort = callback;
    else delete this.#loader.onAbort;
  }

  handleInput(data: string): void {
    if (this.#loader instanceof CancellableLoader) this.#loader.handleInput(data);
  }

  dispose(): void {
    this.#loader.stop();
  }
}
