/** Components of extensions, so that one that fails costs its own place on the screen and nothing else. */
import { getErrorMessage } from "@tau/ai/internal";
import type { UiComponent } from "@tau/extensions";
import {
  type Component,
  type Focusable,
  getKeybindings,
  type Theme,
  toPlainText,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@tau/tui";
import { describePause, FrameBudget } from "./frame-budget.ts";

interface GuardOptions {
  theme: Theme;
  /** Names what is drawn, for the error: `The widget x`. */
  name: string;
  /** Called once, when it fails. */
  onFailed?: (message: string) => void;
  /** Called by Escape after it failed and while it is paused. Default: nothing. */
  onGivenUp?: () => void;
  /** Shared by components that take each other's place. Default: its own. */
  frames?: FrameBudget;
  /** See `Component.isEphemeral`. Default false. */
  isEphemeral?: boolean;
}

/**
 * Draws a component. If it throws, its error is shown in its place, and it is not asked again. If it draws slowly again and
 * again, that is shown, and it is asked again after a pause.
 */
export class GuardedComponent implements Component, Focusable {
  readonly isEphemeral: boolean;
  readonly #component: Partial<Component & Focusable> & UiComponent;
  readonly #options: GuardOptions;
  readonly #frames: FrameBudget;
  #problem: string | undefined;
  #lines: string[] = [];

  constructor(component: UiComponent, options: GuardOptions) {
    this.#component = component;
    this.#options = options;
    this.#frames = options.frames ?? new FrameBudget();
    this.isEphemeral = options.isEphemeral ?? false;
  }

  get hasFailed(): boolean {
    return this.#problem !== undefined;
  }

  get isPaused(): boolean {
    return this.#frames.isPaused;
  }

  get wantsKeyRelease(): boolean {
    return this.#guard(() => this.#component.wantsKeyRelease) ?? false;
  }

  get wantsPageKeys(): boolean {
    return this.#guard(() => this.#component.wantsPageKeys) ?? false;
  }

  get focused(): boolean {
    return this.#guard(() => this.#component.focused) ?? false;
  }

  set focused(focused: boolean) {
    this.#guard(() => {
      if ("focused" in this.#component) this.#component.focused = focused;
    });
  }

  render(width: number): string[] {
    const drawn = this.isPaused ? undefined : this.#guard(() => this.#draw(width));
    const lines = drawn ?? this.#drawProblem(width);
    // The component may return the same array with other lines in it, which would not be seen as a change.
    const isSame = lines.length === this.#lines.length && lines.every((line, index) => line === this.#lines[index]);
    if (!isSame) this.#lines = lines;
    return this.#lines;
  }

  handleInput(data: string): void {
    const isCancel = getKeybindings().matches(data, "tui.select.cancel");
    if (isCancel && (this.hasFailed || this.isPaused)) this.#options.onGivenUp?.();
    else this.#guard(() => this.#component.handleInput?.(data));
  }

  handleMouse(event: Parameters<NonNullable<Component["handleMouse"]>>[0]) {
    return this.#guard(() => this.#component.handleMouse?.(event));
  }

  invalidate(): void {
    this.#guard(() => this.#component.invalidate?.());
  }

  dispose(): void {
    this.#guard(() => this.#component.dispose?.());
  }

  #draw(width: number): string[] {
    if (typeof this.#component.render !== "function") throw new Error("it is not a component, which has a `render`");
    const lines = this.#frames.draw(() => this.#component.render(width));
    if (!Array.isArray(lines)) throw new Error("`render` did not return lines");
    return lines.map((line) =>
      visibleWidth(String(line)) > width ? truncateToWidth(String(line), width, "") : String(line),
    );
  }

  /** Undefined if it has failed, now or before. */
  #guard<T>(work: () => T): T | undefined {
    if (this.#problem !== undefined) return undefined;
    try {
      return work();
    } catch (error) {
      this.#problem = describeFailure(this.#options.name, error);
      this.#options.onFailed?.(this.#problem);
      return undefined;
    }
  }

  #drawProblem(width: number): string[] {
    const { theme, name } = this.#options;
    const problem = this.#problem ?? describePause(name);
    return wrapTextWithAnsi(theme.fg("error", toPlainText(problem)), Math.max(1, width));
  }
}

export const describeFailure = (name: string, error: unknown): string => `${name} failed: ${getErrorMessage(error)}`;

/** Creates a component of an extension. If that fails, the error is what is drawn. Undefined if there is nothing to draw. */
export function createGuarded(create: () => UiComponent, options: GuardOptions): GuardedComponent;
export function createGuarded(
  create: () => UiComponent | undefined,
  options: GuardOptions,
): GuardedComponent | undefined;
export function createGuarded(
  create: () => UiComponent | undefined,
  options: GuardOptions,
): GuardedComponent | undefined {
  try {
    const frames = options.frames ?? new FrameBudget();
    const component = frames.prepare(create);
    return component && new GuardedComponent(component, { ...options, frames });
  } catch (error) {
    const fail = (): never => {
      throw error;
    };
    return new GuardedComponent({ render: fail }, options);
  }
}
