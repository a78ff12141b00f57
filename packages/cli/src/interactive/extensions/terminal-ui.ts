/** The interface of extensions in a terminal, put together from its parts. */
import type { ExtensionUi, UiComponent } from "@tau/harness/extensions";
import {
  type KeybindingsManager,
  type Terminal,
  Theme,
  toPlainLine,
  type TUI,
  type TuiInputListenerResult,
} from "@tau/tui";
import type { EditorFactory, EditorSlot } from "../editor-slot.ts";
import type { Look } from "../look.ts";
import type { StatusArea } from "../status-area.ts";
import type { Themes } from "../themes.ts";
import type { CustomComponents } from "./custom-components.ts";
import type { ExtensionDialogs } from "./dialogs.ts";
import type { FooterData } from "./footer-data.ts";
import type { Slot } from "./slot.ts";
import { createWalled, describeFailure } from "./wall.ts";
import type { Widgets } from "./widgets.ts";

export interface TerminalUiParts {
  tui: TUI;
  terminal: Terminal;
  keybindings: KeybindingsManager;
  look: Look;
  themes: Themes;
  editor: EditorSlot;
  status: StatusArea;
  header: Slot;
  footer: Slot;
  footerData: FooterData;
  widgets: Widgets;
  dialogs: ExtensionDialogs;
  custom: CustomComponents;
  listeners: Set<InputListener>;
  /** The usual one. */
  thinkingLabel: string;
  addProvider: (factory: Parameters<ExtensionUi["addAutocompleteProvider"]>[0]) => void;
  say: (text: string, color: "dim" | "warning" | "error") => void;
  /** Draws the conversation anew. */
  redraw: () => void;
}

export type InputListener = (data: string) => TuiInputListenerResult;

export function createTerminalUi(parts: TerminalUiParts): ExtensionUi {
  const { tui, look, themes, editor, status, widgets, dialogs, custom, footerData } = parts;
  const { theme } = look;
  const show = (slot: Slot, name: string, create: (() => UiComponent) | undefined): void => {
    slot.show(create && createWalled(create, { theme, name, isEphemeral: slot.isEphemeral }));
    tui.requestRender();
  };
  return {
    select: (title, options, dialog) => dialogs.select(title, options, dialog),
    confirm: (title, message, dialog) => dialogs.confirm(title, message, dialog),
    input: (title, placeholder, dialog) => dialogs.input(title, placeholder, dialog),
    editor: (title, prefill, dialog) => dialogs.editor(title, prefill, dialog),
    notify: (message, type = "info") => parts.say(message, type === "info" ? "dim" : type),
    onTerminalInput(handler) {
      const listener: InputListener = (data) => {
        try {
          return handler(data);
        } catch (error) {
          parts.listeners.delete(listener);
          parts.say(describeFailure("A terminal input listener of an extension", error), "error");
          return undefined;
        }
      };
      parts.listeners.add(listener);
      return () => void parts.listeners.delete(listener);
    },
    setStatus(key, text) {
      footerData.setStatus(key, text);
      tui.requestRender();
    },
    setWorkingMessage(message) {
      const { message: _before, ...working } = status.working;
      status.setWorking({ ...working, ...(message !== undefined && { message }) });
    },
    setWorkingVisible: (visible) => status.setWorking({ ...status.working, isHidden: !visible }),
    setWorkingIndicator(options) {
      const { frames: _frames, intervalMs: _intervalMs, ...working } = status.working;
      status.setWorking({ ...working, ...options });
    },
    setHiddenThinkingLabel(label = parts.thinkingLabel) {
      look.thinkingLabel = toPlainLine(label);
      parts.redraw();
    },
    setWidget(key, content, { placement = "aboveEditor" } = {}) {
      widgets.set(key, content, placement);
      tui.requestRender();
    },
    setFooter: (factory) =>
      show(parts.footer, "The footer of an extension", factory && (() => factory(tui, theme, footerData))),
    setHeader: (factory) => show(parts.header, "The header of an extension", factory && (() => factory(tui, theme))),
    setTitle: (title) => parts.terminal.setTitle(toPlainLine(title)),
    custom: (factory, options) => custom.show(factory, options),
    pasteToEditor(text) {
      editor.paste(text);
      tui.requestRender();
    },
    setEditorText(text) {
      editor.setText(text);
      tui.requestRender();
    },
    getEditorText: () => editor.getExpandedText(),
    addAutocompleteProvider: (factory) => parts.addProvider(factory),
    setEditorComponent: (factory) => editor.setFactory(factory as EditorFactory | undefined),
    getEditorComponent: () => editor.factory as ReturnType<ExtensionUi["getEditorComponent"]>,
    theme,
    getAllThemes: () => themes.list(),
    getTheme: (name) => themes.load(name),
    setTheme(chosen) {
      const next = typeof chosen === "string" ? themes.load(chosen) : chosen;
      if (!(next instanceof Theme)) {
        return {
          success: false,
          error: `There is no theme ${JSON.stringify(typeof chosen === "string" ? chosen : typeof chosen)}.`,
        };
      }
      themes.override(next);
      tui.requestRender();
      return { success: true };
    },
    getToolsExpanded: () => look.expandsTools,
    setToolsExpanded(expanded) {
      look.expandsTools = expanded;
      parts.redraw();
    },
  };
}
