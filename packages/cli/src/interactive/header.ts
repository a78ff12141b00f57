/** Draws the beginning of the conversation: the program, the model, and the files that the model is given. */
import { isAbsolute, relative } from "node:path";
import type { StateData } from "@tau/protocol";
import { type Component, Text, type Theme, toPlainLine } from "@tau/tui";
import { shortenPath } from "./status-line.ts";

interface HeaderOptions {
  theme: Theme;
  version: string;
  home: string | undefined;
  /** Undefined until it is known, or if it shall not be shown. */
  getState: () => Pick<StateData, "model" | "contextFiles" | "cwd"> | undefined;
  /** A line for those who are new; undefined for others. */
  hint: string | undefined;
}

export class Header implements Component {
  readonly #options: HeaderOptions;
  readonly #text = new Text("", 1, 0);
  #drawn: { state: ReturnType<HeaderOptions["getState"]> } | undefined;

  constructor(options: HeaderOptions) {
    this.#options = options;
  }

  render(width: number): string[] {
    const state = this.#options.getState();
    if (!this.#drawn || this.#drawn.state !== state) {
      this.#drawn = { state };
      this.#text.setText(this.#draw());
    }
    return this.#text.render(width);
  }

  invalidate(): void {
    this.#drawn = undefined;
    this.#text.invalidate();
  }

  /** The first line never changes: it may be in the scrollback before the others are known. */
  #draw(): string {
    const { theme, version, home, getState, hint } = this.#options;
    const title = `${theme.bold(theme.fg("accent", "τ tau"))} ${theme.fg("dim", version)}`;
    const state = getState();
    if (!state) return title;
    const { model, contextFiles, cwd } = state;
    const files = contextFiles.map((path) => toPlainLine(describePath(path, cwd, home)));
    const lines = [
      ...(model ? [`Model: ${toPlainLine(`${model.provider}/${model.id}`)}`] : []),
      ...(files.length > 0 ? [`Context: ${files.join(", ")}`] : []),
      ...(hint === undefined ? [] : [hint]),
    ];
    return [title, ...lines.map((line) => theme.fg("dim", line))].join("\n");
  }
}

/** From the working directory, if it is below that. */
function describePath(path: string, cwd: string, home: string | undefined): string {
  const below = relative(cwd, path);
  return below.startsWith("..") || isAbsolute(below) ? shortenPath(path, home) : below;
}
