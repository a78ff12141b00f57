import type { Component } from "@tau/tui";

/** A place on the screen for one component, which can be replaced. */
export class Slot implements Component {
  readonly isEphemeral: boolean;
  readonly #usual: Component;
  #current: Component;

  constructor(usual: Component, { isEphemeral = false }: { isEphemeral?: boolean } = {}) {
    this.#usual = usual;
    this.#current = usual;
    this.isEphemeral = isEphemeral;
  }

  /** Undefined: the usual one. */
  show(component: Component | undefined): void {
    this.#current = component ?? this.#usual;
  }

  render(width: number): string[] {
    return this.#current.render(width);
  }

  countFinished(width: number): number {
    return this.#current.countFinished?.(width) ?? this.render(width).length;
  }

  invalidate(): void {
    this.#usual.invalidate();
    if (this.#current !== this.#usual) this.#current.invalidate();
  }
}
