/**
 * Writes a plan into the workspace: all of it, or nothing. A journal says what was there before, so that a process that is killed
 * in between leaves a workspace that the next one brings back.
 */
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";
import { UndoError } from "./failure.ts";
import { isSameState, listParents, type MaybeState } from "./file-state.ts";
import { withDirectory } from "./held-directory.ts";
import { readJson, removeOwn, writeJson } from "./own-files.ts";
import { getContentId, listEmptied, listUsed, type PlannedChange } from "./plan-changes.ts";
import type { SnapshotStore } from "./snapshot-store.ts";
import {
  inParent,
  makeDirectoryAt,
  readState,
  removeDirectoryAt,
  removeFileAt,
  removeLeftoverAt,
  writeFileAt,
  writeLinkAt,
} from "./workspace-files.ts";

export interface ApplyPorts {
  readonly root: string;
  readonly store: Pick<SnapshotStore, "read" | "identify">;
  readonly journalPath: string;
  readonly maxFileBytes: number;
}

interface Journal {
  /** Names temporary files, and the change in the history of the session. */
  readonly id: string;
  readonly changes: readonly PlannedChange[];
  /** Directories that were missing, those above first. */
  readonly made: readonly string[];
}

const getTemporary = (id: string): string => `.tau-undo-${id}.tmp`;

/** `commit` notes that it is done: from then on it is not taken back. Throws `UndoError`; then nothing has changed. */
export async function applyChanges(ports: ApplyPorts, journal: Journal, commit: () => Promise<void>): Promise<void> {
  await refuseReadOnly(ports, journal.changes);
  await writeJson(ports.journalPath, journal);
  try {
    await writeAll(ports, journal);
    await commit();
  } catch (error) {
    const left = await takeBack(ports, journal);
    if (left.length === 0) await removeOwn(ports.journalPath);
    const rest =
      left.length === 0 ? "Nothing was changed." : `These could not be brought back yet: ${left.join(", ")}.`;
    throw new UndoError(`${getErrorMessage(error)} ${rest}`, { cause: error });
  }
  await removeOwn(ports.journalPath);
}

async function readJournal(path: string): Promise<Journal | undefined> {
  const value = await readJson(path);
  return isRecord(value) && typeof value["id"] === "string" && Array.isArray(value["changes"])
    ? (value as unknown as Journal)
    : undefined;
}

/** Brings back what a killed process left half done. Returns the paths that it could not bring back. */
export async function recover(
  ports: ApplyPorts,
  isCommitted: (journal: Journal) => Promise<boolean>,
): Promise<readonly string[]> {
  const journal = await readJournal(ports.journalPath);
  if (!journal) return [];
  const left = (await isCommitted(journal)) ? [] : await takeBack(ports, journal);
  if (left.length === 0) await removeOwn(ports.journalPath);
  return left;
}

/** Before anything is written: a disk that cannot be written to, or a directory. */
async function refuseReadOnly({ root }: ApplyPorts, changes: readonly PlannedChange[]): Promise<void> {
  const parents = new Set(changes.map(({ path }) => path.split("/").slice(0, -1).join("/")));
  for (const parent of parents) {
    await withDirectory(root, parent.split("/").filter(Boolean), async (directory) => {
      // One that is missing is made.
      if (!directory) return;
      try {
        await access(directory.path, constants.W_OK);
      } catch (error) {
        const code = systemCode(error);
        if (code === undefined) throw error;
        const reason = code === "EROFS" ? "the disk is read-only" : "writing is not allowed";
        const path = join(root, parent);
        throw new UndoError(`${path} cannot be changed: ${reason} (${code}). Nothing was changed.`, { cause: error });
      }
    });
  }
}

async function writeAll(ports: ApplyPorts, { id, changes, made }: Journal): Promise<void> {
  const { root } = ports;
  const used = listUsed(changes);
  // An empty directory that gets something stays.
  const isStaying = ({ path, from, to }: PlannedChange) => from?.kind === "directory" && !to && used.has(path);
  const removals = changes.filter(({ from, to }) => from !== undefined && (to === undefined || from.kind !== to.kind));
  // What is deepest first.
  for (const change of removals.toReversed()) if (!isStaying(change)) await removeOne(ports, change);
  for (const path of listEmptied(changes)) await removeDirectoryAt(root, path);
  for (const path of made) await makeDirectoryAt(root, path);
  for (const { path, to } of changes) if (to?.kind === "directory") await makeDirectoryAt(root, path);
  await writeContents(ports, id, changes);
}

