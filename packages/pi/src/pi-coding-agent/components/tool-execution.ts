/** A call of a tool with its result, drawn. */
import type { ToolRenderers } from "@tau/extensions";
import { Box, type Component, Container, Spacer, Text, type TUI } from "@tau/tui";
import { getErrorMessage } from "@tau/ai/internal";
import { contentText } from "../../pi-ai/content.ts";
import { theme } from "../theme/theme.ts";
import { renderDiff } from "./diff.ts";
import { truncateToVisualLines } from "./visual-lines.ts";

interface Result {
  content: { type: string; text?: string }[];
  details?: unknown;
  isError: boolean;
}

type NewArguments = [
  id: string,
  args: unknown,
  options: unknown,
  definition: ToolRenderers | undefined,
  ui: TUI,
  cwd?: string,
];

const maxFoldedLines = 10;

export class ToolExecutionComponent extends Container {
  readonly #toolName: string;
  readonly #toolCallId: string;
  readonly #renderers: ToolRenderers | undefined;
  readonly #ui: TUI;
  readonly #cwd: string;
  readonly #state = {};
  #args: unknown;
  #result: { value: Result; isPartial: boolean } | undefined;
  #isExpanded = false;

  /** Before version 1.5 there was no id after the name. */
  constructor(toolName: string, ...rest: unknown[]) {
    super();
    const all = (typeof rest[0] === "string" ? rest : ["", ...rest]) as NewArguments;
    const [id, args, , definition, ui, cwd = process.cwd()] = all;
    this.#toolName = toolName;
    this.#toolCallId = id;
    this.#args = args;
    this.#renderers = definition;
    this.#ui = ui;
    this.#cwd = cwd;
    this.#build();
  }

  updateArgs(args: unknown): void {
    this.#args = args;
    this.#build();
  }

  /** The arguments are drawn as they come, so nothing is left to do. */
  setArgsComplete(): void {}
  markExecutionStarted(): void {}
  setShowImages(_show: boolean): void {}

  updateResult(result: Result, isPartial = false): void {
    this.#result = { value: result, isPartial };
    this.#build();
  }

  setExpanded(expanded: boolean): void {
    this.#isExpanded = expanded;
    this.#build();
  }

  override invalidate(): void {
    this.#build();
    super.invalidate();
  }

  #build(): void {
    this.clear();
    const color =
      !this.#result || this.#result.isPartial
        ? "toolPendingBg"
        : this.#result.value.isError
          ? "toolErrorBg"
          : "toolSuccessBg";
    const isOwnShell = this.#renderers?.renderShell === "self";
    const box = isOwnShell ? new Container() : new Box(1, 1, (text) => theme.bg(color, text));
    this.addChild(new Spacer(1));
    this.addChild(box);
    box.addChild(this.#draw("renderCall", [this.#args, theme]) ?? this.#drawCall());
    if (!this.#result) return;
    const options = { expanded: this.#isExpanded, isPartial: this.#result.isPartial };
    const own =
      this.#draw("renderResult", [this.#result.value, options, theme]) ?? this.#drawResult(this.#result.value);
    if (own) box.addChild(own);
  }

  /** A renderer that fails shows why in its place. */
  #draw(name: "renderCall" | "renderResult", args: unknown[]): Component | undefined {
    const renderer = this.#renderers?.[name];
    if (!renderer) return undefined;
    const context = {
      toolCallId: this.#toolCallId,
      args: this.#args,
      cwd: this.#cwd,
      state: this.#state,
      expanded: this.#isExpanded,
      isPartial: this.#result?.isPartial ?? true,
      isError: this.#result?.value.isError ?? false,
      invalidate: () => this.#ui.requestRender(),
    };
    try {
      return renderer(...args, context) as Component | undefined;
    } catch (error) {
      return new Text(theme.fg("error", `${name} failed: ${getErrorMessage(error)}`), 0, 0);
    }
  }

  #drawCall(): Component {
    const args = JSON.stringify(this.#args ?? {}) ?? "";
    return new Text(`${theme.fg("toolTitle", theme.bold(this.#toolName))} ${theme.fg("toolOutput", args)}`, 0, 0);
  }

  #drawResult({ content, details }: Result): Component | undefined {
    const diff = (details as { diff?: unknown } | undefined)?.diff;
    if (typeof diff === "string") return new Text(`\n${renderDiff(diff)}`, 0, 0);
    const text = contentText(content).trim();
    return text === "" ? undefined : new OutputText(text, this.#isExpanded);
  }
}

/** The end of an output, or all of it. */
class OutputText implements Component {
  readonly #text: string;
  readonly #isExpanded: boolean;

  constructor(text: string, isExpanded: boolean) {
    this.#text = text;
    this.#isExpanded = isExpanded;
  }

  render(width: number): string[] {
    const styled = theme.fg("toolOutput", this.#text.replaceAll("\t", "   "));
    const limit = this.#isExpanded ? Number.MAX_SAFE_INTEGER : maxFoldedLines;
    const { visualLines, skippedCount } = truncateToVisualLines(styled, limit, width);
    const note = skippedCount > 0 ? [theme.fg("muted", `... (${skippedCount} earlier lines)`)] : [];
    return ["", ...note, ...visualLines];
  }

  invalidate(): void {}
}

/** A command that the user runs, with its output as it comes. */
export class BashExecutionComponent extends Container {
  readonly #command: string;
  #output = "";
  #end: { exitCode: number | undefined; cancelled: boolean } | undefined;
  #isExpanded = false;

  constructor(command: string, _ui: TUI, _excludeFromContext = false) {
    super();
    this.#command = command;
    this.#build();
  }

  appendOutput(chunk: string): void {
    this.#output += chunk;
    this.#build();
  }

  setComplete(exitCode: number | undefined, cancelled: boolean): void {
    this.#end = { exitCode, cancelled };
    this.#build();
  }

  setExpanded(expanded: boolean): void {
    this.#isExpanded = expanded;
    this.#build();
  }

  getOutput(): string {
    return this.#output;
  }

  getCommand(): string {
    return this.#command;
  }

  #build(): void {
    this.clear();
    this.addChild(new Spacer(1));
    this.addChild(new Text(theme.fg("bashMode", theme.bold(`$ ${this.#command}`)), 1, 0));
    if (this.#output.trim() !== "") this.addChild(new OutputText(this.#output.trimEnd(), this.#isExpanded));
    if (this.#end?.cancelled) this.addChild(new Text(theme.fg("warning", "(cancelled)"), 1, 0));
    else if (this.#end?.exitCode) this.addChild(new Text(theme.fg("error", `(exit ${this.#end.exitCode})`), 1, 0));
  }
}
