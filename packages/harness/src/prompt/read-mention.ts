/** What a mentioned path leads to, as the tools show it: the same bounds, the same words, the same guard. */
import { resolve } from "node:path";
import type { AgentToolResult } from "@tau/agent";
import type { Files } from "@tau/tools";
import { HarnessError } from "../errors.ts";
import type { Mentioned } from "./expand.ts";

export interface MentionReaderOptions {
  /** Where relative paths begin; `~` is the home directory. */
  cwd: string;
  /** Default: the real file system, without a guard: a person may show the model what they like. */
  files?: Files;
  signal?: AbortSignal;
}

/** More of a directory is a task for a tool. */
const maxEntries = 200;

export function createMentionReader({
  cwd,
  files: given,
  signal,
}: MentionReaderOptions): (path: string) => Promise<Mentioned> {
  return async (typed) => {
    if (typed.includes("\0")) return { kind: "missing" };
    // Most prompts mention nothing, so the tools are loaded here.
    const { createFiles, createLsTool, createReadTool, ToolsError } = await import("@tau/tools");
    const files = given ?? createFiles();
    // The tools take a leading `@` for the sign of a mention; here it belongs to the name.
    const path = typed.startsWith("@") ? `./${typed}` : typed;
    const shown = (kind: "file" | "directory", result: AgentToolResult<{ path: string }>): Mentioned => {
      const text = result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      const image = result.content.find((block) => block.type === "image");
      const place = result.details?.path ?? resolve(cwd, path);
      return image ? { kind: "image", path: place, image, note: text } : { kind, path: place, text };
    };
    let notFile: string;
    try {
      return shown("file", await createReadTool({ cwd, files }).execute("mention", { path }, signal));
    } catch (error) {
      if (!(error instanceof ToolsError)) throw error;
      if (error.code === "aborted")
        throw new HarnessError("aborted", `Reading ${typed} was aborted.`, { cause: error });
      if (error.code === "not_found" || error.code === "invalid_input") return { kind: "missing" };
      if (error.code !== "not_a_file") return { kind: "failed", reason: error.message };
      notFile = error.message;
    }
    try {
      const listing = await createLsTool({ cwd, files }).execute("mention", { path, limit: maxEntries }, signal);
      return shown("directory", listing);
    } catch (error) {
      if (!(error instanceof ToolsError)) throw error;
      if (error.code !== "not_a_directory") return { kind: "failed", reason: error.message };
      return { kind: "failed", reason: `${notFile} Send what comes out of it on standard input, or as a file.` };
    }
  };
}
