import type { Component } from "@tau/tui";
import type { Look } from "../look.ts";
import { createKeyHints, type DrawItem } from "./renderers.ts";
import { createGuarded, GuardedComponent } from "./guarded-component.ts";

interface RenderedItemOptions {
  look: Look;
  /** For the error. */
  name: string;
  /** Asked whenever everything is drawn anew: a reload may have brought another renderer. Undefined: `fallback` is shown. */
  find: () => DrawItem | undefined;
  /** Undefined: nothing. */
  fallback: Component | undefined;
}

/** A message or an entry that an extension draws. A renderer that failed is not asked again. */
export class RenderedItem implements Component {
  readonly #options: RenderedItemOptions;
  #current: { component: Component | undefined } | undefined;

  constructor(options: RenderedItemOptions) {
    this.#options = options;
  }

  render(width: number): string[] {
    this.#current ??= { component: this.#create() };
    return this.#current.component?.render(width) ?? empty;
  }

  /** Renderers are asked again, because they depend on what is expanded. */
  invalidate(): void {
    this.#options.fallback?.invalidate();
    const component = this.#current?.component;
    if (component instanceof GuardedComponent && component.hasFailed) return;
    this.#current = undefined;
  }

  #create(): Component | undefined {
    const { look, name, find, fallback } = this.#options;
    const { theme, expandsTools: expanded, outputPad } = look;
    const draw = find();
    const create = () => draw?.({ expanded, outputPad, ...createKeyHints(theme) }, theme);
    return createGuarded(create, { theme, name }) ?? fallback;
  }
}

const empty: string[] = [];
