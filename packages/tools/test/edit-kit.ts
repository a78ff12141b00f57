/** Edits files that a test creates. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TextContent } from "@tau/ai";
import { createEditTool } from "../src/files/edit.ts";
import { createFileQueue } from "../src/files/file-queue.ts";
import type { TextEdit } from "../src/files/match.ts";
import { createFiles } from "../src/platform/files.ts";
import { scratch } from "./scratch.ts";

export const toolIn = (cwd: string, files = createFiles()) => createEditTool({ cwd, files, queue: createFileQueue() });

export const withFile = (content: string | Buffer) => {
  const cwd = scratch();
  writeFileSync(join(cwd, "file"), content);
  return cwd;
};

export const one = (oldText: string, newText: string): TextEdit[] => [{ oldText, newText }];

/** Edits a file of this content and gives the new content. */
export const edited = async (content: string | Buffer, edits: TextEdit[]) => {
  const cwd = withFile(content);
  const result = await toolIn(cwd).execute("id", { path: "file", edits });
  return {
    bytes: readFileSync(join(cwd, "file")),
    content: readFileSync(join(cwd, "file"), "utf8"),
    text: (result.content[0] as TextContent).text,
    details: result.details!,
  };
};
