/** Files that differ from the tree of the index, kept without writing an index and trees: blobs beside a list of their ids. */
import { access, mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { constants, deflate } from "node:zlib";
import { systemIds } from "@tau/ai";
import { tolerate } from "@tau/tools/platform";
import { UndoError } from "./failure.ts";
import type { MaybeState } from "./file-state.ts";
import type { FoundChanges } from "./find-changes.ts";
import type { GitDirectory } from "./git-directory.ts";

type GitMode = "100644" | "100755" | "120000";

/** By path, sorted. Null: not there. */
export type ChangedEntries = Readonly<Record<string, readonly [mode: GitMode, id: string] | null>>;

/** All of it is read again for each state, as long as the index is not written. */
const maxEntries = 100;
const maxEntryBytes = 1024 * 1024;

/** Whether it is not worth it yet to write the index. */
export const areFewChanges = ({ added, removed, newBytes, ...found }: FoundChanges): boolean =>
  !found.hasReplaced &&
  !found.hasNewDirectories &&
  added.length + removed.length <= maxEntries &&
  newBytes <= maxEntryBytes;

export function toEntry(state: MaybeState): readonly [GitMode, string] | null {
  if (state?.kind === "link") return ["120000", state.id];
  return state?.kind === "file" ? [state.isExecutable ? "100755" : "100644", state.id] : null;
}

const compress = promisify(deflate);

/** Writes a blob as git does: the fastest way is not to start it. */
export async function writeBlob(git: GitDirectory, id: string, bytes: Uint8Array): Promise<boolean> {
  const path = join(git.path, "objects", id.slice(0, 2), id.slice(2));
  const isThere = await tolerate(
    access(path).then(() => true),
    "ENOENT",
    "ENOTDIR",
  );
  if (isThere) return false;
  const content = Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]);
  await tolerate(mkdir(dirname(path), { mode: 0o700 }), "EEXIST");
  // Git removes such files that a killed process leaves. In a container, the next process may have the same number.
  const draft = join(dirname(path), `tmp_obj_${systemIds()}`);
  await writeFile(draft, await compress(content, { level: constants.Z_BEST_SPEED }), { mode: 0o400 });
  await rename(draft, path);
  return true;
}

/** Writes the tree that a tree and changed entries make, and resolves with its id. */
export async function writeTree(git: GitDirectory, tree: string, changed: ChangedEntries): Promise<string> {
  const changes = Object.entries(changed).toSorted(([, a], [, b]) => Number(a !== null) - Number(b !== null));
  const lines = [
    "commit refs/kept/draft",
    "committer tau <> 0 +0000",
    "data 0",
    `M 040000 ${tree} ""`,
    // What is in the place of a new file goes first.
    ...changes.map(([path, entry]) => (entry ? `M ${entry[0]} ${entry[1]} ${quote(path)}` : `D ${quote(path)}`)),
    'ls ""',
    "",
  ];
  const output = await git.git(["fast-import", "--quiet", "--force"], { input: lines.join("\n") });
  const id = /^040000 tree ([0-9a-f]+)\t/.exec(output.toString("utf8"))?.[1];
  if (id === undefined) throw new UndoError("git fast-import answered with no tree");
  return id;
}

const quote = (path: string): string =>
  `"${path
    .replaceAll("\\", "\\\\")
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`)}"`;
