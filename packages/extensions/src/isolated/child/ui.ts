/** `ctx.ui` of an extension in a process of its own. Text crosses; components and functions do not. */
import { plainTheme } from "../../api/plain-theme.ts";
import type { DialogOptions, ExtensionUi } from "../../api/ui.ts";
import type { HostLink } from "./link.ts";
import type { NeedsTrust } from "./needs-trust.ts";

export function createChildUi(link: HostLink, needsTrust: NeedsTrust): ExtensionUi {
  const ask = async (method: string, args: unknown[], { signal, timeout }: DialogOptions = {}): Promise<unknown> =>
    signal?.aborted
      ? undefined
      : await link.call(`ui.${method}`, [...args, timeout === undefined ? {} : { timeout }], { signal });
  const askText = (...question: Parameters<typeof ask>) => ask(...question) as Promise<string | undefined>;
  const send = (method: string, ...args: unknown[]): void => link.notify(`ui.${method}`, args);
  const read = (method: string, ...args: unknown[]) => link.read(`ui.${method}`, args) as never;
  return {
    select: (title, options, dialog) => askText("select", [title, options], dialog),
    confirm: async (title, message, dialog) => (await ask("confirm", [title, message], dialog)) === true,
    input: (title, placeholder, dialog) => askText("input", [title, placeholder], dialog),
    editor: (title, prefill, dialog) => askText("editor", [title, prefill], dialog),
    notify: (message, type) => send("notify", message, type),
    onTerminalInput() {
      needsTrust.note("reading the keys of the terminal");
      return () => {};
    },
    setStatus: (key, text) => send("setStatus", key, text),
    setWorkingMessage: (message) => send("setWorkingMessage", message),
    setWorkingVisible: (visible) => send("setWorkingVisible", visible),
    setWorkingIndicator: (options) => send("setWorkingIndicator", options),
    setHiddenThinkingLabel: (label) => send("setHiddenThinkingLabel", label),
    setWidget(key, content, options) {
      if (typeof content === "function") needsTrust.note("a widget that is a component");
      else send("setWidget", key, content, options);
    },
    setFooter: (factory) => void (factory && needsTrust.note("a footer of its own")),
    setHeader: (factory) => void (factory && needsTrust.note("a header of its own")),
    setTitle: (title) => send("setTitle", title),
    async custom() {
      needsTrust.note("a component that is shown with `ui.custom`");
      return undefined;
    },
    pasteToEditor: (text) => send("pasteToEditor", text),
    setEditorText: (text) => send("setEditorText", text),
    getEditorText: () => read("getEditorText"),
    addAutocompleteProvider: () => needsTrust.note("completions of its own in the editor"),
    setEditorComponent: (factory) => void (factory && needsTrust.note("an editor of its own")),
    getEditorComponent: () => undefined,
    theme: plainTheme,
    getAllThemes: () => read("getAllThemes"),
    getTheme() {
      needsTrust.note("a theme as an object");
      return undefined;
    },
    setTheme(theme) {
      if (typeof theme === "string") return link.callSync("ui.setTheme", [theme]) as { success: boolean };
      return { success: false, error: needsTrust.refuse("a theme as an object").message };
    },
    getToolsExpanded: () => read("getToolsExpanded"),
    setToolsExpanded: (expanded) => send("setToolsExpanded", expanded),
  };
}
