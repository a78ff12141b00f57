/** A session as one HTML file that needs nothing else. */
import type { ExportHtmlOptions } from "./session-html.ts";
import type { ExportSource } from "./source.ts";

export type { ExportHtmlOptions } from "./session-html.ts";

/**
 * All branches, the current one shown. The page works without network, and without scripts except for switching branches.
 * Nothing of the session can run: all of it is escaped, and the page's policy allows only its own script and style.
 * Equal sessions give equal texts. Never rejects because of what the entries hold.
 */
export async function exportHtml(source: ExportSource, options: ExportHtmlOptions = {}): Promise<string> {
  // Loaded here, because most programs never export and the Markdown lexer is large.
  const { createSessionHtml } = await import("./session-html.ts");
  return createSessionHtml(source, options);
}
