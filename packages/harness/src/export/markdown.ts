/** The current branch of a session as Markdown. */
import type { ExportSource } from "./source.ts";

/**
 * Headings of the first two levels mark the session's entries, and no text of the session can hide or swallow the text
 * after it. Images are named, not shown. Never rejects because of what the entries hold.
 */
export async function exportMarkdown(source: ExportSource): Promise<string> {
  // Loaded here, because most programs never export and the Markdown lexer is large.
  const { createSessionMarkdown } = await import("./session-markdown.ts");
  return createSessionMarkdown(source);
}
