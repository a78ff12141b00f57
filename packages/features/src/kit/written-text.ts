/** Reads what a person wrote themselves in a message, without what was put into it: files, skills, resources, standard input. Pure. */
import { isRecord } from "@tau/ai/internal";

/** The names of elements that such texts are enclosed in; the tag has a number where the text could close it. */
const enclosed = /<(file|directory|resource|skill|template|stdin)(-\d+)?\b[^>]*>[^]*?(?:<\/\1\2>|$)/g;

/** Joins the texts of a message, which may have been read from a log. */
export function getWrittenText(content: unknown): string {
  const texts =
    typeof content === "string"
      ? [content]
      : Array.isArray(content)
        ? content
            .filter(isRecord)
            .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
        : [];
  return texts.map((text) => text.replaceAll(enclosed, "")).join("\n");
}
