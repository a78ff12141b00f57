import { Editor, getEditorTheme, TUI } from "@tau/tui";
import { VirtualTerminal } from "@tau/tui/testing";
import { expect, test } from "vitest";
import { EditorSlot } from "./editor-slot.ts";
import { createKeybindings } from "./keybindings.ts";
import { Themes } from "./themes.ts";

async function open() {
  const { theme } = new Themes({ mode: "none", files: [] });
  const problems: string[] = [];
  const slot = new EditorSlot({
    tui: new TUI(await VirtualTerminal.create(40, 10)),
    theme: getEditorTheme(theme),
    keybindings: createKeybindings(),
    settings: { paddingX: 0, autocompleteMaxVisible: 5 },
    onFailed: (message) => problems.push(message),
  });
  return { slot, problems };
}

test("what was pasted into an editor of an extension is kept when that fails", async () => {
  const { slot, problems } = await open();
  let hasFailed = false;
  class FailingEditor extends Editor {
    override render(width: number): string[] {
      if (hasFailed) throw new Error("no room");
      return super.render(width);
    }
  }
  slot.setFactory((tui, theme) => new FailingEditor(tui, theme));
  const pasted = Array.from({ length: 30 }, (_unused, index) => `line ${index}`).join("\n");
  slot.paste(pasted);
  expect(slot.getText()).toContain("[paste #1");
  hasFailed = true;
  slot.render(40);
  expect(problems).toEqual(["The editor of an extension failed: no room"]);
  expect(slot.getText()).toBe(pasted);
});

test("an editor of an extension that does not take the focus is replaced", async () => {
  const { slot, problems } = await open();
  class StubbornEditor extends Editor {
    constructor(...parameters: ConstructorParameters<typeof Editor>) {
      super(...parameters);
      Object.defineProperty(this, "focused", {
        get: () => false,
        set: (focused: boolean) => {
          if (focused) throw new Error("not now");
        },
      });
    }
  }
  slot.setFactory((tui, theme) => new StubbornEditor(tui, theme));
  slot.focused = true;
  slot.handleInput("x");
  expect([problems, slot.getText()]).toEqual([["The editor of an extension failed: not now"], "x"]);
});
