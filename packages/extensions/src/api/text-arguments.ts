/** Extensions are often not checked by a compiler, and surfaces, clients and other processes rely on the types. */
import type { DialogOptions, ExtensionUi } from "./ui.ts";

const toText = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

const toOptionalText = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : String(value);

function toTexts(values: unknown, what: string): string[] {
  if (!Array.isArray(values)) throw new TypeError(`${what} have to be a list of texts.`);
  return values.map(toText);
}

function toDialogOptions(dialog: DialogOptions | null | undefined): DialogOptions {
  const { signal, timeout } = dialog ?? {};
  return { ...(signal && { signal }), ...(Number.isFinite(timeout) && { timeout: timeout! }) };
}

const levels = ["info", "warning", "error"] as const;

/** Wraps the interface: what an extension passes in the place of a text becomes one. */
export function withTextArguments(ui: ExtensionUi): ExtensionUi {
  const converted: Partial<ExtensionUi> = {
    async select(title, options, dialog) {
      const texts = toTexts(options, "The options of a dialog");
      const chosen = await ui.select(toText(title), texts, toDialogOptions(dialog));
      return chosen === undefined ? undefined : options[texts.indexOf(chosen)];
    },
    confirm: (title, message, dialog) => ui.confirm(toText(title), toText(message), toDialogOptions(dialog)),
    input: (title, placeholder, dialog) =>
      ui.input(toText(title), toOptionalText(placeholder), toDialogOptions(dialog)),
    editor: (title, prefill, dialog) => ui.editor(toText(title), toOptionalText(prefill), toDialogOptions(dialog)),
    notify: (message, type) => ui.notify(toText(message), levels.find((level) => level === type) ?? "info"),
    setStatus: (key, text) => ui.setStatus(toText(key), toOptionalText(text)),
    setWorkingMessage: (message) => ui.setWorkingMessage(toOptionalText(message)),
    setHiddenThinkingLabel: (label) => ui.setHiddenThinkingLabel(toOptionalText(label)),
    setWidget(key, content, options) {
      const isLines = content && typeof content !== "function";
      const placement = options?.placement === "belowEditor" ? "belowEditor" : "aboveEditor";
      ui.setWidget(toText(key), isLines ? toTexts(content, "The lines of a widget") : content, { placement });
    },
    setTitle: (title) => ui.setTitle(toText(title)),
    pasteToEditor: (text) => ui.pasteToEditor(toText(text)),
    setEditorText: (text) => ui.setEditorText(toText(text)),
  };
  // Everything else, such as the theme of the moment, is that of the interface itself.
  return Object.assign(Object.create(ui) as ExtensionUi, converted);
}
