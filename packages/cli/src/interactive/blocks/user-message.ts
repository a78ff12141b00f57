import type { ImageContent, TextContent } from "@tau/ai";
import { type Component, Markdown, Text, toPlainText } from "@tau/tui";
import { transformMarkdown } from "../extensions/transform-markdown.ts";
import type { Look } from "../look.ts";
import { describeKey } from "./fold.ts";
import { ImageBlock } from "./image.ts";

type Content = string | readonly (TextContent | ImageContent)[];

/** A text that is longer than one of these is folded. */
const maxLines = 300;
const maxLength = 20_000;
/** What is left of it. */
const foldedLines = 10;
const foldedLength = 1_000;

/** What the user wrote, on a background of its own, with its images below. */
export class UserMessageBlock implements Component {
  readonly #look: Look;
  readonly #text: string;
  readonly #images: readonly ImageBlock[];
  #shown: Component;
  #showsAll: boolean;

  constructor(content: Content, look: Look) {
    const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    this.#look = look;
    this.#text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
    this.#images = blocks.flatMap((block) => (block.type === "image" ? [new ImageBlock(block, look)] : []));
    this.#showsAll = look.expandsTools;
    this.#shown = this.#create();
  }

  invalidate(): void {
    for (const image of this.#images) image.invalidate();
    // The colors may have changed too.
    this.#showsAll = this.#look.expandsTools;
    this.#shown = this.#create();
  }

  render(width: number): string[] {
    const lines = this.#text === "" && this.#images.length > 0 ? [] : this.#shown.render(width);
    if (this.#images.length === 0) return lines;
    return [...lines, ...this.#images.flatMap((image) => image.render(width - 2).map((line) => ` ${line}`))];
  }

  #create(): Component {
    const { theme, markdown, outputPad } = this.#look;
    const folded = this.#showsAll ? undefined : fold(this.#text);
    const color = (text: string) => theme.fg("userMessageText", text);
    const bgColor = (text: string) => theme.bg("userMessageBg", text);
    // A part of a text may not be valid Markdown.
    if (folded !== undefined) return new Text(color(toPlainText(folded)), outputPad, 1, bgColor);
    const text = transformMarkdown(this.#look, this.#text, { messageType: "user", isStreaming: false });
    // What was typed is shown as it was typed.
    return new Markdown(text, outputPad, 1, markdown, { color, bgColor }, { renderLatex: false });
  }
}

/** The beginning of a long text, with how long it is. Undefined for a text that is shown whole. */
function fold(text: string): string | undefined {
  const lineCount = text.split("\n", maxLines + 1).length;
  if (text.length <= maxLength && lineCount <= maxLines) return undefined;
  const start = text.slice(0, foldedLength).split("\n").slice(0, foldedLines).join("\n");
  return `${start}\n… ${formatSize(Buffer.byteLength(text))} in all${describeKey("; ", " shows it")}`;
}

const formatSize = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Images are named, since a line is short. */
export function getShownText(content: Content): string {
  if (typeof content === "string") return content;
  const texts = content.map((block) => (block.type === "text" ? block.text : `[image: ${block.mimeType}]`));
  return texts.join("\n\n");
}
