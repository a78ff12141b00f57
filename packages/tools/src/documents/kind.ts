/** Which documents `read` shows besides texts and images, by the beginning of the file. Pure, and loaded with `read`. */

export type DocumentKind = "pdf" | "sqlite" | "notebook" | "zip" | "gzip" | "tar";

const startsWith = (head: Buffer, text: string): boolean => head.toString("latin1", 0, text.length) === text;

/** Undefined for anything else. A notebook is only known by its name: it may turn out to be another text. */
export function detectDocument(head: Buffer, path: string): DocumentKind | undefined {
  // Some programs write something before it.
  if (startsWith(head, "%PDF-") || (/\.pdf$/i.test(path) && head.subarray(0, 1_024).includes("%PDF-"))) return "pdf";
  if (startsWith(head, "SQLite format 3\0")) return "sqlite";
  if (["PK\x03\x04", "PK\x05\x06"].some((mark) => startsWith(head, mark))) return "zip";
  if (startsWith(head, "\x1f\x8b")) return "gzip";
  // The archives of the time before POSIX have no mark at all.
  if (head.toString("latin1", 257, 262) === "ustar" || /\.tar$/i.test(path)) return "tar";
  return /\.ipynb$/i.test(path) ? "notebook" : undefined;
}
