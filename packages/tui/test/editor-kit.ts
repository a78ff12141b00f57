/** Creates an editor that draws plain text, and types keys into it by name. */
import { TUI } from "../src/screen/tui.ts";
import { VirtualTerminal } from "../src/testing/virtual-terminal.ts";
import { stripTerminalSequences } from "../src/text/escape.ts";
import { Editor, type EditorOptions } from "../src/components/editor.ts";

const plain = (text: string) => text;
const theme = {
  borderColor: plain,
  selectList: { selectedPrefix: plain, selectedText: plain, description: plain, scrollInfo: plain, noMatch: plain },
};
const keys: Record<string, string> = {
  left: "\x1b[D",
  right: "\x1b[C",
  up: "\x1b[A",
  down: "\x1b[B",
  pageUp: "\x1b[5~",
  pageDown: "\x1b[6~",
  enter: "\r",
  newLine: "\n",
  backspace: "\x7f",
  home: "\x01",
  end: "\x05",
  undo: "\x1f",
  killWord: "\x17",
  killLine: "\x15",
  yank: "\x19",
  tab: "\t",
  escape: "\x1b",
  jump: "\x1d",
};

const tui = new TUI(await VirtualTerminal.create(80, 10));

export function create(options: EditorOptions = {}, width = 20) {
  const editor = new Editor(tui, theme, options);
  const submitted: string[] = [];
  const changes: string[] = [];
  editor.onSubmit = (text) => submitted.push(text);
  editor.onChange = (text) => changes.push(text);
  editor.focused = true;
  editor.render(width);
  const press = (...names: string[]) => {
    for (const name of names) {
      if (name in keys) editor.handleInput(keys[name] as string);
      else for (const character of name) editor.handleInput(character);
    }
    return editor;
  };
  const paste = (text: string) => editor.handleInput(`\x1b[200~${text}\x1b[201~`);
  /** The text with `|` for the cursor. */
  const state = () => {
    const { line, col } = editor.getCursor();
    const lines = editor.getLines();
    lines[line] = `${lines[line]?.slice(0, col)}|${lines[line]?.slice(col)}`;
    return lines.join("\n");
  };
  const draw = (columns = width) => editor.render(columns).map(stripTerminalSequences);
  return { editor, press, paste, state, draw, submitted, changes };
}
