/** The extensions of the session that the terminal shows: shares the terminal with them, and takes back what they put on it. */
import type { ExtensionSurface } from "@tau/extensions";
import type { AutocompleteProvider, TuiInputListenerResult } from "@tau/tui";
import type { DialogStack } from "../dialog-stack.ts";
import type { SessionClient } from "../session-client.ts";
import { completeArguments, stackProvider } from "./completion.ts";
import { CustomComponents } from "./custom-components.ts";
import { ExtensionDialogs } from "./dialogs.ts";
import type { ExtensionClient, LoadedExtensions } from "./extension-client.ts";
import type { ExtensionPlaces } from "./extension-places.ts";
import { createRenderers } from "./renderers.ts";
import { findShortcut, listBuiltIns } from "./shortcuts.ts";
import { createTerminalUi, type InputListener, type TerminalUiParts } from "./terminal-ui.ts";
import { Widgets } from "./widgets.ts";

export interface TerminalExtensionsOptions extends Pick<
  TerminalUiParts,
  "tui" | "terminal" | "keybindings" | "look" | "themes" | "editor" | "status" | "say" | "redraw"
> {
  dialogs: DialogStack;
  places: ExtensionPlaces;
  /** Without extensions. */
  completion: AutocompleteProvider;
  /** Gets what a running tool has so far. */
  onToolUpdate: Parameters<ExtensionClient["onToolUpdate"]>[0];
  /** Shows another session of the same host. */
  show: (sessionId: string) => Promise<void>;
  leave: () => void;
  /** Adds files or directories of themes; resolves to what is wrong. */
  addThemes: (paths: readonly string[]) => Promise<readonly string[]>;
  /** Runs work that nobody waits for; what it throws is said. */
  run: (work: () => Promise<unknown>) => void;
}

export class TerminalExtensions {
  readonly #options: TerminalExtensionsOptions;
  readonly #widgets: Widgets;
  readonly #dialogs: ExtensionDialogs;
  readonly #custom: CustomComponents;
  readonly #listeners = new Set<InputListener>();
  /** The usual one. */
  readonly #thinkingLabel: string;
  #client: ExtensionClient | undefined;
  /** The client whose extensions share the terminal, or are about to. */
  #attached: ExtensionClient | undefined;
  #providers: Parameters<typeof stackProvider>[1][] = [];
  #detach = () => {};
  #stopUpdates = () => {};
  /** The extensions that have drawn the last frame. */
  #drawnBy: LoadedExtensions | undefined;

  constructor(options: TerminalExtensionsOptions) {
    const { tui, keybindings, look, dialogs: stack, places } = options;
    const { theme } = look;
    this.#options = options;
    this.#thinkingLabel = look.thinkingLabel;
    this.#widgets = new Widgets(places.widgets, { tui, theme });
    this.#dialogs = new ExtensionDialogs({ tui, theme, stack });
    this.#custom = new CustomComponents({ tui, theme, keybindings, stack });
    look.renderers = createRenderers({
      getLoaded: () => this.#loaded,
      requestRender: () => tui.requestRender(),
      onFailed: (message) => options.say(message, "error"),
    });
  }

  get #loaded(): LoadedExtensions | undefined {
    return this.#client?.loaded;
  }

  /** From now on these draw what is shown. Takes back everything of others. */
  use(client: ExtensionClient | undefined): void {
    this.#detach();
    this.#detach = () => {};
    this.#stopUpdates();
    this.#reset();
    this.#client = client;
    this.#attached = undefined;
    this.#stopUpdates = client?.onToolUpdate(this.#options.onToolUpdate) ?? (() => {});
  }

  /** Resolves when they have started, which may include dialogs. */
  async attach(): Promise<void> {
    const client = this.#client;
    // Something may be typed before the session is shown, and asks for the same.
    if (!client || this.#attached === client) return;
    this.#attached = client;
    this.#complete();
    const detach = await client.attach(this.#createSurface(client));
    if (this.#client === client) this.#detach = detach;
    else detach();
  }

  /** Gives what was typed to listeners of extensions first. */
  takeInput(data: string): TuiInputListenerResult {
    let rest = data;
    for (const listener of this.#listeners) {
      const result = listener(rest);
      if (result?.consume) return { consume: true };
      rest = result?.data ?? rest;
      if (rest === "") return { consume: true };
    }
    return rest === data ? undefined : { data: rest };
  }

  hasCommand(name: string): boolean {
    return this.#loaded?.registrations.commands.has(name) ?? false;
  }

  /** Whether the input was the key of an extension. */
  runShortcut(data: string): boolean {
    const loaded = this.#loaded;
    const key = loaded && findShortcut(data, loaded);
    if (key === undefined) return false;
    this.#options.run(() => loaded!.runShortcut(key));
    return true;
  }

  /** For footers of extensions. */
  async countProviders(client: SessionClient): Promise<void> {
    const { models } = await client.execute({ type: "get_available_models" });
    this.#options.places.footerData.setProviderCount(new Set(models.map(({ provider }) => provider)).size);
    this.#options.tui.requestRender();
  }

  /** Before each frame. */
  update(): void {
    const { places, say } = this.#options;
    places.footerData.update((message) => say(message, "error"));
    if (this.#drawnBy === this.#loaded) return;
    this.#drawnBy = this.#loaded;
    this.#options.redraw();
  }

  /** The terminal is about to go: what waits for the user is cancelled. Extensions hear of the end later. */
  close(): void {
    // Others may still answer what those of another process ask.
    if (this.#client?.isRemote) this.#detach();
    this.#dialogs.close();
    this.#custom.close();
    this.#stopUpdates();
  }

  #createSurface(client: ExtensionClient): ExtensionSurface {
    const { tui, terminal, keybindings, look, themes, editor, status, places } = this.#options;
    const { show, leave, addThemes, say, redraw } = this.#options;
    return {
      mode: "tui",
      ui: createTerminalUi({
        tui,
        terminal,
        keybindings,
        look,
        themes,
        editor,
        status,
        say,
        redraw,
        header: places.header,
        footer: places.footer,
        footerData: places.footerData,
        widgets: this.#widgets,
        dialogs: this.#dialogs,
        custom: this.#custom,
        listeners: this.#listeners,
        thinkingLabel: this.#thinkingLabel,
        addProvider: (factory) => {
          this.#providers = [...this.#providers, factory];
          this.#complete();
        },
      }),
      builtIns: listBuiltIns(keybindings),
      show,
      reset: () => this.#reset(),
      addThemes: async (paths) => {
        for (const problem of await addThemes(paths)) say(problem, "warning");
      },
      shutdown: () => void client.waitForIdle().then(leave, leave),
    };
  }

  /** Puts the completions of extensions on top of ours. */
  #complete(): void {
    const { completion, editor, say } = this.#options;
    const base = completeArguments(completion, () => this.#loaded);
    const stacked = this.#providers.reduce(
      (current, factory) => stackProvider(current, factory, (message) => say(message, "error")),
      base,
    );
    editor.setAutocompleteProvider(stacked);
  }

  #reset(): void {
    const { editor, status, look, themes, places, redraw } = this.#options;
    this.#dialogs.cancel();
    this.#custom.cancel();
    this.#widgets.clear();
    this.#listeners.clear();
    this.#providers = [];
    this.#complete();
    editor.setFactory(undefined);
    status.setWorking({});
    look.thinkingLabel = this.#thinkingLabel;
    themes.override(undefined);
    places.header.show(undefined);
    places.footer.show(undefined);
    places.footerData.clear();
    redraw();
  }
}
