/** What extensions hand to the terminal and that throws later, while a frame is drawn. */
import { TUI } from "@tau/tui";
import { VirtualTerminal } from "@tau/tui/testing";
import { expect, test } from "vitest";
import { DialogStack } from "../dialog-stack.ts";
import { createKeybindings } from "../keybindings.ts";
import { Themes } from "../themes.ts";
import { CustomComponents } from "./custom-components.ts";
import { FooterData } from "./footer-data.ts";

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
