/** Writing several files, all or none: if one write fails, those before it are taken back. */
import { ToolsError, type ToolsErrorCode } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import { Room } from "./room.ts";
import type { TextFile } from "./text.ts";

export interface FileWrite {
  /** As the model spelled it. */
  given: string;
  realPath: string;
  /** Of the reading that gave `before`. */
  stamp: string;
  before: TextFile;
  after: TextFile;
}

/** What a file holds after a failure. What is neither the old content nor ours was written by somebody else. */
type Content = "old" | "new" | "foreign" | "unknown";

/** Throws when a file could not be written. The error says what each file holds then. */
export async function writeAll(files: Files, writes: readonly FileWrite[]): Promise<void> {
  for (const [at, one] of writes.entries()) {
    try {
      await files.writeWhole(one.realPath, one.after.bytes, { ifUnchanged: one.stamp });
    } catch (error) {
      const contents = new Map<FileWrite, Content>(writes.map((write) => [write, "old"]));
      // The failed one too: its new content may be in place already.
      contents.set(one, await takeBack(files, one, "unknown"));
      for (const written of writes.slice(0, at).toReversed()) {
        contents.set(written, await takeBack(files, written, "new"));
      }
      throw toFailure(error, one, contents);
    }
  }
}

/** Writes the old content where ours is. `unread` is what the file holds if it cannot be read. */
async function takeBack(files: Files, write: FileWrite, unread: Content): Promise<Content> {
  const { content, stamp } = await look(files, write, unread);
  if (content !== "new" || stamp === undefined) return content;
  try {
    await files.writeWhole(write.realPath, write.before.bytes, { ifUnchanged: stamp });
    return "old";
  } catch {
    // The first failure is what is thrown. This one may have come when all was in place.
    return (await look(files, write, "unknown")).content;
  }
}

async function look(
  files: Files,
  { realPath, before, after }: FileWrite,
  unread: Content,
): Promise<{ content: Content; stamp?: string }> {
  const most = Math.max(before.bytes.length, after.bytes.length);
  try {
    const { bytes, stamp } = await files.readWhole(realPath, most);
    if (bytes.equals(after.bytes)) return { content: "new", stamp };
    return { content: bytes.equals(before.bytes) ? "old" : "foreign" };
  } catch (error) {
    return { content: error instanceof ToolsError && error.code === "too_large" ? "foreign" : unread };
  }
}

function toFailure(error: unknown, failed: FileWrite, contents: ReadonlyMap<FileWrite, Content>): ToolsError {
  const message = error instanceof Error ? error.message : String(error);
  const given = (wanted: Content) =>
    [...contents].filter(([, content]) => content === wanted).map(([write]) => write.given);
  const isUndone = given("new").length + given("unknown").length === 0;
  const states = [
    ["With the new content", given("new")],
    ["With the old content", given("old")],
    ["With the old or the new content, they could not be read again", given("unknown")],
    ["Changed by somebody else meanwhile", given("foreign")],
  ] as const;
  const state =
    given("old").length === contents.size
      ? "Every file is as it was."
      : states.flatMap(([what, names]) => (names.length > 0 ? [`${what}: ${listed(names)}.`] : [])).join(" ");
  // Half of it is in place: nobody may take that for a failure after which to try again.
  const code: ToolsErrorCode = !isUndone ? "failed" : error instanceof ToolsError ? error.code : "unavailable";
  return new ToolsError(code, `Writing ${failed.given} failed: ${message.replace(/\.?$/, ".")} ${state}`, {
    cause: error,
  });
}

/** Names, as many as there is room for. */
function listed(names: readonly string[]): string {
  const room = new Room(names.length, 8 * 1024);
  const shown = names.filter((name) => room.take(name));
  const left = names.length - shown.length;
  return shown.join(", ") + (left > 0 ? ` and ${left} more` : "");
}
