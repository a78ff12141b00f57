import type { ImageContent, TextContent } from "@tau/ai";
import { type Component, Markdown, Text, toPlainText, visibleWidth } from "@tau/tui";
import { transformMarkdown } from "../extensions/transform-markdown.ts";
import type { Look } from "../look.ts";
import { describeKey } from "./fold.ts";
import { ImageBlock } from "./image.ts";
import { listImages } from "./image-names.ts";

type Content = string | readonly (TextContent | ImageContent)[];

/** A text that is longer than one of these is folded. */
const maxLines = 300;
const maxLength = 20_000;
/** The part of it that is shown. */
const foldedLines = 10;
const foldedLength = 1_000;

/** Draws what the user wrote: behind a mark, since not every theme has a background for it, with its images below. */
export class UserMessageBlock implements Component {
  readonly #look: Look;
  readonly #text: string;
  readonly #images: readonly { block: ImageBlock; isNamed: boolean }[];
  #shown: Component;
  #showsAll: boolean;
  /** The text with its mark, and what it was made of. */
  #marked: { inner: string[]; pad: number; lines: string[] } | undefined;

  constructor(content: Content, look: Look) {
    const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    this.#look = look;
    this.#text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
    this.#images = listImages(blocks).map(({ image, isNamed }) => ({ block: new ImageBlock(image, look), isNamed }));
    this.#showsAll = look.expandsTools;
    this.#shown = this.#create();
  }

  invalidate(): void {
    for (const { block } of this.#images) block.invalidate();
    // The colors may have changed too.
    this.#showsAll = this.#look.expandsTools;
    this.#shown = this.#create();
    this.#marked = undefined;
  }

  render(width: number): string[] {
    const text = this.#text === "" && this.#images.length > 0 ? [] : this.#renderText(width);
    // An image that the text names is not named again.
    const shown = this.#images.filter(({ block, isNamed }) => block.isDrawn || !isNamed);
    const lines = shown.flatMap(({ block }) => block.render(width - 2).map((line) => ` ${line}`));
    const [first = "", ...rest] = lines;
    return text.length > 0 ? [...text, ...lines] : [`${this.#mark}${first}`, ...rest];
  }

  /** With the mark before its first line, beside a column of blanks. */
  #renderText(width: number): string[] {
    const { theme, outputPad } = this.#look;
    const room = width - visibleWidth(this.#mark);
    if (room < 1) return this.#shown.render(width);
    const before = this.#marked;
    const inner = this.#shown.render(room);
    if (before?.inner === inner && before.pad === outputPad) return before.lines;
    const [mark, blank] = [this.#mark, " ".repeat(visibleWidth(this.#mark))].map((column) =>
      theme.bg("userMessageBg", theme.fg("userMessageText", column)),
    );
    // The line above the text is empty.
    const lines = inner.map((line, index) => `${index === 1 ? mark : blank}${line}`);
    this.#marked = { inner, pad: outputPad, lines };
    return lines;
  }

  /** The text keeps a blank between the mark and itself. */
  get #mark(): string {
    return this.#look.outputPad > 0 ? "›" : "› ";
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

/** Images that the text does not name are named, since a line is short. */
export function getShownText(content: Content): string {
  if (typeof content === "string") return content;
  const texts = content.filter((block) => block.type === "text").map(({ text }) => text);
  const images = listImages(content).flatMap(({ image, isNamed }) => (isNamed ? [] : [`[image: ${image.mimeType}]`]));
  return [...texts, ...images].join("\n\n");
}
