/** Waits for a login in a browser: shows its address, and takes what the browser shows at the end. */
import { type Component, Container, type Focusable, getCapabilities, hyperlink, Input, Spacer, Text } from "@tau/tui";
import type { Theme } from "@tau/tui";

interface LoginDialogOptions {
  theme: Theme;
  /** How the key that copies the address is called. */
  copyKey: string;
  isCopyKey: (data: string) => boolean;
  onCopy: (url: string) => void;
  onPaste: (text: string) => void;
  onCancel: () => void;
}

export class LoginDialog extends Container implements Focusable {
  readonly #options: LoginDialogOptions;
  readonly #what: Text;
  readonly #address = new Address();
  readonly #hint = new Text("", 1, 0);
  readonly #input = new Input();

  constructor(options: LoginDialogOptions) {
    super();
    this.#options = options;
    const { theme, onPaste, onCancel } = options;
    this.#what = new Text(theme.fg("muted", "Waiting for you to log in in the browser. Escape stops that."), 1, 0);
    this.#input.onSubmit = (text) => {
      if (text.trim() === "") return;
      this.#input.setValue("");
      onPaste(text);
    };
    this.#input.onEscape = onCancel;
    const question = new Text(theme.fg("accent", "Or paste the address of the last page, or the code on it:"), 1, 0);
    const spacer = new Spacer(1);
    this.children = [spacer, this.#what, spacer, this.#address, this.#hint, spacer, question, this.#input];
  }

  /** Shows the message of the login: usually which address to open. */
  setMessage(text: string, url: string | undefined): void {
    const { theme, copyKey } = this.#options;
    // The address has lines of its own, because what follows it on its line would be copied with it.
    const words = url === undefined ? text : text.replace(url, "").replace(/\s+/g, " ").trim();
    this.#what.setText(theme.fg("muted", `${words}${url === undefined ? "" : ":"} (Escape stops the login.)`));
    this.#address.url = url;
    this.#hint.setText(url === undefined ? "" : theme.fg("dim", `${copyKey} copies the address.`));
  }

  get focused(): boolean {
    return this.#input.focused;
  }

  set focused(focused: boolean) {
    this.#input.focused = focused;
  }

  handleInput(data: string): void {
    const { isCopyKey, onCopy } = this.#options;
    if (this.#address.url !== undefined && isCopyKey(data)) onCopy(this.#address.url);
    else this.#input.handleInput(data);
  }
}

/** Nothing but the address, from edge to edge, so that it can be selected. Every part of it links to the whole. */
class Address implements Component {
  url: string | undefined;

  invalidate(): void {}

  render(width: number): string[] {
    const { url } = this;
    if (url === undefined) return [];
    // Addresses are ASCII: a character is a column.
    const parts = url.match(new RegExp(`.{1,${Math.max(1, width)}}`, "g")) ?? [];
    return getCapabilities().hyperlinks ? parts.map((part) => hyperlink(part, url)) : parts;
  }
}
