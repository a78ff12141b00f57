/** Reads a mentioned path with the tools, so that the same limits and the same guard apply. */
import { resolve } from "node:path";
import type { AgentToolResult } from "@tau/agent";
import { joinTextBlocks } from "@tau/ai/internal";
import type { Files, LsDetails, ReadDetails, SeenFiles } from "@tau/tools";
import type { Mentioned } from "./expand.ts";

interface MentionReaderOptions {
  /** Where relative paths begin; `~` is the home directory. */
  cwd: string;
  /** Default: the real file system without a guard, because the user may show the model any file. */
  files?: Files;
  /** Remembers which files were shown. */
  seen?: SeenFiles;
}

const maxDirectoryEntries = 200;

export function createMentionReader(options: MentionReaderOptions): (path: string) => Promise<Mentioned> {
  const { cwd, seen } = options;
  return async (typed) => {
    if (typed.includes("\0")) return { kind: "missing" };
    // Most prompts mention no files, so the tools are loaded only now.
    const { createFiles, createLsTool, createReadTool, ToolsError } = await import("@tau/tools");
    const { files = createFiles() } = options;
    // The tools remove a leading `@`; here it belongs to the name.
    const path = typed.startsWith("@") ? `./${typed}` : typed;
    const toMentioned = (kind: "file" | "directory", result: AgentToolResult<Shown>): Mentioned => {
      const text = joinTextBlocks(result.content);
      const image = result.content.find((block) => block.type === "image");
      const realPath = result.details?.path ?? resolve(cwd, path);
      if (image) return { kind: "image", path: realPath, image, note: text };
      const cut = result.details && formatCut(result.details);
      return { kind, path: realPath, text, ...(cut !== undefined && { cut }) };
    };
    let notFileReason: string;
    try {
      return toMentioned(
        "file",
        await createReadTool({ cwd, files, ...(seen && { seen }) }).execute("mention", { path }),
      );
    } catch (error) {
      if (!(error instanceof ToolsError)) throw error;
      if (error.code === "not_found" || error.code === "invalid_input") return { kind: "missing" };
      if (error.code !== "not_a_file") return { kind: "failed", reason: error.message };
      notFileReason = error.message;
    }
    try {
      const input = { path, limit: maxDirectoryEntries };
      return toMentioned("directory", await createLsTool({ cwd, files }).execute("mention", input));
    } catch (error) {
      if (!(error instanceof ToolsError)) throw error;
      if (error.code !== "not_a_directory") return { kind: "failed", reason: error.message };
      return { kind: "failed", reason: `${notFileReason} Pipe its output to standard input, or save it to a file.` };
    }
  };
}

/** Details of `read` and `ls` about what they have shown. */
type Shown = Pick<ReadDetails, "path" | "shownLines" | "totalLines" | "unit"> | LsDetails;

/** Describes to the user what was left out of content that was too long; undefined if all of it was shown. */
function formatCut(details: Shown): string | undefined {
  const isFile = "shownLines" in details;
  const [shown, total] = isFile
    ? [details.shownLines, details.totalLines]
    : [details.shownEntries, details.totalEntries];
  if (shown === total) return undefined;
  const parts = isFile ? (details.unit ?? "lines") : "entries";
  return `${details.path} is too long for a message: only its first ${shown} ${parts} were sent.`;
}
