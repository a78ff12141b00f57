import type { Component } from "@tau/tui";

type Disposable = Component & { dispose?(): void };

/** A place on the screen for one component, which can be replaced. */
export class Slot implements Component {
  readonly isEphemeral: boolean;
  readonly #usual: Component;
  #current: Disposable;

  constructor(usual: Component, { isEphemeral = false }: { isEphemeral?: boolean } = {}) {
    this.#usual = usual;
    this.#current = usual;
    this.isEphemeral = isEphemeral;
  }

  /** Undefined: the usual one. The one before is disposed of, unless it was that. */
  show(component: Disposable | undefined): void {
    const before = this.#current;
    this.#current = component ?? this.#usual;
    if (before !== this.#usual && before !== component) before.dispose?.();
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
