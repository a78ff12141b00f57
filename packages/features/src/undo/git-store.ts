/** Keeps the states of a workspace in a repository: trees in a git directory of tau's own. */
import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { tolerate, unlessMissing } from "@tau/tools/platform";
import { areFewChanges, type ChangedEntries, toEntry, writeBlob, writeTree } from "./changed-entries.ts";
import { UndoError } from "./failure.ts";
import { type Change, type FileState, findLost, type MaybeState, type Skipped } from "./file-state.ts";
import { changedWhileRead, findChanges, type FindOptions, type FoundChanges } from "./find-changes.ts";
import type { WorkspaceRepository } from "./find-repository.ts";
import { GitDirectory } from "./git-directory.ts";
import { maxSnapshotBytes } from "./keeping-rules.ts";
import { hash, readJson, removeOwn, writeJson } from "./own-files.ts";
import type { KeptState, SnapshotStore, StoreOptions } from "./snapshot-store.ts";
import { getStamp, readState } from "./workspace-files.ts";

interface GitSnapshot {
  readonly tree: string;
  /** Files that differ from the tree. Missing: none. */
  readonly changed?: ChangedEntries;
  /** Directories without anything in them. */
  readonly directories: readonly string[];
  /** Permissions of files that differ from those that git gives them. */
  readonly modes: Readonly<Record<string, number>>;
  readonly skipped: readonly Skipped[];
}

/** The last state. Its tree is that of the index, as long as the index is as it was then. A lost one costs only time. */
interface Head {
  readonly id: string;
  readonly snapshot: GitSnapshot;
  readonly index: string;
}

export class GitStore implements SnapshotStore {
  readonly kind = "git";
  readonly #options: StoreOptions;
  readonly #repository: WorkspaceRepository;
  readonly #git: GitDirectory;
  #prepared: Promise<void> | undefined;

  constructor(options: StoreOptions, repository: WorkspaceRepository) {
    this.#options = options;
    this.#repository = repository;
    this.#git = new GitDirectory(options, repository);
  }

