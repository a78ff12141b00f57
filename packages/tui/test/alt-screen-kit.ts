/** Opens an interface on the alternate screen, and sends keys and the mouse to it. */
import { onTestFinished } from "vitest";
import type { Component } from "../src/component.ts";
import { Text } from "../src/components/text.ts";
import { VirtualTerminal } from "../src/testing/index.ts";
import { TuiAltScreen, type TuiAltScreenOptions } from "../src/screen/tui-alt-screen.ts";

export class Lines implements Component {
  lines: string[];
  renders = 0;

  constructor(lines: string[]) {
    this.lines = lines;
  }

  render(): string[] {
    this.renders++;
    return this.lines;
  }

  invalidate(): void {}
}

export async function open(columns = 30, rows = 8, options: TuiAltScreenOptions = {}) {
  const terminal = await VirtualTerminal.create(columns, rows);
  const tui = new TuiAltScreen(terminal, false, undefined, options);
  onTestFinished(() => tui.stop());
  return { terminal, tui };
}

export const numbered = (count: number) => Array.from({ length: count }, (_unused, index) => `line ${index}`);

export async function openDocument(count: number, options: TuiAltScreenOptions = {}) {
  const stage = await open(30, 8, options);
  for (const line of numbered(count)) stage.tui.addChild(new Text(line, 0, 0));
  stage.tui.start();
  stage.tui.renderNow();
  return stage;
}

/** Builds the report of a terminal; places are counted from 0. */
export const mouse = (code: number, x: number, y: number, end = "M") => `\x1b[<${code};${x + 1};${y + 1}${end}`;

export function send(stage: { terminal: VirtualTerminal; tui: TuiAltScreen }, ...inputs: string[]): void {
  for (const input of inputs) {
    stage.terminal.sendInput(input);
    stage.tui.renderNow();
  }
}

export const click = (x: number, y: number) => [mouse(0, x, y), mouse(0, x, y, "m")];
