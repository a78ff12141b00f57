/** A call of a tool, from the moment the model begins to write it until its result is there. */
import type { ToolResultMessage } from "@tau/ai";
import type { LiveTool } from "@tau/protocol";
import { type Component, toPlainLine, truncateToWidth, wrapTextWithAnsi } from "@tau/tui";
import type { Look } from "../look.ts";
import { ImageBlock } from "./image.ts";
import { getCallSubject, getPartialSubject } from "./call-title.ts";
import { describeOutcome, drawOutput, type ToolOutput } from "./tool-result.ts";

type State =
  | { kind: "arriving"; arguments: string }
  | { kind: "waiting" }
  | { kind: "running"; updates: LiveTool["updates"] }
  | { kind: "done"; output: ToolOutput; images: readonly ImageBlock[]; durationMs: number | undefined };

export class ToolCallBlock implements Component {
  readonly #look: Look;
  readonly #now: () => number;
  readonly #name: string;
  readonly #title: string;
  #input: Readonly<Record<string, unknown>> | undefined;
  #state: State = { kind: "waiting" };
  #startedAt: number | undefined;
  #drawn: { width: number; lines: string[] } | undefined;
  /** Whether its result is awaited. */
  #isLive = false;
  #isDenied = false;

  constructor(name: string, look: Look, now: () => number) {
    this.#name = name;
    this.#title = toPlainLine(name);
    this.#look = look;
    this.#now = now;
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

  setRunning({ input, updates }: LiveTool): void {
    this.#input = input;
    this.#isLive = true;
    this.#startedAt ??= this.#now();
    if (this.#state.kind === "running" && this.#state.updates === updates) return;
    this.#set({ kind: "running", updates });
  }

  setResult({ content, details, isError }: ToolResultMessage): void {
    const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const images = content.flatMap((block) => (block.type === "image" ? [new ImageBlock(block, this.#look)] : []));
    const durationMs = this.#startedAt === undefined ? undefined : this.#now() - this.#startedAt;
    this.#isLive = false;
    this.#set({ kind: "done", output: { text: texts.join("\n"), details, isError }, images, durationMs });
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
    if (this.#drawn?.width !== width) this.#drawn = { width, lines: this.#draw(width) };
    return this.#drawn.lines;
  }

  #set(state: State): void {
    this.#state = state;
    this.invalidate();
  }

  #draw(width: number): string[] {
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
    const room = Math.max(1, width - 4);
    const body = this.#drawBody().flatMap((line) => wrapTextWithAnsi(line, room));
    const images = state.kind === "done" ? state.images.flatMap((image) => image.render(room)) : [];
    return ["", truncateToWidth(` ${title}`, width, "…"), ...[...body, ...images].map((line) => `   ${line}`)];
  }

  #getSubject(): string {
    if (this.#input) return toPlainLine(getCallSubject(this.#input));
    return this.#state.kind === "arriving" ? toPlainLine(getPartialSubject(this.#state.arguments)) : "";
  }

  #drawBody(): string[] {
    const { theme, expandsTools: expanded, shows } = this.#look;
    const state = this.#state;
    const kind = shows.get(this.#name);
    if (state.kind === "running") {
      const output = { text: getRecentOutput(state.updates), details: undefined, isError: false };
      return drawOutput(kind === "command" ? "command" : "text", output, { theme, expanded });
    }
    return state.kind === "done" ? drawOutput(kind, state.output, { theme, expanded }) : [];
  }
}

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
