/** Components of extensions that get the keys: in the place of the editor, or as overlays. */
import type { ExtensionUi, UiComponent, UiFactory } from "@tau/extensions";
import type { KeybindingsManager, OverlayHandle, OverlayOptions, Theme, TUI } from "@tau/tui";
import type { DialogStack } from "../dialog-stack.ts";
import { GuardedComponent } from "./guarded-component.ts";

interface CustomComponentsOptions {
  tui: TUI;
  theme: Theme;
  keybindings: KeybindingsManager;
  stack: DialogStack;
}

type CustomOptions = NonNullable<Parameters<ExtensionUi["custom"]>[1]>;

export class CustomComponents {
  readonly #options: CustomComponentsOptions;
  /** How to end those that are shown. */
  readonly #shown = new Set<() => void>();
  #isClosed = false;

  constructor(options: CustomComponentsOptions) {
    this.#options = options;
  }

  /** Resolves to what the component calls `done` with. Rejects if it cannot be created, or its options fail. */
  async show<T>(
    factory: UiFactory<UiComponent | Promise<UiComponent>>,
    { overlay = false, overlayOptions, onHandle }: CustomOptions = {},
  ): Promise<T | undefined> {
    if (this.#isClosed) return undefined;
    const { tui, theme, keybindings } = this.#options;
    let end: (value: T | undefined) => void = () => {};
    let fail: (error: unknown) => void = () => {};
    let isOver = false;
    const ended = new Promise<T | undefined>((resolve, reject) => {
      end = (value) => {
        isOver = true;
        resolve(value);
      };
      fail = reject;
    });
    const cancel = (): void => end(undefined);
    this.#shown.add(cancel);
    let hide = (): void => {};
    let guarded: GuardedComponent | undefined;
    try {
      const component = (await factory(tui, theme, keybindings, end)) as UiComponent | undefined;
      if (!component) throw new Error("The function did not return a component.");
      guarded = new GuardedComponent(component, { theme, name: "A component of an extension", onGivenUp: cancel });
      // It may have been done before it was there.
      if (!isOver && overlay) {
        const handle = tui.showOverlay(guarded, toOverlayOptions(overlayOptions, fail));
        hide = () => handle.hide();
        onHandle?.(handle satisfies OverlayHandle);
      } else if (!isOver) hide = this.#open(guarded);
      return await ended;
    } finally {
      this.#shown.delete(cancel);
      hide();
      guarded?.dispose();
      tui.requestRender();
    }
  }

  /** Ends all of them, as if they were cancelled. */
  cancel(): void {
    for (const cancel of this.#shown) cancel();
  }

  /** Ends all components, also those to come: nobody is there. */
  close(): void {
    this.#isClosed = true;
    this.cancel();
  }

  #open(component: GuardedComponent): () => void {
    const { stack } = this.#options;
    stack.open(component);
    return () => stack.close(component);
  }
}

/** Options may be a function, and have one, which are asked for each frame. A function that throws is ignored. */
function toOverlayOptions(options: unknown, onFailed: (error: unknown) => void): OverlayOptions {
  const guard = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      onFailed(error);
      return undefined;
    }
  };
  const get = (typeof options === "function" ? options : () => options) as () => OverlayOptions | undefined;
  const read = (name: string | symbol): unknown => guard(() => Reflect.get(get() ?? {}, name) as unknown);
  const isVisible: OverlayOptions["visible"] = (columns, rows) =>
    guard(() => get()?.visible?.(columns, rows) ?? true) ?? true;
  return new Proxy<OverlayOptions>({}, { get: (_target, name) => (name === "visible" ? isVisible : read(name)) });
}
