import { type Component, Container } from "@tau/tui";

/** Dialogs in the place of the editor. The latest is shown and has the keys; without any, the editor. */
export class DialogStack {
  readonly slot = Object.assign(new Container(), { isEphemeral: true });
  readonly #editor: Component;
  readonly #setFocus: (component: Component) => void;
  #dialogs: readonly Component[] = [];

  constructor(editor: Component, setFocus: (component: Component) => void) {
    this.#editor = editor;
    this.#setFocus = setFocus;
    this.slot.addChild(editor);
  }

  get isEmpty(): boolean {
    return this.#dialogs.length === 0;
  }

  open(dialog: Component): void {
    this.#show([...this.#dialogs, dialog]);
  }

  close(dialog: Component): void {
    this.#show(this.#dialogs.filter((other) => other !== dialog));
  }

  /** Shows a dialog until it calls `finish`, and resolves to what it called it with. */
  ask<T>(create: (finish: (value: T) => void) => Component): Promise<T> {
    return new Promise<T>((resolve) => {
      const dialog = create((value) => {
        this.close(dialog);
        resolve(value);
      });
      this.open(dialog);
    });
  }

  #show(dialogs: readonly Component[]): void {
    this.#dialogs = dialogs;
    const shown = dialogs.at(-1) ?? this.#editor;
    this.slot.children = [shown];
    this.#setFocus(shown);
  }
}
