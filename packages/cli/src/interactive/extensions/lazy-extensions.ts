/** The extensions of the session that is shown. What they need is loaded for the first session that has any. */
import type { ExtensionClient } from "./extension-client.ts";
import type { TerminalExtensions, TerminalExtensionsOptions } from "./terminal-extensions.ts";

interface LazyExtensionsOptions extends TerminalExtensionsOptions {
  /** The extensions of the session that is shown. */
  getExtensions: () => ExtensionClient | undefined;
}

export class LazyExtensions {
  readonly #options: LazyExtensionsOptions;
  #current: TerminalExtensions | undefined;
  #stopListening = () => {};

  constructor(options: LazyExtensionsOptions) {
    this.#options = options;
  }

  /** Undefined until a session has had some. */
  get current(): TerminalExtensions | undefined {
    return this.#current;
  }

  /** From now on those of the session that is shown draw. */
  async use(): Promise<void> {
    const { getExtensions } = this.#options;
    this.#stopListening();
    this.#stopListening = getExtensions()?.onFirst?.(() => this.#attachFeature()) ?? (() => {});
    if (!this.#current && getExtensions()?.loaded) {
      const { TerminalExtensions } = await import("./terminal-extensions.ts");
      // Somebody else may have waited for it too.
      this.#current ??= new TerminalExtensions(this.#options);
    }
    this.#current?.use(getExtensions());
  }

  /** A reload may have brought the first ones. */
  async attachFirst(): Promise<void> {
    if (this.#current || !this.#options.getExtensions()?.loaded) return;
    await this.use();
    await this.#current!.attach();
  }

  async #attachFeature(): Promise<void> {
    await this.use();
    await this.#current?.attach();
  }
}
