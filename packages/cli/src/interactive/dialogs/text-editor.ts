import { Editor, getKeybindings } from "@tau/tui";

/** Enter takes the text, as in the editor of prompts. */
export class TextEditor extends Editor {
  onCancel?: () => void;

  override handleInput(data: string): void {
    if (getKeybindings().matches(data, "tui.select.cancel")) this.onCancel?.();
    else super.handleInput(data);
  }
}
