/** Reads the text and the images that a person typed and attached from a message as it is sent. */
import type { ImageContent, TextContent } from "@tau/ai";

/** A view knows images without their data. */
type AnyImage = Pick<ImageContent, "type">;

export interface TypedContent<Image> {
  text: string;
  images: Image[];
}

/** Matches a mentioned file, directory or resource, as it is written after the text. */
const attachment = /^<((?:file|directory|resource)(?:-\d+)?) name="[^"\n]*"(?: source="external")?>\n[\s\S]*\n<\/\1>$/;

/**
 * Without what the text mentions: when it is sent again, that is read again. The image of a mentioned file comes
 * after its name. Pure.
 */
export function getTypedContent<Image extends AnyImage>(
  content: string | readonly (TextContent | Image)[],
): TypedContent<Image> {
  if (typeof content === "string") return { text: content, images: [] };
  const isAttachment = (index: number): boolean => {
    const block = content[index];
    return index > 0 && block?.type === "text" && attachment.test(block.text);
  };
  const typed = content.filter((block, index) => !isAttachment(block.type === "text" ? index : index - 1));
  return {
    text: typed.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
    images: typed.flatMap((block) => (block.type === "text" ? [] : [block])),
  };
}
