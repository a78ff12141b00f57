/** Writes several files, all or none: if one write fails, those before it are undone. */
import { getErrorMessage } from "@tau/ai/internal";
import { ToolsError, type ToolsErrorCode } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import { OutputBudget } from "./output-budget.ts";
import type { TextFile } from "./text.ts";

export interface FileWrite {
  /** The path as the model typed it. */
  typed: string;
  realPath: string;
  /** The stamp of the reading that gave `before`. */
  stamp: string;
  before: TextFile;
  after: TextFile;
}

/** The content of a file after a failure. `foreign` is neither the old content nor ours: another process wrote it. */
type Content = "old" | "new" | "foreign" | "unknown";

type WrittenFile = Awaited<ReturnType<Files["writeWhole"]>>;

/** Throws when a file could not be written. The error says what each file holds then. */
export async function writeAll(files: Files, writes: readonly FileWrite[]): Promise<WrittenFile[]> {
  const written: WrittenFile[] = [];
  for (const [index, write] of writes.entries()) {
    try {
      written.push(await files.writeWhole(write.realPath, write.after.bytes, { ifUnchanged: write.stamp }));
    } catch (error) {
      const contents = new Map<FileWrite, Content>(writes.map((write) => [write, "old"]));
      // The failed one too: its new content may be there already.
      contents.set(write, await undo(files, write, "unknown"));
      for (const earlier of writes.slice(0, index).toReversed()) {
        contents.set(earlier, await undo(files, earlier, "new"));
      }
      throw toFailure(error, write, contents);
    }
  }
  return written;
}

/** Writes the old content where ours is. `unread` is the result for a file that cannot be read. */
async function undo(files: Files, write: FileWrite, unread: Content): Promise<Content> {
  const { content, stamp } = await look(files, write, unread);
  if (content !== "new" || stamp === undefined) return content;
  try {
    await files.writeWhole(write.realPath, write.before.bytes, { ifUnchanged: stamp });
    return "old";
  } catch {
    // Only the first failure is thrown. This one may have come after the content was written.
    return (await look(files, write, "unknown")).content;
  }
}

async function look(
  files: Files,
  { realPath, before, after }: FileWrite,
  unread: Content,
): Promise<{ content: Content; stamp?: string }> {
  const maxBytes = Math.max(before.bytes.length, after.bytes.length);
  try {
    const { bytes, stamp } = await files.readWhole(realPath, maxBytes);
    if (bytes.equals(after.bytes)) return { content: "new", stamp };
    return { content: bytes.equals(before.bytes) ? "old" : "foreign" };
  } catch (error) {
    return { content: error instanceof ToolsError && error.code === "too_large" ? "foreign" : unread };
  }
}

function toFailure(error: unknown, failed: FileWrite, contents: ReadonlyMap<FileWrite, Content>): ToolsError {
  const message = getErrorMessage(error).replace(/\.?$/, ".");
  const typed = (wanted: Content) =>
    [...contents].filter(([, content]) => content === wanted).map(([write]) => write.typed);
  const isUndone = typed("new").length + typed("unknown").length === 0;
  const states = [
    ["With the new content", typed("new")],
    ["With the old content", typed("old")],
    ["With the old or the new content, they could not be read again", typed("unknown")],
    ["Changed by another process meanwhile", typed("foreign")],
  ] as const;
  const state =
    typed("old").length === contents.size
      ? "Every file is as it was."
      : states.flatMap(([what, names]) => (names.length > 0 ? [`${what}: ${listNames(names)}.`] : [])).join(" ");
  // Some files have the new content: the model must not take that for a failure after which it can simply try again.
  const code: ToolsErrorCode = !isUndone ? "failed" : error instanceof ToolsError ? error.code : "unavailable";
  return new ToolsError(code, `Writing ${failed.typed} failed: ${message} ${state}`, {
    cause: error,
  });
}

/** Names, as many as fit. */
function listNames(names: readonly string[]): string {
  const budget = new OutputBudget(names.length, 8 * 1024);
  const shown = names.filter((name) => budget.take(name));
  const left = names.length - shown.length;
  return shown.join(", ") + (left > 0 ? ` and ${left} more` : "");
}
