/** The steps of a change of several files, and how each is taken back. */
import { createHash } from "node:crypto";
import { ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import { missingStamp } from "../platform/replace.ts";

/** Distinguishes one content of a file from all others. */
interface ContentMark {
  size: number;
  sha256: string;
}

/** Paths are real paths. */
export type Step =
  /** `before` is undefined where there was no file. */
  | { kind: "write"; path: string; before: Buffer | undefined; after: ContentMark }
  | { kind: "remove"; path: string; before: Buffer; mode: number }
  | { kind: "move"; path: string; to: string; content: ContentMark };

/** The state of a file after a failure. `foreign` is neither the old state nor ours: another process changed it. */
export type State = "old" | "new" | "foreign" | "unknown";

export const markContent = (bytes: Uint8Array): ContentMark => ({
  size: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
});

/** Takes back a step where it was done. `unread` is the result for a file that cannot be read. */
export async function undoStep(files: Files, step: Step, unread: State): Promise<State> {
  const { state, stamp } = await look(files, step, unread);
  if (state !== "new" || stamp === undefined) return state;
  try {
    await takeBack(files, step, stamp);
    return "old";
  } catch {
    // The first failure is what the caller reports. This one may have come after the file was changed.
    return (await look(files, step, "unknown")).state;
  }
}

/** With the real path only: a link that was put there since would lead elsewhere. */
async function takeBack(files: Files, step: Step, stamp: string): Promise<unknown> {
  const options = { ifUnchanged: stamp, isReal: true };
  switch (step.kind) {
    case "write":
      return step.before
        ? await files.writeWhole(step.path, step.before, options)
        : await files.remove(step.path, options);
    case "remove":
      return await files.writeWhole(step.path, step.before, { ...options, mode: step.mode });
    case "move":
      // Both names are there if it was cut off between the two.
      return (await files.stat(step.path))
        ? await files.remove(step.to, options)
        : await files.move(step.to, step.path, options);
  }
}

async function look(files: Files, step: Step, unread: State): Promise<{ state: State; stamp?: string }> {
  try {
    return await compare(files, step);
  } catch (error) {
    return { state: error instanceof ToolsError && error.code === "too_large" ? "foreign" : unread };
  }
}

async function compare(files: Files, step: Step): Promise<{ state: State; stamp?: string }> {
  switch (step.kind) {
    case "write": {
      const { before, after } = step;
      const now = await readIfThere(files, step.path, Math.max(before?.length ?? 0, after.size));
      if (!now) return { state: before ? "foreign" : "old" };
      if (holds(now.bytes, after)) return { state: "new", stamp: now.stamp };
      return { state: before && now.bytes.equals(before) ? "old" : "foreign" };
    }
    case "remove": {
      const now = await readIfThere(files, step.path, step.before.length);
      if (!now) return { state: "new", stamp: missingStamp };
      return { state: now.bytes.equals(step.before) ? "old" : "foreign" };
    }
    case "move": {
      const [from, to] = [await files.stat(step.path), await files.stat(step.to)];
      if (!to) return { state: from ? "old" : "foreign" };
      if (from && (from.ino !== to.ino || from.dev !== to.dev)) return { state: "foreign" };
      const now = await readIfThere(files, step.to, step.content.size);
      return now && holds(now.bytes, step.content) ? { state: "new", stamp: now.stamp } : { state: "foreign" };
    }
  }
}

const holds = (bytes: Buffer, mark: ContentMark): boolean =>
  bytes.length === mark.size && markContent(bytes).sha256 === mark.sha256;

async function readIfThere(files: Files, path: string, maxBytes: number) {
  try {
    return await files.readWhole(path, maxBytes);
  } catch (error) {
    if (error instanceof ToolsError && error.code === "not_found") return undefined;
    throw error;
  }
}
