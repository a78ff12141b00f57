/** `SYSTEM.md` replaces the default system prompt; `APPEND_SYSTEM.md` is added to the system prompt. */
import type { Loaded, LoadRequest, TextFile } from "./context-files.ts";
import { readText } from "./read-text.ts";

export const systemFileName = "SYSTEM.md";
export const appendSystemFileName = "APPEND_SYSTEM.md";

const maxBytes = 128 * 1024;

interface SystemFileRequest extends LoadRequest<TextFile> {
  /** Only the first that exists is used. */
  paths: readonly string[];
}

/** An empty file is ignored. */
export async function loadSystemFile(request: SystemFileRequest): Promise<Loaded<TextFile | undefined>> {
  const { fileSystem, paths, lastGood } = request;
  const problems = [];
  for (const path of paths) {
    const outcome = await readText(fileSystem, path, maxBytes);
    if (outcome.kind === "missing") continue;
    if (outcome.problem) problems.push(outcome.problem);
    const file = outcome.kind === "text" ? { path, content: outcome.text.trim() } : lastGood?.get(path);
    if (file && file.content !== "") return { value: file, problems };
  }
  return { value: undefined, problems };
}
