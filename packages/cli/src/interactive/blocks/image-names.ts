/** Images that the text of their message names already. Pure. */
import type { ImageContent, TextContent } from "@tau/ai";

/** Creates the text that stands for an attached image. */
export const createImageMarker = (number: number): string => `[image ${number}]`;

/** The images of a message, and whether its text names them: by a marker, or as a file that was mentioned. */
export function listImages<Image extends Omit<ImageContent, "data">>(
  content: readonly (TextContent | Image)[],
): readonly { image: Image; isNamed: boolean }[] {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  let markers = new Set(text.match(/\[image \d+\]/g)).size;
  return content.flatMap((block, index) => {
    if (block.type !== "image") return [];
    const before = content[index - 1];
    const isMentioned = before?.type === "text" && before.text.startsWith("<file ");
    return [{ image: block, isNamed: isMentioned || markers-- > 0 }];
  });
}
