/** Keeps the states of a workspace in a repository: trees in a git directory of tau's own. */
import { createHash } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { tolerate } from "@tau/tools/platform";
import { UndoError } from "./failure.ts";
import { type Change, type FileState, findLost, type MaybeState, type Skipped } from "./file-state.ts";
import { findChanges, type FindOptions, type FoundChanges } from "./find-changes.ts";
import type { WorkspaceRepository } from "./find-repository.ts";
import { GitDirectory } from "./git-directory.ts";
import { maxSnapshotBytes } from "./keeping-rules.ts";
import { hash, readJson, removeOwn, writeJson } from "./own-files.ts";
import type { KeptState, SnapshotStore, StoreOptions } from "./snapshot-store.ts";

interface GitSnapshot {
  readonly tree: string;
  /** Directories without anything in them. */
  readonly directories: readonly string[];
  /** Permissions of files that differ from those that git gives them. */
  readonly modes: Readonly<Record<string, number>>;
  readonly skipped: readonly Skipped[];
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
    const last = parseSnapshot(await readJson(this.#headPath));
    const { root, maxFileBytes } = this.#options;
    const modes = { ...last?.modes };
    const unsteady: Skipped[] = [];
    let newBytes = 0;
    let isSame = last !== undefined;
    for (;;) {
      const found = await this.#find({ root, maxFileBytes, signal });
      const { added, removed, directories } = found;
      newBytes += found.newBytes;
      if (newBytes > maxSnapshotBytes)
        throw new UndoError(`more than ${maxSnapshotBytes / 1024 / 1024} MB of files are new or changed`);
      if (removed.length > 0)
        await this.#git.git(["update-index", "-z", "--force-remove", "--stdin"], { signal, input: joinNul(removed) });
      if (added.length > 0) {
        const paths = added.map(({ path }) => path);
        await this.#git.git(["update-index", "-z", "--add", "--replace", "--stdin"], { signal, input: joinNul(paths) });
        unsteady.push(...(await found.findUnsteady()));
      }
      for (const path of removed) delete modes[path];
      for (const { path, mode } of added) {
        delete modes[path];
        if (mode !== 0o644 && mode !== 0o755) modes[path] = mode;
      }
      isSame &&= added.length === 0 && removed.length === 0;
      if (found.hasReplaced) continue;
      const tree =
        isSame && last
          ? last.tree
          : (await this.#git.git(["write-tree", "--missing-ok"], { signal })).toString().trim();
      const skipped = [...found.skipped, ...unsteady];
      return { id: await this.#write({ tree, directories, modes, skipped }), newBytes };
    }
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
    return (await this.#git.git(["hash-object", "-w", "--no-filters", "--stdin"], { input: bytes })).toString().trim();
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
      const snapshot = parseSnapshot(await readJson(this.#toPath(id)));
      if (snapshot) await writeFile(join(refs, id), `${snapshot.tree}\n`);
    }
    await removeOwn(this.#headPath);
    await this.#git.git(["prune", "--expire=now"]);
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
    const snapshot = parseSnapshot(await readJson(this.#toPath(id)));
    if (!snapshot) throw new UndoError("what was kept of it is gone");
    return snapshot;
  }

  async #write(snapshot: GitSnapshot): Promise<string> {
    const id = hash(JSON.stringify(snapshot)).slice(0, 32);
    await writeJson(this.#toPath(id), snapshot);
    await writeJson(this.#headPath, snapshot);
    return id;
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

const parseSnapshot = (value: unknown): GitSnapshot | undefined =>
  isRecord(value) && typeof value["tree"] === "string" && Array.isArray(value["directories"])
    ? (value as unknown as GitSnapshot)
    : undefined;
