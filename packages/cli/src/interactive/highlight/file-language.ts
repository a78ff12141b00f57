import { basename } from "node:path";

/** The language of a file, by its name; empty if that does not tell. The highlighter may not know it. */
export function getFileLanguage(path: string): string {
  const name = basename(path).toLowerCase();
  const dot = name.lastIndexOf(".");
  // Such as Dockerfile and Makefile.
  return name.slice(dot + 1);
}
