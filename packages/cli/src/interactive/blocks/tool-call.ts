/** A call of a tool, from the moment the model begins to write it until its result is there. */
import type { AgentToolResult } from "@tau/agent";
import type { ToolResultMessage } from "@tau/ai";
import type { LiveTool } from "@tau/protocol";
import {
  getAddedText,
  getCallSubject,
  getPartialSubject,
  getPartialText,
  getText,
  hasSameRows,
  type NestedCallRow,
} from "@tau/protocol/surface";
import { type Component, Markdown, toPlainLine, truncateToWidth, wrapTextWithAnsi } from "@tau/tui";
import { ToolView, type ToolViewState } from "../extensions/tool-view.ts";
import type { Look } from "../look.ts";
import { drawCode } from "./cell.ts";
import { ImageBlock } from "./image.ts";
import { drawNestedCalls } from "./nested-calls.ts";
import { describeOutcome, drawOutput, type ToolOutput } from "./tool-result.ts";

type State =
  | { kind: "arriving"; arguments: string }
  | { kind: "waiting" }
  | { kind: "running"; updates: LiveTool["updates"] }
  | {
      kind: "done";
      content: ToolResultMessage["content"];
      output: ToolOutput;
      images: readonly ImageBlock[];
      durationMs: number;
    };

interface CallName {
  id: string;
  /** The name of the tool. */
  name: string;
}

export class ToolCallBlock implements Component {
  readonly #look: Look;
  readonly #now: () => number;
  readonly #id: string;
  #name: string;
  #title: string;
  #input: Readonly<Record<string, unknown>> | undefined;
  #state: State = { kind: "waiting" };
  /** How long it has run before `#resumedAt`. */
  #ranMs = 0;
  /** Undefined before it runs, and while it waits for an answer. */
  #resumedAt: number | undefined;
  /** `call` and `result` are what an extension drew. */
  #drawn: { width: number; lines: string[]; call?: string[]; result?: string[] } | undefined;
  /** Whether its result is awaited. */
  #isLive = false;
  #isDenied = false;
  /** The calls that its tool made. */
  #nested: readonly NestedCallRow[] = [];
  /** How an extension draws it. `source` is where that was looked up. */
  #custom: { source: object | undefined; view: ToolView | undefined } | undefined;
  /** The result so far, for an extension that draws it. */
  #partial: AgentToolResult | undefined;

  constructor({ id, name }: CallName, look: Look, now: () => number) {
    this.#id = id;
    this.#name = name;
    this.#title = toPlainLine(name);
    this.#look = look;
    this.#now = now;
  }

