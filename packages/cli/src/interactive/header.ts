/** Draws the beginning of the conversation: the program, the model, and the files that the model is given. */
import { isAbsolute, relative } from "node:path";
import type { StateData } from "@tau/protocol";
import { pluralise } from "@tau/protocol/surface";
import { type Component, Text, type Theme, toPlainLine } from "@tau/tui";
import { describeKey } from "./blocks/fold.ts";
import type { LoadedNames } from "./session-facts.ts";
import { shortenPath } from "./status-line.ts";

export interface HeaderOptions {
  theme: Theme;
  version: string;
  home: string | undefined;
  /** Undefined until it is known, or if it shall not be shown. */
  getState: () => Pick<StateData, "model" | "contextFiles" | "cwd"> | undefined;
  /** Undefined until it is known. */
  getLoaded: () => LoadedNames | undefined;
  /** Whether what was loaded is named, and not only counted. */
  isExpanded: () => boolean;
  /** A line for those who are new; undefined for others. */
  hint: string | undefined;
}

export class Header implements Component {
  readonly #options: HeaderOptions;
  readonly #text = new Text("", 1, 0);
  #drawn: { state: ReturnType<HeaderOptions["getState"]>; loaded: LoadedNames | undefined } | undefined;

  constructor(options: HeaderOptions) {
    this.#options = options;
  }

  render(width: number): string[] {
    const [state, loaded] = [this.#options.getState(), this.#options.getLoaded()];
    if (!this.#drawn || this.#drawn.state !== state || this.#drawn.loaded !== loaded) {
      this.#drawn = { state, loaded };
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
    const { theme, version, home, getState, getLoaded, isExpanded, hint } = this.#options;
    const title = `${theme.bold(theme.fg("accent", "τ tau"))} ${theme.fg("dim", version)}`;
    const state = getState();
    if (!state) return title;
    const { model, contextFiles, cwd } = state;
    const files = contextFiles.map((path) => toPlainLine(describePath(path, cwd, home)));
    const lines = [
      ...(model ? [`Model: ${toPlainLine(`${model.provider}/${model.id}`)}`] : []),
      ...(files.length > 0 ? [`Context: ${files.join(", ")}`] : []),
      ...describeLoaded(getLoaded(), isExpanded()),
      ...(hint === undefined ? [] : [hint]),
    ];
    return [title, ...lines.map((line) => theme.fg("dim", line))].join("\n");
  }
}

/** Counts in one line, or names each kind in a line of its own. Empty if nothing was loaded. */
function describeLoaded(loaded: LoadedNames | undefined, isExpanded: boolean): string[] {
  const kinds = (["skill", "prompt", "extension"] as const)
    .map((noun) => ({ noun, names: loaded?.[`${noun}s`] ?? [] }))
    .filter(({ names }) => names.length > 0);
  if (kinds.length === 0) return [];
  if (!isExpanded)
    return [`${kinds.map(({ noun, names }) => pluralise(names.length, noun)).join(", ")}${describeKey(" (", ")")}`];
  return kinds.map(({ noun, names }) => `${titles[noun]}: ${names.map(toPlainLine).join(", ")}`);
}

const titles = { skill: "Skills", prompt: "Prompts", extension: "Extensions" } as const;

/** From the working directory, if it is below that. */
function describePath(path: string, cwd: string, home: string | undefined): string {
  const below = relative(cwd, path);
  return below.startsWith("..") || isAbsolute(below) ? shortenPath(path, home) : below;
}
