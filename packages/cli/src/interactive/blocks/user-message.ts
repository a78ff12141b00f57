import type { ImageContent, TextContent } from "@tau/ai";
import { Markdown } from "@tau/tui";
import type { Look } from "../look.ts";

/** What the user wrote, on a background of its own. */
export function createUserMessage(
  content: string | readonly (TextContent | ImageContent)[],
  { theme, markdown }: Look,
): Markdown {
  return new Markdown(getShownText(content), 1, 1, markdown, {
    color: (text) => theme.fg("userMessageText", text),
    bgColor: (text) => theme.bg("userMessageBg", text),
  });
}

/** Images are named, since a message is short. */
export function getShownText(content: string | readonly (TextContent | ImageContent)[]): string {
  if (typeof content === "string") return content;
  const texts = content.map((block) => (block.type === "text" ? block.text : `[image: ${block.mimeType}]`));
  return texts.join("\n\n");
}
