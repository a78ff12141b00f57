/** Text for a list of sessions: one line, and no longer than a list needs. Pure. */
const maxLength = 200;

export function toShortLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxLength ? `${line.slice(0, maxLength).toWellFormed()}…` : line;
}
