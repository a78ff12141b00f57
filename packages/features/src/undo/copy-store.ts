/** Keeps the states of a workspace without a repository: copies of its files, each content once. */
import { type Dirent, lstatSync } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { systemIds } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { writeWhole } from "@tau/tools/durable";
import { isWithin, nodeFileSystem, tolerate, unlessMissing } from "@tau/tools/platform";
import { UndoError } from "./failure.ts";
import { type Change, type FileState, findLost, isSameState, type Skipped } from "./file-state.ts";
import { decideKeeping, maxCopiedFiles, maxSnapshotBytes, skippedDirectories } from "./keeping-rules.ts";
import { hash, readJson, removeOwn, writeJson } from "./own-files.ts";
import type { KeptState, SnapshotStore, StoreOptions } from "./snapshot-store.ts";
import { getStamp, readState } from "./workspace-files.ts";

interface CopySnapshot {
  readonly files: Readonly<Record<string, FileState>>;
  readonly skipped: readonly Skipped[];
}

/** The last snapshot, with the stamps by which files that did not change are known. */
interface Head extends CopySnapshot {
  readonly stamps: Readonly<Record<string, string>>;
}

export class CopyStore implements SnapshotStore {
  readonly kind = "copies";
  readonly #options: StoreOptions;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  async keep(signal?: AbortSignal): Promise<KeptState> {
    const { root, maxFileBytes } = this.#options;
    const head = parseHead(await readJson(this.#headPath));
    const files: Record<string, FileState> = Object.create(null) as Record<string, FileState>;
    const stamps: Record<string, string> = Object.create(null) as Record<string, string>;
    const skipped: Skipped[] = [];
    let newBytes = 0;
    for await (const { path, stamp, size } of this.#walk(skipped, signal)) {
      const known = head && Object.hasOwn(head.stamps, path) && head.stamps[path] === stamp;
      if (known) files[path] = head.files[path]!;
      else {
        newBytes += size;
        if (newBytes > maxSnapshotBytes)
          throw new UndoError(`more than ${maxSnapshotBytes / 1024 / 1024} MB of files are new or changed`);
        const { state, bytes } = await readState(root, path, { maxBytes: maxFileBytes, identify: this.identify });
        if (!state) continue;
        if (state.kind === "file" && !bytes) {
          skipped.push({ path, reason: "it was changed while it was read", stamp });
          continue;
        }
        if (bytes) await this.put(bytes);
        files[path] = state;
      }
      stamps[path] = stamp;
    }
    const snapshot: CopySnapshot = { files, skipped };
    const id = hash(JSON.stringify(snapshot)).slice(0, 32);
    await writeJson(this.#toPath(id), snapshot);
    await writeJson(this.#headPath, { ...snapshot, stamps });
    return { id, newBytes };
  }

  async compare(from: string, to: string) {
    const [before, after] = [await this.#load(from), await this.#load(to)];
    const skipped = new Set([...before.skipped, ...after.skipped].map(({ path }) => path));
    const paths = [...new Set([...Object.keys(before.files), ...Object.keys(after.files)])];
    const get = ({ files }: CopySnapshot, path: string) => (Object.hasOwn(files, path) ? files[path] : undefined);
    const changes = paths
      .map((path): Change => ({ path, before: get(before, path), after: get(after, path) }))
      .filter((change) => !skipped.has(change.path) && !isSameState(change.before, change.after));
    return { changes, lost: findLost(before.skipped, after.skipped) };
  }

  readonly identify = (bytes: Uint8Array): string => hash(bytes);

  async put(bytes: Uint8Array): Promise<string> {
    const id = this.identify(bytes);
    const path = this.#toCopy(id);
    if ((await unlessMissing(lstat(path)))?.size !== bytes.length)
      await writeWhole(nodeFileSystem, { path, bytes, ids: systemIds, syncs: false });
    return id;
  }

  async read(ids: readonly string[]): Promise<Map<string, Buffer>> {
    const contents = new Map<string, Buffer>();
    for (const id of ids) {
      const bytes = await unlessMissing(readFile(this.#toCopy(id)));
      if (bytes && this.identify(bytes) === id) contents.set(id, bytes);
    }
    return contents;
  }

  async findMissing(ids: readonly string[]): Promise<string[]> {
    const missing: string[] = [];
    for (const id of ids) if (!(await unlessMissing(lstat(this.#toCopy(id))))) missing.push(id);
    return missing;
  }

  async prune(snapshots: readonly string[]): Promise<void> {
    const live = new Set(snapshots);
    const needed = new Set<string>();
    for (const id of live) {
      const snapshot = parseSnapshot(await readJson(this.#toPath(id)));
      for (const state of Object.values(snapshot?.files ?? {})) if (state.kind !== "directory") needed.add(state.id);
    }
    // Files that were copied before are not copied again: without it they would be missing.
    await removeOwn(this.#headPath);
    for (const name of (await tolerate(readdir(this.#snapshots), "ENOENT")) ?? [])
      if (!live.has(name.replace(/\.json$/, ""))) await removeOwn(join(this.#snapshots, name));
    for (const part of (await tolerate(readdir(this.#copies), "ENOENT")) ?? [])
      for (const name of await readdir(join(this.#copies, part)))
        if (!needed.has(name)) await removeOwn(join(this.#copies, part, name));
  }

  clear(): Promise<void> {
    return this.prune([]);
  }

  async getBytes(): Promise<number> {
    let bytes = 0;
    for (const part of (await tolerate(readdir(this.#copies), "ENOENT")) ?? [])
      for (const name of await readdir(join(this.#copies, part)))
        bytes += (await unlessMissing(lstat(join(this.#copies, part, name))))?.size ?? 0;
    return bytes;
  }

  /** Files, links and empty directories that may be kept. */
  async *#walk(skipped: Skipped[], signal: AbortSignal | undefined) {
    const { root, agentDir, maxFileBytes } = this.#options;
    const pending = [""];
    let count = 0;
    for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
      if (signal?.aborted) throw new UndoError("it took too long");
      const entries = await this.#list(directory, skipped);
      if (!entries) continue;
      if (entries.length === 0 && directory !== "") yield { path: directory, stamp: "directory", size: 0 };
      for (const entry of entries) {
        const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
        const full = join(root, path);
        if (++count > maxCopiedFiles)
          throw new UndoError(`the directory has more than ${maxCopiedFiles} files, and is in no git repository`);
        if (entry.name.includes("\uFFFD")) skipped.push({ path, reason: "its name is not UTF-8", stamp: "" });
        else if (entry.isDirectory()) {
          if (skippedDirectories.has(entry.name))
            skipped.push({ path, reason: "it is left out by its name", stamp: "" });
          else if (!isWithin(agentDir, full)) pending.push(path);
        } else {
          const stats = lstatSync(full, { throwIfNoEntry: false });
          if (!stats) continue;
          const decision = decideKeeping(stats, maxFileBytes);
          const stamp = getStamp(stats);
          if ("reason" in decision) skipped.push({ path, reason: decision.reason, stamp });
          else yield { path, stamp, size: stats.size };
        }
      }
    }
  }

  async #list(directory: string, skipped: Skipped[]): Promise<Dirent[] | undefined> {
    const path = join(this.#options.root, directory);
    const entries = await tolerate(readdir(path, { withFileTypes: true }), "EACCES", "EPERM", "ENOENT", "ENOTDIR");
    if (!entries) skipped.push({ path: relative(this.#options.root, path), reason: "it cannot be read", stamp: "" });
    return entries;
  }

  get #snapshots(): string {
    return join(this.#options.directory, "snapshots");
  }

  get #copies(): string {
    return join(this.#options.directory, "copies");
  }

  get #headPath(): string {
    return join(this.#options.directory, "head.json");
  }

  #toPath(id: string): string {
    return join(this.#snapshots, `${id}.json`);
  }

  #toCopy(id: string): string {
    return join(this.#copies, id.slice(0, 2), id);
  }

  async #load(id: string): Promise<CopySnapshot> {
    const snapshot = parseSnapshot(await readJson(this.#toPath(id)));
    if (!snapshot) throw new UndoError("what was kept of it is gone");
    return snapshot;
  }
}

const parseSnapshot = (value: unknown): CopySnapshot | undefined =>
  isRecord(value) && isRecord(value["files"]) && Array.isArray(value["skipped"])
    ? (value as unknown as CopySnapshot)
    : undefined;

const parseHead = (value: unknown): Head | undefined =>
  parseSnapshot(value) && isRecord((value as Partial<Head>).stamps) ? (value as Head) : undefined;
