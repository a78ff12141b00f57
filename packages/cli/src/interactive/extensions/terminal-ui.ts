/** The interface of extensions in a terminal, put together from its parts. */
import type { ExtensionUi, UiComponent } from "@tau/extensions";
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
import { createGuarded, describeFailure } from "./guarded-component.ts";
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

export const createTerminalUi = (parts: TerminalUiParts): ExtensionUi => ({
  ...createQuestions(parts),
  ...createTerminalAccess(parts),
  ...createProgress(parts),
  ...createPlaces(parts),
  ...createEditorAccess(parts),
  ...createLooks(parts),
});

type Questions = "select" | "confirm" | "input" | "editor" | "custom" | "notify";

const createQuestions = ({ dialogs, custom, say }: TerminalUiParts): Pick<ExtensionUi, Questions> => ({
  select: (title, options, dialog) => dialogs.select(title, options, dialog),
  confirm: (title, message, dialog) => dialogs.confirm(title, message, dialog),
  input: (title, placeholder, dialog) => dialogs.input(title, placeholder, dialog),
  editor: (title, prefill, dialog) => dialogs.editor(title, prefill, dialog),
  custom: (factory, options) => custom.show(factory, options),
  notify: (message, type = "info") => say(message, type === "info" ? "dim" : type),
});

type TerminalAccess = "onTerminalInput" | "setTitle";

const createTerminalAccess = ({ terminal, listeners, say }: TerminalUiParts): Pick<ExtensionUi, TerminalAccess> => ({
  onTerminalInput(handler) {
    const listener: InputListener = (data) => {
      try {
        return handler(data);
      } catch (error) {
        listeners.delete(listener);
        say(describeFailure("A terminal input listener of an extension", error), "error");
        return undefined;
      }
    };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  setTitle: (title) => terminal.setTitle(toPlainLine(title)),
});

type Progress = "setWorkingMessage" | "setWorkingVisible" | "setWorkingIndicator" | "setHiddenThinkingLabel";

const createProgress = ({ status, look, thinkingLabel, redraw }: TerminalUiParts): Pick<ExtensionUi, Progress> => ({
  setWorkingMessage(message) {
    const { message: _before, ...working } = status.working;
    status.setWorking({ ...working, ...(message !== undefined && { message }) });
  },
  setWorkingVisible: (visible) => status.setWorking({ ...status.working, isHidden: !visible }),
  setWorkingIndicator(options) {
    const { frames: _frames, intervalMs: _intervalMs, ...working } = status.working;
    status.setWorking({ ...working, ...options });
  },
  setHiddenThinkingLabel(label = thinkingLabel) {
    look.thinkingLabel = toPlainLine(label);
    redraw();
  },
});

type Places = "setStatus" | "setWidget" | "setFooter" | "setHeader";

function createPlaces(parts: TerminalUiParts): Pick<ExtensionUi, Places> {
  const { tui, look, header, footer, footerData, widgets } = parts;
  const { theme } = look;
  const show = (slot: Slot, name: string, create: (() => UiComponent) | undefined): void => {
    slot.show(create && createGuarded(create, { theme, name, isEphemeral: slot.isEphemeral }));
    tui.requestRender();
  };
  return {
    setStatus(key, text) {
      footerData.setStatus(key, text);
      tui.requestRender();
    },
    setWidget(key, content, { placement = "aboveEditor" } = {}) {
      widgets.set(key, content, placement);
      tui.requestRender();
    },
    setFooter: (factory) =>
      show(footer, "The footer of an extension", factory && (() => factory(tui, theme, footerData))),
    setHeader: (factory) => show(header, "The header of an extension", factory && (() => factory(tui, theme))),
  };
}

type EditorAccess =
  | "pasteToEditor"
  | "setEditorText"
  | "getEditorText"
  | "addAutocompleteProvider"
  | "setEditorComponent"
  | "getEditorComponent";

const createEditorAccess = ({ tui, editor, addProvider }: TerminalUiParts): Pick<ExtensionUi, EditorAccess> => ({
  pasteToEditor(text) {
    editor.paste(text);
    tui.requestRender();
  },
  setEditorText(text) {
    editor.setText(text);
    tui.requestRender();
  },
  getEditorText: () => editor.getExpandedText(),
  addAutocompleteProvider: (factory) => addProvider(factory),
  setEditorComponent: (factory) => editor.setFactory(factory as EditorFactory | undefined),
  getEditorComponent: () => editor.factory as ReturnType<ExtensionUi["getEditorComponent"]>,
});

type Looks = "theme" | "getAllThemes" | "getTheme" | "setTheme" | "getToolsExpanded" | "setToolsExpanded";

const createLooks = ({ tui, look, themes, redraw }: TerminalUiParts): Pick<ExtensionUi, Looks> => ({
  theme: look.theme,
  getAllThemes: () => themes.list(),
  getTheme: (name) => themes.load(name),
  setTheme(chosen) {
    const next = typeof chosen === "string" ? themes.load(chosen) : chosen;
    if (!(next instanceof Theme)) {
      const name = typeof chosen === "string" ? chosen : typeof chosen;
      return { success: false, error: `There is no theme ${JSON.stringify(name)}.` };
    }
    themes.override(next);
    tui.requestRender();
    return { success: true };
  },
  getToolsExpanded: () => look.expandsTools,
  setToolsExpanded(expanded) {
    look.expandsTools = expanded;
    redraw();
  },
});
