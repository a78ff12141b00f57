/** A command that the user runs or ran, with what it prints. */
import type { BashData } from "@tau/protocol";
import { type Component, toPlainText, wrapTextWithAnsi } from "@tau/tui";
import type { Look } from "../look.ts";
import { foldLines } from "./fold.ts";
import { toPlainLines } from "./tool-result.ts";

const maxLines = 20;
/** How much of the output of a running command is kept; its end is what is shown. */
const maxLiveLength = 20_000;

type ShellResult = Omit<BashData, "exitCode"> & { exitCode?: number | undefined };

type State = { kind: "running"; output: string } | { kind: "done"; result: ShellResult };

/** It stays the same component when the command ends, because its first lines may be printed already. */
export class ShellCommandBlock implements Component {
  readonly command: string;
  readonly #look: Look;
  #state: State = { kind: "running", output: "" };
  #seconds = 0;
  #drawn: { width: number; lines: string[] } | undefined;

  constructor(command: string, look: Look) {
    this.command = command;
    this.#look = look;
  }

  addOutput(text: string): void {
    if (this.#state.kind !== "running") return;
    this.#set({ kind: "running", output: (this.#state.output + text).slice(-maxLiveLength) });
  }

  setResult(result: ShellResult): void {
    this.#set({ kind: "done", result });
  }

  /** The log does not know how long it took. */
  setDuration(ms: number): void {
    this.#seconds = Math.round(ms / 1_000);
    this.invalidate();
  }

  /** How it ended will be in its first line. */
  countFinished(width: number): number {
    return this.#state.kind === "running" ? 0 : this.render(width).length;
  }

  invalidate(): void {
    this.#drawn = undefined;
  }

  render(width: number): string[] {
    if (this.#drawn?.width !== width) this.#drawn = { width, lines: this.#draw(width) };
    return this.#drawn.lines;
  }

  #set(state: State): void {
    this.#state = state;
    this.invalidate();
  }

  #draw(width: number): string[] {
    const { theme, expandsTools: expanded } = this.#look;
    const state = this.#state;
    const output = state.kind === "running" ? state.output : state.result.output;
    const lines = [
      `$ ${toPlainText(this.command)}${state.kind === "running" ? "" : describeEnd(state.result, this.#seconds)}`,
      ...foldLines(toPlainLines(output), { limit: maxLines, keep: "end", theme, expanded }),
      ...(state.kind === "running" ? [] : describeRest(state.result)),
    ];
    return lines
      .flatMap((line) => wrapTextWithAnsi(theme.fg("dim", line), Math.max(1, width - 2)))
      .map((line) => ` ${line}`);
  }
}

function describeEnd({ exitCode, cancelled }: ShellResult, seconds: number): string {
  const parts = [
    ...(cancelled ? ["stopped"] : []),
    ...(exitCode === undefined || exitCode === 0 || cancelled ? [] : [`exit ${exitCode}`]),
    ...(seconds > 0 ? [`${seconds} s`] : []),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

const describeRest = ({ truncated, fullOutputPath }: ShellResult): string[] =>
  truncated && fullOutputPath !== undefined ? [`All of it: ${toPlainText(fullOutputPath)}`] : [];
