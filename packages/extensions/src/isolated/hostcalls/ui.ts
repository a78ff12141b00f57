/** Shows and asks for an extension. Only text and plain data come here; everything else stays in its process. */
import type { ExtensionUi } from "../../api/ui.ts";
import {
  type Args,
  type Hostcall,
  type HostcallRun,
  type Hostcalls,
  takeRecord,
  takeText,
  takeTexts,
  wholeCapability,
} from "./hostcall.ts";

type Show = (ui: ExtensionUi, args: Args, run: HostcallRun) => unknown;

const textOr = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const toDialog = (value: unknown, { signal }: HostcallRun) => {
  const { timeout } = value === undefined ? {} : takeRecord(value, "The options");
  return { signal, ...(typeof timeout === "number" && { timeout }) };
};

const levels = ["info", "warning", "error"] as const;

const shows: Readonly<Record<string, Show>> = {
  select: (ui, [title, options, dialog], run) =>
    ui.select(takeText(title, "The title"), takeTexts(options, "The options"), toDialog(dialog, run)),
  confirm: (ui, [title, message, dialog], run) =>
    ui.confirm(takeText(title, "The title"), takeText(message, "The message"), toDialog(dialog, run)),
  input: (ui, [title, placeholder, dialog], run) =>
    ui.input(takeText(title, "The title"), textOr(placeholder), toDialog(dialog, run)),
  editor: (ui, [title, prefill, dialog], run) =>
    ui.editor(takeText(title, "The title"), textOr(prefill), toDialog(dialog, run)),
  notify: (ui, [message, type]) =>
    ui.notify(takeText(message, "The message"), levels.find((level) => level === type) ?? "info"),
  setStatus: (ui, [key, text]) => ui.setStatus(takeText(key, "The key"), textOr(text)),
  setWorkingMessage: (ui, [message]) => ui.setWorkingMessage(textOr(message)),
  setWorkingVisible: (ui, [visible]) => ui.setWorkingVisible(visible === true),
  setWorkingIndicator: (ui, [options]) => ui.setWorkingIndicator(toIndicator(options)),
  setHiddenThinkingLabel: (ui, [label]) => ui.setHiddenThinkingLabel(textOr(label)),
  setWidget(ui, [key, content, options]) {
    const placement =
      options === undefined || options === null ? undefined : takeRecord(options, "The options")["placement"];
    const lines = content === undefined || content === null ? undefined : takeTexts(content, "The lines");
    const known = placement === "aboveEditor" || placement === "belowEditor" ? ({ placement } as const) : {};
    ui.setWidget(takeText(key, "The key"), lines, known);
  },
  setTitle: (ui, [title]) => ui.setTitle(takeText(title, "The title")),
  pasteToEditor: (ui, [text]) => ui.pasteToEditor(takeText(text, "The text")),
  setEditorText: (ui, [text]) => ui.setEditorText(takeText(text, "The text")),
  setTheme: (ui, [name]) => ui.setTheme(takeText(name, "The theme")),
  setToolsExpanded: (ui, [expanded]) => ui.setToolsExpanded(expanded === true),
};

const reads: Readonly<Record<string, Show>> = {
  getEditorText: (ui) => ui.getEditorText(),
  getAllThemes: (ui) => ui.getAllThemes(),
  getToolsExpanded: (ui) => ui.getToolsExpanded(),
};

function toIndicator(options: unknown) {
  if (options === undefined || options === null) return undefined;
  const { frames, intervalMs } = takeRecord(options, "The options");
  return {
    ...(frames !== undefined && { frames: takeTexts(frames, "The frames") }),
    ...(typeof intervalMs === "number" && { intervalMs }),
  };
}

const toHostcalls = (table: Readonly<Record<string, Show>>, isRead: boolean): [string, Hostcall][] =>
  Object.entries(table).map(([name, show]) => [
    `ui.${name}`,
    {
      access: (_args, extension) => wholeCapability("ui", extension),
      shows: true,
      isRead,
      run: (args, run) => show(run.session.ui, args, run),
    },
  ]);

export const uiCalls: Hostcalls = Object.fromEntries([...toHostcalls(shows, false), ...toHostcalls(reads, true)]);
