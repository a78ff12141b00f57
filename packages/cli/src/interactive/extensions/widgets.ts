/** Widgets of extensions, above and below the editor. */
import type { UiFactory } from "@tau/extensions";
import { type Component, type Container, Text, type Theme, type TUI } from "@tau/tui";
import { toStyledText } from "./safe-text.ts";
import { createGuarded } from "./guarded-component.ts";

type WidgetPlacement = "aboveEditor" | "belowEditor";

/** The limit for a widget that is given as lines. If more are needed, it has to be a component. */
const maxLines = 10;

interface WidgetsOptions {
  tui: TUI;
  theme: Theme;
}

interface Widget {
  component: Component & { dispose?(): void };
  placement: WidgetPlacement;
}

export class Widgets {
  readonly #slots: Readonly<Record<WidgetPlacement, Container>>;
  readonly #options: WidgetsOptions;
  readonly #widgets = new Map<string, Widget>();

  constructor(slots: Readonly<Record<WidgetPlacement, Container>>, options: WidgetsOptions) {
    this.#slots = slots;
    this.#options = options;
  }

  /** Undefined removes it. One that exists already stays where it is among the others. */
  set(key: string, content: readonly string[] | UiFactory | undefined, placement: WidgetPlacement): void {
    const before = this.#widgets.get(key);
    const component = content && this.#create(key, content);
    if (component) this.#widgets.set(key, { component, placement });
    else this.#widgets.delete(key);
    before?.component.dispose?.();
    this.#arrange();
  }

  clear(): void {
    for (const { component } of this.#widgets.values()) component.dispose?.();
    this.#widgets.clear();
    this.#arrange();
  }

  #arrange(): void {
    for (const placement of ["aboveEditor", "belowEditor"] as const) {
      const own = [...this.#widgets.values()].filter((widget) => widget.placement === placement);
      this.#slots[placement].children = own.map(({ component }) => component);
    }
  }

  #create(key: string, content: readonly string[] | UiFactory): Widget["component"] {
    const { tui, theme } = this.#options;
    if (typeof content !== "function") return new Text(limitLines(content, theme).join("\n"), 1, 0);
    const name = `The widget ${key} of an extension`;
    return createGuarded(() => content(tui, theme), { theme, name, isEphemeral: true });
  }
}

function limitLines(lines: readonly string[], theme: Theme): string[] {
  const shown = lines.slice(0, maxLines).map(toStyledText);
  return lines.length > maxLines ? [...shown, theme.fg("dim", `… ${lines.length - maxLines} more lines`)] : shown;
}
