/**
 * Tests objects of extensions in the terminal: they may be wrong, throw while a frame is drawn, or have to be disposed
 * of.
 */
import { type AutocompleteProvider, Text, TUI } from "@tau/tui";
import { VirtualTerminal } from "@tau/tui/testing";
import { expect, test } from "vitest";
import { DialogStack } from "../dialog-stack.ts";
import { createKeybindings } from "../keybindings.ts";
import { Themes } from "../themes.ts";
import { completeArguments } from "./completion.ts";
import { CustomComponents } from "./custom-components.ts";
import { ExtensionDialogs } from "./dialogs.ts";
import type { LoadedExtensions } from "./extension-client.ts";
import { FooterData } from "./footer-data.ts";
import { Slot } from "./slot.ts";
import { createGuarded } from "./guarded-component.ts";

const fail = (): never => {
  throw new Error("no options");
};

test.each([
  ["a function", fail],
  ["an object", { visible: fail }],
  ["what a function returns", () => ({ visible: fail })],
])("options of an overlay that throw end the overlay: %s", async (_, overlayOptions) => {
  const tui = new TUI(await VirtualTerminal.create(40, 10));
  const { theme } = new Themes({ mode: "none", files: [] });
  const stack = new DialogStack(tui, () => {});
  const custom = new CustomComponents({ tui, theme, keybindings: createKeybindings(), stack });
  const component = { render: () => ["shown"], invalidate: () => {} };
  tui.start();
  const shown = custom.show(() => component, { overlay: true, overlayOptions: overlayOptions as never });
  await expect(shown).rejects.toThrow("no options");
  expect(tui.hasOverlay()).toBe(false);
  tui.stop();
});

test.each(["a text", Promise.resolve(new Text("late", 0, 0)), {}])("%j is not a component, which is said", (value) => {
  const { theme } = new Themes({ mode: "none", files: [] });
  const guarded = createGuarded(() => value as never, { theme, name: "The widget x" });
  expect(guarded.render(80)).toEqual(["The widget x failed: it is not a component, which has a `render`"]);
});

test("a branch listener that throws is told of once, and the others are called", () => {
  let branch = "main";
  const called: string[] = [];
  const problems: string[] = [];
  const data = new FooterData(() => branch);
  data.onBranchChange(fail);
  data.onBranchChange(() => called.push(branch));
  for (branch of ["one", "two"]) data.update((message) => problems.push(message));
  expect(called).toEqual(["one", "two"]);
  expect(problems).toEqual(["A branch listener of an extension failed: no options"]);
});

test("a component of an extension is disposed of when another one takes its place", () => {
  const disposed: string[] = [];
  const create = (name: string) => Object.assign(new Text(name, 0, 0), { dispose: () => disposed.push(name) });
  const slot = new Slot(create("usual"));
  slot.show(create("first"));
  slot.show(create("second"));
  slot.show(undefined);
  slot.show(undefined);
  expect(disposed).toEqual(["first", "second"]);
});

test("of the completions of an extension those that can be drawn are suggested", async () => {
  const getArgumentCompletions = () => ["text", null, { label: "No value" }, { value: "a" }, { value: "b", label: 1 }];
  const commands = new Map([["go", { definition: { getArgumentCompletions } }]]);
  const loaded = { registrations: { commands } } as unknown as LoadedExtensions;
  const provider = completeArguments({} as AutocompleteProvider, () => loaded);
  const { signal } = new AbortController();
  const suggestions = await provider.getSuggestions(["/go x"], 0, 5, { signal });
  expect(suggestions).toEqual({
    prefix: "x",
    items: [
      { value: "a", label: "a" },
      { value: "b", label: "b" },
    ],
  });
});

test.each([Infinity, 2 ** 31])("a dialog may wait for %d ms", async (timeout) => {
  const tui = new TUI(await VirtualTerminal.create(40, 10));
  const { theme } = new Themes({ mode: "none", files: [] });
  const stack = new DialogStack(new Text("editor", 0, 0), () => {});
  const dialogs = new ExtensionDialogs({ tui, theme, stack });
  let isOver = false;
  void dialogs.input("Name", "", { timeout }).then(() => (isOver = true));
  // Node takes a number that is too large for 1.
  await new Promise((resolve) => setTimeout(resolve, 2));
  expect(isOver).toBe(false);
  dialogs.close();
});
