import type { ImageContent, TextContent } from "@tau/ai";
import { Markdown } from "@tau/tui";
import type { Look } from "../look.ts";

/** What the user wrote, on a background of its own. */
export class UserMessageBlock extends Markdown {
  readonly #look: Look;

  constructor(content: string | readonly (TextContent | ImageContent)[], look: Look) {
    const { theme, markdown, outputPad } = look;
    super(getShownText(content), outputPad, 1, markdown, {
      color: (text) => theme.fg("userMessageText", text),
      bgColor: (text) => theme.bg("userMessageBg", text),
    });
    this.#look = look;
  }

  override invalidate(): void {
    super.invalidate();
    this.setPaddingX(this.#look.outputPad);
  }
}

/** Images are named, since a message is short. */
export function getShownText(content: string | readonly (TextContent | ImageContent)[]): string {
  if (typeof content === "string") return content;
  const texts = content.map((block) => (block.type === "text" ? block.text : `[image: ${block.mimeType}]`));
  return texts.join("\n\n");
}
