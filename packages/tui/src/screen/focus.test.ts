import { expect, test } from "vitest";
import type { Component } from "../component.ts";
import { VirtualTerminal } from "../testing/index.ts";
import type { OverlayHandle } from "./overlays.ts";
import { TUI } from "./tui.ts";

interface Field extends Component {
  readonly name: string;
  focused: boolean;
  keys: string;
}

/** The editor and the dialog are in the document, with the focus on the editor; others can be shown above. */
async function open() {
  const terminal = await VirtualTerminal.create(20, 6);
  const tui = new TUI(terminal);
  const create = (name: string): Field => {
    const field: Field = {
      name,
      focused: false,
      keys: "",
      render: () => [name],
      invalidate: () => {},
      handleInput: (data) => void (field.keys += data),
    };
    return field;
  };
  const [editor, dialog, menu, help] = ["editor", "dialog", "menu", "help"].map(create) as [Field, Field, Field, Field];
  tui.addChild(editor);
  tui.addChild(dialog);
  tui.setFocus(editor);
  tui.start();
  /** The component that gets the next key. */
  const press = () => {
    for (const field of [editor, dialog, menu, help]) field.keys = "";
    terminal.sendInput("x");
    const names = [editor, dialog, menu, help].filter(({ keys }) => keys !== "").map(({ name }) => name);
    const focused = [editor, dialog, menu, help].filter((field) => field.focused).map(({ name }) => name);
    expect(names).toEqual(focused);
    return names.join();
  };
  return { terminal, tui, editor, dialog, menu, help, press };
}

type Stage = Awaited<ReturnType<typeof open>>;
type Step = (stage: Stage, handle: (name: "menu" | "help") => OverlayHandle) => void;

const show =
  (name: "menu" | "help"): Step =>
  (_stage, handle) =>
    void handle(name);
const focus =
  (name: "editor" | "dialog"): Step =>
  ({ tui, ...stage }) =>
    tui.setFocus(stage[name]);
const focusNothing: Step = ({ tui }) => tui.setFocus(null);
const closeDialog: Step = ({ tui, dialog }) => tui.removeChild(dialog);

test.each<[string, Step[], string]>([
  ["an overlay gets it", [show("menu")], "menu"],
  ["an overlay gets it back from the component that had it before", [show("menu"), focus("editor")], "menu"],
  ["a dialog that takes it keeps it", [show("menu"), focus("dialog")], "dialog"],
  ["it stays in the document while the dialog is there", [show("menu"), focus("dialog"), focus("editor")], "editor"],
  ["a dialog that is gone gives it back", [show("menu"), focus("dialog"), closeDialog, focus("editor")], "menu"],
  ["a dialog gives it back to the overlay by focusing nothing", [show("menu"), focus("dialog"), focusNothing], "menu"],
  ["nobody gets it if it is taken from an overlay", [show("menu"), focusNothing], ""],
  ["the last of two overlays gets it back", [show("menu"), show("help"), focus("editor")], "help"],
  ["unfocus gives it up for good", [show("menu"), (_stage, handle) => handle("menu").unfocus()], "editor"],
  [
    "unfocus may name another component",
    [show("menu"), ({ dialog }, handle) => handle("menu").unfocus({ target: dialog })],
    "dialog",
  ],
  [
    "unfocus of an overlay whose dialog has it names what comes after the dialog",
    [
      show("menu"),
      focus("dialog"),
      ({ help }, handle) => handle("menu").unfocus({ target: help }),
      ({ press }) => expect(press()).toBe("dialog"),
      focus("editor"),
    ],
    "help",
  ],
  [
    "an overlay that is hidden does not get it back",
    [show("menu"), (_stage, handle) => handle("menu").hide()],
    "editor",
  ],
])("the focus: %s", async (_title, steps, expected) => {
  const stage = await open();
  const handles = new Map<string, OverlayHandle>();
  const handle = (name: "menu" | "help") => {
    const known = handles.get(name) ?? stage.tui.showOverlay(stage[name]);
    handles.set(name, known);
    return known;
  };
  for (const step of steps) step(stage, handle);
  expect(stage.press()).toBe(expected);
  stage.tui.stop();
});

test("an overlay that is not visible for a while gets the focus back when it is", async () => {
  const stage = await open();
  let isVisible = true;
  stage.tui.showOverlay(stage.menu, { visible: () => isVisible });
  isVisible = false;
  expect(stage.press()).toBe("editor");
  isVisible = true;
  expect(stage.press()).toBe("menu");
  stage.tui.stop();
});

test("an overlay comes to the front when it gets the focus or is shown again, and stays there without it", async () => {
  const { terminal, tui } = await open();
  const options = { row: 0, col: 0, width: 1 };
  const create = (name: string) => ({ render: () => [name], invalidate: () => {} });
  const getFront = async () => {
    tui.renderNow();
    return (await terminal.getViewport())[0]?.[0];
  };
  const a = tui.showOverlay(create("A"), options);
  const b = tui.showOverlay(create("B"), { ...options, nonCapturing: true });
  expect(await getFront()).toBe("B");
  a.focus();
  expect(await getFront()).toBe("A");
  a.unfocus();
  expect(await getFront()).toBe("A");
  b.focus();
  expect(await getFront()).toBe("B");
  a.setHidden(true);
  a.setHidden(false);
  expect(await getFront()).toBe("A");
  tui.hideOverlay();
  expect([await getFront(), b.isFocused()]).toEqual(["A", false]);
  tui.stop();
});
