import { expect, test } from "vitest";
import { VirtualTerminal } from "../testing/index.ts";
import { TUI } from "./tui.ts";
import { TuiAltScreen } from "./tui-alt-screen.ts";

test.each([
  ["TUI", TUI],
  ["TuiAltScreen", TuiAltScreen],
])("%s restores the terminal although a component cannot be drawn", async (_name, Screen) => {
  const terminal = await VirtualTerminal.create(20, 6);
  const tui = new Screen(terminal);
  let isBroken = false;
  const render = () => {
    if (isBroken) throw new Error("cannot be drawn");
    return ["hello"];
  };
  tui.addChild({ render, invalidate: () => {} });
  tui.start();
  isBroken = true;
  expect(() => tui.renderNow()).toThrow("cannot be drawn");
  let isStopped = false;
  const stop = terminal.stop.bind(terminal);
  terminal.stop = () => {
    isStopped = true;
    stop();
  };
  tui.stop();
  expect(isStopped).toBe(true);
});
