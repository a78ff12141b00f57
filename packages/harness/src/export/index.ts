/** Exporting and importing sessions. */
export { keepAs, writeTextFile } from "@tau/tools/durable";
export { exportHtml, type ExportHtmlOptions } from "./html.ts";
export { type ImportedSession, type ImportProblem, importSession } from "./import.ts";
export { type ImportedFile, importSessionFile } from "./import-file.ts";
export { exportJsonl, type ExportJsonlOptions } from "./jsonl.ts";
export { leaveOut } from "./leave-out.ts";
export { exportMarkdown } from "./markdown.ts";
export type { ExportSource } from "./source.ts";
export { findTarget, writeTarget } from "./write-target.ts";