  /** The model calls some tools through another one, whose name arrives first. */
  setName(name: string): void {
    if (name === this.#name) return;
    this.#name = name;
    this.#title = toPlainLine(name);
    this.#custom = undefined;
    this.invalidate();
  }

  setArguments(json: string): void {
    if (this.#state.kind === "arriving" && this.#state.arguments === json) return;
    this.#isLive = true;
    this.#set({ kind: "arriving", arguments: json });
  }

  setInput(input: Readonly<Record<string, unknown>>): void {
    this.#input = input;
    if (this.#state.kind === "arriving") this.#state = { kind: "waiting" };
    this.invalidate();
  }

  /** `isAsked`: the user is asked about it, and the time until the answer is not the tool's. */
  setRunning({ input, updates }: LiveTool, isAsked: boolean): void {
    this.#input = input;
    this.#isLive = true;
    if (isAsked) {
      this.#ranMs = this.#getDurationMs();
      this.#resumedAt = undefined;
    } else this.#resumedAt ??= this.#now();
    if (this.#state.kind === "running" && this.#state.updates === updates) return;
    this.#set({ kind: "running", updates });
  }

  setResult({ content, details, isError }: ToolResultMessage): void {
    const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const images = content.flatMap((block) => (block.type === "image" ? [new ImageBlock(block, this.#look)] : []));
    const durationMs = this.#getDurationMs();
    this.#isLive = false;
    this.#partial = undefined;
    this.#set({
      kind: "done",
      content,
      output: { text: texts.join("\n"), added: getAddedText(content), details, isError },
      images,
      durationMs,
    });
  }

  /** Sets the result so far. */
  setPartial(partial: AgentToolResult): void {
    if (this.#state.kind === "done") return;
    this.#partial = partial;
    this.invalidate();
  }

  setNested(rows: readonly NestedCallRow[]): void {
    if (hasSameRows(rows, this.#nested)) return;
    this.#nested = rows;
    this.invalidate();
  }

  /** The policy or the user did not allow it. */
  setDenied(): void {
    if (this.#isDenied) return;
    this.#isDenied = true;
    this.invalidate();
  }

  /** No result follows. */
  end(): void {
    this.#isLive = false;
  }

  countFinished(width: number): number {
    return this.#isLive ? 0 : this.render(width).length;
  }

  invalidate(): void {
    this.#drawn = undefined;
    if (this.#state.kind === "done") for (const image of this.#state.images) image.invalidate();
  }

  render(width: number): string[] {
    const view = this.#getView();
    if (view) return this.#renderView(view, width);
    if (this.#drawn?.width !== width) this.#drawn = { width, lines: this.#draw(width) };
    return this.#drawn.lines;
  }

  /** Returns the view of an extension, once it is known what the tool is called with. */
  #getView(): ToolView | undefined {
    const { renderers } = this.#look;
    if (!renderers || !this.#input) return undefined;
    if (!this.#custom || this.#custom.source !== renderers.source) {
      const found = renderers.findTool(this.#name);
      const isDrawn = typeof found?.renderCall === "function" || typeof found?.renderResult === "function";
      const onChange = () => {
        this.invalidate();
        renderers.requestRender();
      };
      const onFailed = (message: string) => renderers.reportFailure(message);
      const call = { look: this.#look, toolName: this.#title, toolCallId: this.#id, onChange, onFailed };
      this.#custom = {
        source: renderers.source,
        view: isDrawn ? new ToolView({ ...call, renderers: found }) : undefined,
      };
    }
    return this.#custom.view;
  }

  /** Components of extensions may change by themselves, so they are asked for each frame. */
  #renderView(view: ToolView, width: number): string[] {
    const isNew = this.#drawn === undefined;
    const room = view.isFrameless ? width : Math.max(1, width - indent.length - 1);
    const state = this.#getViewState();
    const { call, result, isHidden } = view.render(state, isNew, room);
    const before = this.#drawn;
    if (isHidden) return (this.#drawn = { width, lines: [] }).lines;
    if (before?.width === width && before.call === call && before.result === result) return before.lines;
    const body = result ?? this.#drawBody(room).flatMap((line) => wrapTextWithAnsi(line, room));
    const images = this.#drawImages(room);
    const front = view.isFrameless ? "" : indent;
    const mark = ` ${this.#look.theme.fg(getMarkColor(this.#state), "●")} `;
    const title = call?.map((line, index) => (view.isFrameless ? line : (index === 0 ? mark : indent) + line));
    const lines = [
      "",
      ...(title ?? [this.#drawTitle(width)]),
      ...this.#drawNested(width),
      ...[...body, ...images].map((line) => `${front}${line}`),
    ];
    this.#drawn = { width, lines, ...(call && { call }), ...(result && { result }) };
    return lines;
  }

  #getViewState(): ToolViewState {
    const state = this.#state;
    const isDone = state.kind === "done";
    const { details, isError = false } = isDone ? state.output : { details: undefined };
    return {
      args: this.#input ?? {},
      hasStarted: isDone || state.kind === "running",
      result: isDone
        ? { content: state.content, details, isError }
        : this.#partial && { ...this.#partial, isError: false },
      isPartial: !isDone,
    };
  }

  #getDurationMs(): number {
    return this.#ranMs + (this.#resumedAt === undefined ? 0 : this.#now() - this.#resumedAt);
  }

  #set(state: State): void {
    this.#state = state;
    this.invalidate();
  }

  #draw(width: number): string[] {
    const room = Math.max(1, width - indent.length - 1);
    const drawn = this.#drawBody(room).flatMap((line) => wrapTextWithAnsi(line, room));
    const body = [...this.#drawDocument(room), ...this.#drawCell(room), ...drawn];
    const images = this.#drawImages(room);
    const result = [...body, ...images].map((line) => `${indent}${line}`);
    return ["", this.#drawTitle(width), ...this.#drawNested(width), ...result];
  }

  #drawNested(width: number): string[] {
    const { theme, expandsTools: expanded } = this.#look;
    const lines = drawNestedCalls(this.#nested, { theme, expanded });
    return lines.map((line) => truncateToWidth(`${indent}${line}`, width, "…"));
  }

  /** An image that cannot be drawn is named by the text, if there is one and it is about the image. */
  #drawImages(width: number): string[] {
    const state = this.#state;
    if (state.kind !== "done") return [];
    const isNamed = state.output.text.trim() !== "" && this.#look.shows.get(this.#name) !== "cell";
    return state.images.filter(({ isDrawn }) => isDrawn || !isNamed).flatMap((image) => image.render(width));
  }

  #drawTitle(width: number): string {
    const { theme } = this.#look;
    const state = this.#state;
    const subject = this.#getSubject();
    const outcome = state.kind === "done" ? describeOutcome(state.output, state.durationMs) : undefined;
    const note = outcome !== undefined && this.#isDenied ? "denied" : outcome;
    const title = [
      theme.fg(getMarkColor(state), "●"),
      theme.fg("toolTitle", theme.bold(this.#title)),
      ...(subject === "" ? [] : [theme.fg("text", subject)]),
      ...(note === undefined ? [] : [theme.fg("muted", `(${toPlainLine(note)})`)]),
    ].join(" ");
    return truncateToWidth(` ${title}`, width, "…");
  }

  #getSubject(): string {
    // Its code is below the title.
    if (this.#look.shows.get(this.#name) === "cell") return toPlainLine(this.#getArgument("language"));
    if (this.#input) return toPlainLine(getCallSubject(this.#input));
    return this.#state.kind === "arriving" ? toPlainLine(getPartialSubject(this.#state.arguments)) : "";
  }

  /** A text that the person is to read, such as a plan: whole, and as soon as it is there. */
  #drawDocument(width: number): string[] {
    const content = this.#input?.["content"];
    if (this.#look.shows.get(this.#name) !== "document" || typeof content !== "string") return [];
    return new Markdown(content, 0, 0, this.#look.markdown).render(width);
  }

  /** Reads an argument of a cell, also while it arrives. */
  #getArgument(name: "code" | "language"): string {
    if (this.#input) return getText(this.#input[name]);
    return this.#state.kind === "arriving" ? getPartialText(this.#state.arguments, name) : "";
  }

  #drawCell(width: number): string[] {
    if (this.#look.shows.get(this.#name) !== "cell") return [];
    const cell = { code: this.#getArgument("code"), language: this.#getArgument("language") };
    return drawCode({ ...cell, isArriving: !this.#input }, this.#getDrawOptions(width));
  }

  #getDrawOptions(width: number) {
    const { theme, expandsTools: expanded, markdown } = this.#look;
    return { theme, expanded, width, highlight: markdown.highlightCodeLine };
  }

  #drawBody(width: number): string[] {
    const options = this.#getDrawOptions(width);
    const state = this.#state;
    const kind = this.#look.shows.get(this.#name);
    if (state.kind === "running") {
      const output = { text: getRecentOutput(state.updates), details: undefined, isError: false };
      return drawOutput(kind === "command" || kind === "cell" ? kind : "text", output, options);
    }
    if (state.kind !== "done") return [];
    // The text is about the image, and not lines of a file.
    const shows = state.images.length > 0 && kind === "excerpt" ? "image" : kind;
    return drawOutput(shows, { ...state.output, input: this.#input }, options);
  }
}

/** Before the lines of a result. */
const indent = "   ";

/** A command may print megabytes between two frames, and of a running call only the end is of interest. */
const maxRecentLength = 16_000;

function getRecentOutput(updates: LiveTool["updates"]): string {
  let text = "";
  for (let index = updates.length - 1; index >= 0 && text.length < maxRecentLength; index--) {
    text = `${updates[index]?.content ?? ""}${text}`;
  }
  return text;
}

function getMarkColor(state: State): "muted" | "accent" | "success" | "error" {
  if (state.kind === "done") return state.output.isError ? "error" : "success";
  return state.kind === "running" ? "accent" : "muted";
}
