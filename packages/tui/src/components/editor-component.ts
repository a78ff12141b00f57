import type { Component } from "../component.ts";
import type { AutocompleteProvider } from "../completion/autocomplete.ts";

/** The interface of what may stand in the place of `Editor`, for example with other keys. */
export interface EditorComponent extends Component {
  getText(): string;
  setText(text: string): void;
  handleInput(data: string): void;
  onSubmit?: (text: string) => void;
  onChange?: (text: string) => void;
  /** Keeps a prompt for the keys up and down. */
  addToHistory?(text: string): void;
  insertTextAtCursor?(text: string): void;
  /** With pasted texts in the place of their markers. Default: `getText()`. */
  getExpandedText?(): string;
  setAutocompleteProvider?(provider: AutocompleteProvider): void;
  borderColor?: (str: string) => string;
  setPaddingX?(padding: number): void;
  setAutocompleteMaxVisible?(maxVisible: number): void;
}
