import type { ExtensionAPI } from "@tau/extensions";
import { Editor, type EditorTheme, matchesKey, type TUI } from "@tau/tui";

/** Tab writes two blanks, and the first line says so. */
class TabEditor extends Editor {
  override handleInput(data: string): void {
    if (matchesKey(data, "tab") && !this.isShowingAutocomplete()) this.insertTextAtCursor("  ");
    else super.handleInput(data);
  }

  override render(width: number): string[] {
    return ["tab indents".slice(0, width), ...super.render(width)];
  }
}

export default function (tau: ExtensionAPI) {
  tau.on("session_start", (_event, { ui }) =>
    ui.setEditorComponent((tui: TUI, theme: EditorTheme) => new TabEditor(tui, theme)),
  );
}
