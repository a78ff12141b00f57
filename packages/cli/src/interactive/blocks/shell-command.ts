/** A command that the user ran, with what it printed. */
import type { BashData } from "@tau/protocol";
import { type Component, toPlainText, wrapTextWithAnsi } from "@tau/tui";
import type { Look } from "../look.ts";
import { foldLines, toPlainLines } from "./tool-result.ts";

const maxLines = 20;

type ShellResult = Omit<BashData, "exitCode"> & { exitCode?: number | undefined };

export class ShellCommandBlock implements Component {
  readonly #look: Look;
  readonly #title: string;
  readonly #result: ShellResult;
  #drawn: { width: number; lines: string[] } | undefined;

  constructor(command: string, result: ShellResult, look: Look) {
    this.#title = `$ ${toPlainText(command)}${describeEnd(result)}`;
    this.#result = result;
    this.#look = look;
  }

  invalidate(): void {
    this.#drawn = undefined;
  }

  render(width: number): string[] {
    if (this.#drawn?.width !== width) this.#drawn = { width, lines: this.#draw(width) };
    return this.#drawn.lines;
  }

  #draw(width: number): string[] {
    const { theme, expandsTools: expanded } = this.#look;
    const { output, truncated, fullOutputPath } = this.#result;
    const cut = truncated && fullOutputPath !== undefined ? [`All of it: ${toPlainText(fullOutputPath)}`] : [];
    const lines = [
      this.#title,
      ...foldLines(toPlainLines(output), { limit: maxLines, keep: "end" }, { theme, expanded }),
      ...cut,
    ];
    return lines
      .flatMap((line) => wrapTextWithAnsi(theme.fg("dim", line), Math.max(1, width - 2)))
      .map((line) => ` ${line}`);
  }
}

function describeEnd({ exitCode, cancelled }: ShellResult): string {
  if (cancelled) return " (stopped)";
  return exitCode === undefined || exitCode === 0 ? "" : ` (exit ${exitCode})`;
}
