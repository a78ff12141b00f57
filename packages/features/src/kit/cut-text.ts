/** Cuts texts that are too long for a result, and keeps the whole of them in a file. */
import type { ExtensionAPI } from "@tau/extensions";

interface CutOptions extends Pick<ExtensionAPI, "keepText"> {
  readonly maxChars: number;
  /** Says how else the rest is read. */
  readonly hint?: string;
}

/** Cuts at the end of a line where there is one, and says how much is not shown and where it is. */
export async function cutText(text: string, { maxChars, keepText, hint = "" }: CutOptions): Promise<string> {
  if (text.length <= maxChars) return text;
  const end = text.lastIndexOf("\n", maxChars);
  // Half of a character would be none.
  const shown = end > 0 ? text.slice(0, end) : text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "");
  const path = await keepText(text);
  const where = path === undefined ? "" : ` All of it is in ${path}.`;
  return `${shown}\n[${text.length - shown.length} of ${text.length} characters are not shown.${where}${hint}]`;
}
