/** What both hashline tools do with files: prepare all, then write all, and take back all if one write fails. */
import { ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import { type EditorPorts, type FileQueue, unlessOvertaken } from "../files/file-queue.ts";
import { applyHunks, type Hunk, refuseOverlaps } from "./apply.ts";
import { type LineEdit, planEdits } from "./plan.ts";
import { renderChanges, renderSpots } from "./show.ts";
import type { Snapshots } from "./snapshots.ts";
import { decodeText, encodeText, type TextFile } from "./text.ts";
import { hashText } from "./tags.ts";
import { unifiedDiff } from "./unified.ts";
import { xxHash32 } from "./xxhash32.ts";

export interface HashlineGround extends EditorPorts {
  snapshots: Snapshots;
}

export interface FileEdits {
  /** As the model spelled it. */
  given: string;
  /** The absolute path. */
  path: string;
  realPath: string;
  edits: LineEdit[];
  fileTag?: string;
}

export interface HashlineChange {
  path: string;
  /** A unified diff. */
  diff: string;
  /** 1-based, in the new text; undefined when nothing changed. */
  firstChangedLine: number | undefined;
  /** How edits were placed although the file had changed. */
  recoveries: string[];
}

/** The largest file that is edited, or shown with tags: both need all of it. */
export const mostHashlineBytes = 64 * 1024 ** 2;

interface Prepared extends FileEdits {
  original: Buffer;
  stamp: string;
  before: TextFile;
  after: TextFile;
  /** What is written. */
  bytes: Buffer;
  hunks: Hunk[];
  notes: string[];
}

/** Returns what the model reads, and what happened to each file. Nothing is written unless every edit can be placed. */
export async function editFiles(
  ground: HashlineGround,
  targets: readonly FileEdits[],
  signal?: AbortSignal,
): Promise<{ text: string; changes: HashlineChange[] }> {
  return await inOrder(ground.queue, targets.map(({ realPath }) => realPath).sort(), async () => {
    const prepared = await unlessOvertaken(async () => {
      const ready = await prepareAll(ground, targets);
      signal?.throwIfAborted();
      const changed = ready.filter(({ before, after }) => before.text !== after.text);
      await writeAll(ground.files, changed);
      return ready;
    });
    const shown = prepared.map((one) => present(ground.snapshots, one));
    return { text: shown.map(({ text }) => text).join("\n\n"), changes: shown.map(({ change }) => change) };
  });
}

async function prepareAll(ground: HashlineGround, targets: readonly FileEdits[]): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  const refusals: ToolsError[] = [];
  for (const target of targets) {
    const outcome = await prepare(ground, target);
    if (outcome instanceof ToolsError) refusals.push(outcome);
    else prepared.push(outcome);
  }
  const [refusal] = refusals;
  if (refusal) throw new ToolsError(refusal.code, refusals.map(({ message }) => message).join("\n\n"));
  return prepared;
}

/** Always in the same order of paths, so that two calls never wait for each other. */
async function inOrder<T>(queue: FileQueue, keys: readonly string[], work: () => Promise<T>): Promise<T> {
  const [key, ...rest] = keys;
  return key === undefined ? await work() : await queue.run(key, () => inOrder(queue, rest, work));
}

async function prepare({ files, snapshots }: HashlineGround, target: FileEdits): Promise<Prepared | ToolsError> {
  const { given, realPath, edits, fileTag } = target;
  const { bytes: original, stamp } = await files.readWhole(realPath, mostHashlineBytes);
  const before = decodeText(original, given);
  const versions = snapshots.versions(realPath);
  const plan = planEdits({ edits, current: before, versions, ...(fileTag !== undefined && { fileTag }) });
  if (plan.kind === "refused") {
    const rows = renderSpots(snapshots, { given, realPath, file: before, spots: plan.spots });
    const text = `Nothing was changed in ${given}. ${plan.reasons.join(" ")}\nThe lines as they are now; use these tags:\n${rows}`;
    return new ToolsError(plan.code, text);
  }
  refuseOverlaps(plan.hunks, given);
  const after = applyHunks(before, plan.hunks);
  return { ...target, original, stamp, before, after, bytes: encodeText(after), hunks: plan.hunks, notes: plan.notes };
}

async function writeAll(files: Files, prepared: readonly Prepared[]): Promise<void> {
  const begun: Prepared[] = [];
  try {
    for (const one of prepared) {
      begun.push(one);
      await files.writeWhole(one.realPath, one.bytes, { ifUnchanged: one.stamp });
    }
  } catch (error) {
    const lost = await restore(files, begun);
    const state =
      lost.length === 0 ? "Every file is as it was" : `These could not be restored, look at them: ${lost.join(", ")}`;
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof ToolsError ? error.code : "unavailable";
    throw new ToolsError(code, `Writing ${begun.at(-1)!.given} failed: ${message} ${state}.`, { cause: error });
  }
}

/** The failed file too: its new content may be in place already. Returns what could not be restored. */
async function restore(files: Files, begun: readonly Prepared[]): Promise<string[]> {
  const lost: string[] = [];
  for (const { realPath: path, given, original, bytes: written } of begun.toReversed()) {
    try {
      const { bytes } = await files.readWhole(path, mostHashlineBytes);
      // What is neither the old content nor ours was written by somebody else, and is theirs.
      if (bytes.equals(written)) await files.writeWhole(path, original);
    } catch {
      // The first failure is what is thrown; here only what it leaves behind is collected.
      lost.push(given);
    }
  }
  return lost;
}

function present(snapshots: Snapshots, one: Prepared): { text: string; change: HashlineChange } {
  const { given, path, realPath, before, after, bytes, hunks, notes } = one;
  const isChanged = before.text !== after.text;
  const first = hunks[0];
  const change: HashlineChange = {
    path,
    diff: isChanged ? unifiedDiff(given, before, hunks) : "",
    firstChangedLine: isChanged && first ? first.start + 1 : undefined,
    recoveries: notes,
  };
  if (!isChanged) return { text: [`Nothing to change in ${given}: it is already so.`, ...notes].join("\n"), change };
  // Mostly the bytes that were written are those that the tag is made of.
  const hash = after.raw === after.text && !after.hasMark ? xxHash32(bytes) : hashText(after.text);
  snapshots.edited(realPath, before.text, after.text, hunks, hash);
  const rows = renderChanges(snapshots, { given, realPath, file: after, hunks });
  return { text: [`Edited ${given}.`, ...notes, rows].join("\n"), change };
}