  async keep(signal?: AbortSignal): Promise<KeptState> {
    await this.#prepare();
    const head = parseHead(await readJson(this.#headPath));
    const { root, maxFileBytes } = this.#options;
    const alsoPaths = Object.keys(head?.snapshot.changed ?? {});
    const found = await this.#find({ root, maxFileBytes, signal, alsoPaths });
    const isAtHead = head !== undefined && head.index === (await this.#readIndexStamp());
    const { snapshot, newBytes } =
      isAtHead && areFewChanges(found)
        ? await this.#keepBeside(head.snapshot, found)
        : await this.#keepInIndex(head?.snapshot, found, signal);
    return { id: await this.#write(snapshot, head), newBytes };
  }

  /** Leaves the index as it is: writing it, and trees, costs more than looking at all files. */
  async #keepBeside(last: GitSnapshot, found: FoundChanges) {
    const { root, maxFileBytes } = this.#options;
    const identify = this.identify.bind(this);
    const changed: Record<string, ChangedEntries[string]> = {};
    const unsteady: Skipped[] = [];
    let newBytes = 0;
    for (const path of found.removed) changed[path] = null;
    for (const { path, stamp } of found.added) {
      const { state, bytes } = await readState(root, path, { maxBytes: maxFileBytes, identify });
      const entry = toEntry(state);
      const isKept = entry === null || bytes !== undefined;
      if (!isKept) unsteady.push({ path, reason: changedWhileRead, stamp });
      changed[path] = isKept ? entry : (last.changed?.[path] ?? null);
      if (entry && bytes && (await writeBlob(this.#git, entry[1], bytes))) newBytes += bytes.length;
    }
    const snapshot: GitSnapshot = {
      tree: last.tree,
      ...(Object.keys(changed).length > 0 && { changed: sortKeys(changed) }),
      directories: found.directories,
      modes: updateModes(last.modes, found),
      skipped: [...found.skipped, ...unsteady],
    };
    return { snapshot, newBytes };
  }

  async #keepInIndex(last: GitSnapshot | undefined, first: FoundChanges, signal: AbortSignal | undefined) {
    const { root, maxFileBytes } = this.#options;
    let modes = last?.modes ?? {};
    const unsteady: Skipped[] = [];
    let newBytes = 0;
    let found = first;
    for (;;) {
      newBytes += found.newBytes;
      if (newBytes > maxSnapshotBytes)
        throw new UndoError(`more than ${maxSnapshotBytes / 1024 / 1024} MB of files are new or changed`);
      const { added, removed } = found;
      if (removed.length > 0)
        await this.#git.git(["update-index", "-z", "--force-remove", "--stdin"], { signal, input: joinNul(removed) });
      if (added.length > 0) {
        const paths = added.map(({ path }) => path);
        await this.#git.git(["update-index", "-z", "--add", "--replace", "--stdin"], { signal, input: joinNul(paths) });
        unsteady.push(...(await found.findUnsteady()));
      }
      modes = updateModes(modes, found);
      if (!found.hasReplaced) break;
      found = await this.#find({ root, maxFileBytes, signal });
    }
    const tree = (await this.#git.git(["write-tree", "--missing-ok"], { signal })).toString().trim();
    const skipped = [...found.skipped, ...unsteady];
    return { snapshot: { tree, directories: found.directories, modes, skipped }, newBytes };
  }

  async compare(from: string, to: string) {
    await this.#prepare();
    const [before, after] = [await this.#load(from), await this.#load(to)];
    const files = before.tree === after.tree ? [] : await this.#diff(before, after);
    const directories: Change[] = [
      ...before.directories.filter((path) => !after.directories.includes(path)).map((path) => [path, true] as const),
      ...after.directories.filter((path) => !before.directories.includes(path)).map((path) => [path, false] as const),
    ].map(([path, isBefore]) => {
      const known = files.find((change) => change.path === path);
      const empty: FileState = { kind: "directory" };
      return isBefore ? { path, before: empty, after: known?.after } : { path, before: known?.before, after: empty };
    });
    const replaced = new Set(directories.map(({ path }) => path));
    const skipped = [...before.skipped, ...after.skipped];
    const isSkipped = (path: string) => skipped.some((each) => path === each.path || path.startsWith(`${each.path}/`));
    return {
      changes: [...files.filter(({ path }) => !replaced.has(path)), ...directories].filter(
        ({ path }) => !isSkipped(path),
      ),
      lost: findLost(before.skipped, after.skipped),
    };
  }

  identify(bytes: Uint8Array): string {
    return createHash(this.#repository.objectFormat).update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
  }

  async put(bytes: Uint8Array): Promise<string> {
    await this.#prepare();
    const id = this.identify(bytes);
    await writeBlob(this.#git, id, bytes);
    return id;
  }

  async read(ids: readonly string[]): Promise<Map<string, Buffer>> {
    const contents = new Map<string, Buffer>();
    if (ids.length === 0) return contents;
    await this.#prepare();
    const output = await this.#git.git(["cat-file", "--batch"], { input: `${ids.join("\n")}\n` });
    for (let position = 0; position < output.length;) {
      const lineEnd = output.indexOf("\n", position);
      const [id = "", type, size] = output.toString("utf8", position, lineEnd).split(" ");
      position = lineEnd + 1;
      if (size === undefined) continue;
      const bytes = output.subarray(position, position + Number(size));
      position += bytes.length + 1;
      if (type === "blob" && this.identify(bytes) === id) contents.set(id, bytes);
    }
    return contents;
  }

  async findMissing(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    await this.#prepare();
    const output = await this.#git.git(["cat-file", "--batch-check"], { input: `${ids.join("\n")}\n` });
    const lines = output.toString("utf8").split("\n").filter(Boolean);
    return ids.filter((_, index) => !/^\w+ blob \d+$/.test(lines[index] ?? ""));
  }

  async prune(snapshots: readonly string[]): Promise<void> {
    await this.#prepare();
    const live = new Set(snapshots);
    const refs = join(this.#git.path, "refs/kept");
    await mkdir(refs, { recursive: true });
    for (const name of (await tolerate(readdir(refs), "ENOENT")) ?? [])
      if (!live.has(name)) await removeOwn(join(refs, name));
    for (const name of (await tolerate(readdir(this.#snapshots), "ENOENT")) ?? [])
      if (!live.has(name.replace(/\.json$/, ""))) await removeOwn(join(this.#snapshots, name));
    for (const id of live) {
      const snapshot = await this.#read(id);
      if (snapshot) await writeFile(join(refs, id), `${snapshot.tree}\n`);
    }
    await removeOwn(join(refs, "draft"));
    await removeOwn(this.#headPath);
    await this.#git.git(["prune", "--expire=now"]);
  }

  async clear(): Promise<void> {
    // It needs what is in it.
    await removeOwn(this.#git.index);
    await this.prune([]);
    this.#prepared = undefined;
  }

  async getBytes(): Promise<number> {
    await this.#prepare();
    const output = (await this.#git.git(["count-objects", "-v"])).toString("utf8");
    const kilobytes = [...output.matchAll(/^size(?:-pack)?: (\d+)$/gm)].map(([, size]) => Number(size));
    return kilobytes.reduce((sum, size) => sum + size, 0) * 1024;
  }

  async #find(options: FindOptions): Promise<FoundChanges> {
    try {
      return await findChanges(this.#git, options);
    } catch (error) {
      if (!(error instanceof UndoError) || !(await this.#git.dropBorrowed())) throw error;
      return await findChanges(this.#git, options);
    }
  }

  /** A failure is tried again: the next time the disk may have room. */
  #prepare(): Promise<void> {
    this.#prepared ??= this.#git.prepare().catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  get #snapshots(): string {
    return join(this.#options.directory, "snapshots");
  }

  get #headPath(): string {
    return join(this.#options.directory, "head.json");
  }

  #toPath(id: string): string {
    return join(this.#snapshots, `${id}.json`);
  }

  async #load(id: string): Promise<GitSnapshot> {
    const snapshot = await this.#read(id);
    if (!snapshot) throw new UndoError("what was kept of it is gone");
    return snapshot;
  }

  /** Reads a state with everything in its tree, which is written when it is first needed. */
  async #read(id: string): Promise<GitSnapshot | undefined> {
    const snapshot = parseSnapshot(await readJson(this.#toPath(id)));
    if (!snapshot?.changed) return snapshot;
    const { changed, ...others } = snapshot;
    const whole = { ...others, tree: await writeTree(this.#git, snapshot.tree, changed) };
    await writeJson(this.#toPath(id), whole);
    return whole;
  }

  async #write(snapshot: GitSnapshot, last: Head | undefined): Promise<string> {
    const id = hash(JSON.stringify(snapshot)).slice(0, 32);
    const index = await this.#readIndexStamp();
    const isThere = id === last?.id && (await unlessMissing(lstat(this.#toPath(id)))) !== undefined;
    if (!isThere) await writeJson(this.#toPath(id), snapshot);
    if (!isThere || index !== last.index)
      await writeJson(this.#headPath, { id, snapshot, index } satisfies Head, { syncs: false });
    return id;
  }

  async #readIndexStamp(): Promise<string> {
    const stats = await unlessMissing(lstat(this.#git.index));
    return stats ? getStamp(stats) : "missing";
  }

  async #diff(before: GitSnapshot, after: GitSnapshot): Promise<Change[]> {
    const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--relative"];
    const output = await this.#git.git([...args, before.tree, after.tree]);
    const fields = output.toString("utf8").split("\0");
    const changes: Change[] = [];
    for (let index = 0; index + 1 < fields.length; index += 2) {
      const [oldMode = "", newMode = "", oldId = "", newId = ""] = fields[index]!.slice(1).split(" ");
      const path = fields[index + 1]!;
      // Repositories inside are not kept.
      if (oldMode === "160000" || newMode === "160000") continue;
      changes.push({
        path,
        before: toState(oldMode, oldId, before.modes[path]),
        after: toState(newMode, newId, after.modes[path]),
      });
    }
    return changes;
  }
}

function toState(gitMode: string, id: string, mode: number | undefined): MaybeState {
  if (gitMode === "000000") return undefined;
  if (gitMode === "120000") return { kind: "link", id };
  return { kind: "file", id, isExecutable: gitMode === "100755", ...(mode !== undefined && { mode }) };
}

const joinNul = (paths: readonly string[]): string => paths.map((path) => `${path}\0`).join("");

/** The permissions of files, with those of what was found. */
function updateModes(last: GitSnapshot["modes"], { added, removed }: FoundChanges): GitSnapshot["modes"] {
  const modes = { ...last };
  for (const path of removed) delete modes[path];
  for (const { path, mode } of added) {
    delete modes[path];
    if (mode !== 0o644 && mode !== 0o755) modes[path] = mode;
  }
  return sortKeys(modes);
}

/** Equal states are equal as texts. */
const sortKeys = <Value>(record: Readonly<Record<string, Value>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));

const parseSnapshot = (value: unknown): GitSnapshot | undefined =>
  isRecord(value) && typeof value["tree"] === "string" && Array.isArray(value["directories"])
    ? (value as unknown as GitSnapshot)
    : undefined;

const parseHead = (value: unknown): Head | undefined =>
  isRecord(value) && typeof value["index"] === "string" && parseSnapshot(value["snapshot"])
    ? (value as unknown as Head)
    : undefined;