async function removeOne(ports: ApplyPorts, { path, from }: PlannedChange): Promise<void> {
  if (from?.kind === "directory") return await removeDirectoryAt(ports.root, path);
  await mustBe(ports, path, from);
  await inParent(ports.root, path, async (parent, name) => {
    if (parent) await removeFileAt(parent, name);
  });
}

/** Contents are read in groups, so that a large plan does not fill the memory. */
const groupSize = 200;

async function writeContents(ports: ApplyPorts, id: string, changes: readonly PlannedChange[]): Promise<void> {
  const written = changes.filter(({ to }) => getContentId(to) !== undefined);
  for (let index = 0; index < written.length; index += groupSize) {
    const group = written.slice(index, index + groupSize);
    const contents = await ports.store.read([...new Set(group.map(({ to }) => getContentId(to)!))]);
    for (const change of group) {
      const bytes = contents.get(getContentId(change.to)!);
      if (!bytes) throw new UndoError(`The kept content of ${change.path} is missing or damaged.`);
      await writeOne(ports, change, { bytes, temporary: getTemporary(id) });
    }
  }
}

async function writeOne(
  ports: ApplyPorts,
  { path, from, to }: PlannedChange,
  { bytes, temporary }: { bytes: Buffer; temporary: string },
): Promise<void> {
  // What is of another kind was removed.
  await mustBe(ports, path, from?.kind === to?.kind ? from : undefined);
  await inParent(ports.root, path, async (parent, name) => {
    if (!parent) throw new UndoError(`${path} cannot be written: what is above it is no directory.`);
    if (to?.kind === "link") await writeLinkAt(parent, { name, temporary, target: bytes });
    else if (to?.kind === "file") {
      const { isExecutable } = to;
      await writeFileAt(parent, { name, temporary, bytes, isExecutable, mode: chooseMode(from, to) });
    }
  });
}

/** Its own, with the right to execute it as it was; undefined where none is known. */
function chooseMode(from: MaybeState, to: MaybeState & { kind: "file" }): number | undefined {
  const mode = from?.kind === "file" ? from.mode : to.mode;
  if (mode === undefined) return undefined;
  // The right to execute goes with the right to read.
  return to.isExecutable ? mode | 0o100 | ((mode & 0o044) >> 2) : mode & ~0o111;
}

async function mustBe(ports: ApplyPorts, path: string, expected: MaybeState): Promise<void> {
  if (isSameState(await look(ports, path), expected)) return;
  throw new UndoError(`${path} was changed meanwhile.`);
}

async function look({ root, store, maxFileBytes }: ApplyPorts, path: string): Promise<MaybeState> {
  const { state } = await readState(root, path, { maxBytes: maxFileBytes, identify: store.identify.bind(store) });
  return state;
}

/** Returns the paths that it could not bring back. What somebody else has changed meanwhile stays. */
async function takeBack(ports: ApplyPorts, { id, changes, made }: Journal): Promise<string[]> {
  const { root } = ports;
  const left: string[] = [];
  const tryTo = async (path: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      if (systemCode(error) === undefined && !(error instanceof UndoError)) throw error;
      left.push(path);
    }
  };
  const undone: PlannedChange[] = [];
  for (const { path, from, to } of changes) {
    await tryTo(path, async () => {
      await inParent(root, path, async (parent) => parent && (await removeLeftoverAt(parent, getTemporary(id))));
      const state = await look(ports, path);
      const isHalf = state === undefined && from !== undefined;
      if (!isSameState(state, from) && (isSameState(state, to) || isHalf)) undone.push({ path, from: state, to: from });
    });
  }
  for (const change of undone.toReversed())
    if (change.from && change.from.kind !== change.to?.kind) await tryTo(change.path, () => removeOne(ports, change));
  for (const path of made.toReversed()) await tryTo(path, () => removeDirectoryAt(root, path));
  for (const { path, to } of undone) {
    if (!to) continue;
    for (const parent of listParents(path).toReversed()) await tryTo(path, () => makeDirectoryAt(root, parent));
    if (to.kind === "directory") await tryTo(path, () => makeDirectoryAt(root, path));
  }
  const contents = undone.map(({ path, from, to }) => ({ path, from: from?.kind === to?.kind ? from : undefined, to }));
  for (const change of contents)
    if (getContentId(change.to) !== undefined) await tryTo(change.path, () => writeContents(ports, id, [change]));
  return [...new Set(left)];
}
