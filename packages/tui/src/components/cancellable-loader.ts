import { getKeybindings } from "../keys/keybindings.ts";
import { Loader } from "./loader.ts";

/** A loader that the user can cancel. */
export class CancellableLoader extends Loader {
  readonly #abort = new AbortController();
  /** Called when the user cancels. */
  onAbort?: () => void;

  /** Aborted when the user cancels. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.#abort.signal.aborted;
  }

  handleInput(data: string): void {
    if (!getKeybindings().matches(data, "tui.select.cancel")) return;
    this.#abort.abort();
    this.onAbort?.();
  }

  dispose(): void {
    this.stop();
  }
}
