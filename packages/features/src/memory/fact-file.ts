/** The facts of a project: a Markdown file that people may edit, and its index. Each change is whole, and no other process disturbs it. */
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { mustBeRegular, orUndefined, readWhole, withFileLease, writeWhole } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";
import { type Change, changeLines, type FactChange } from "./change-facts.ts";
import { type Fact, parseLine } from "./fact.ts";
import { buildIndex, type FactIndex, openIndex } from "./fact-index.ts";

const factsFileName = "facts.md";
const indexFileName = "facts.index";

/** Larger files are not read: a person has put something else there. */
const maxBytes = 64 * 1024 * 1024;

export interface FoundFact {
  readonly fact: Fact;
  readonly score: number;
}

interface Loaded {
  /** Identifies the state of the file. */
  readonly mark: string;
  readonly index: FactIndex;
}

export class FactFile {
  readonly path: string;
  readonly #indexPath: string;
  #loaded: Loaded | undefined;

  constructor(directory: string) {
    this.path = join(directory, factsFileName);
    this.#indexPath = join(directory, indexFileName);
  }

  /** Returns the best first. */
  async search(query: string, limit: number): Promise<FoundFact[]> {
    return await this.#withFile((index, readFact) =>
      index.search(query, limit).flatMap(({ score, start, end }) => {
        const fact = readFact(start, end);
        return fact ? [{ fact, score }] : [];
      }),
    );
  }

  /** Returns the newest first. */
  async listNewest(limit: number): Promise<Fact[]> {
    return await this.#withFile((index, readFact) =>
      index.listNewest(limit).flatMap(({ start, end }) => readFact(start, end) ?? []),
    );
  }

  /** Lists all, the oldest first. */
  async list(): Promise<Fact[]> {
    return (await this.listNewest(Infinity)).toReversed();
  }

  /** Makes a change with the file as it is then. What it did is on the disk when it resolves. */
  async change(change: FactChange): Promise<Change> {
    return await withFileLease(
      this.path,
      { fileSystem: nodeFileSystem, clock: systemClock, ids: systemIds },
      async (path) => {
        const text = (await this.#read(path)).toString("utf8");
        const { lines, result } = changeLines(text, change);
        if (lines !== undefined) await writeWhole(nodeFileSystem, { path, bytes: Buffer.from(lines), ids: systemIds });
        return result;
      },
    );
  }

  async #read(path: string): Promise<Buffer> {
    const bytes = await readWhole(nodeFileSystem, path, maxBytes);
    if (bytes) return bytes;
    if (statSync(path, { throwIfNoEntry: false })) throw new Error(describeSize(path));
    return Buffer.alloc(0);
  }

  /** Calls `work` with the index and with what reads single lines of the same file. */
  async #withFile<T>(work: (index: FactIndex, readFact: ReadFact) => T[]): Promise<T[]> {
    const handle = tryOpen(this.path);
    if (handle === undefined) return [];
    try {
      const { dev, ino, size, ctimeNs } = fstatSync(handle, { bigint: true });
      const mark = [dev, ino, size, ctimeNs].join(" ");
      if (this.#loaded?.mark !== mark) this.#loaded = { mark, index: await this.#openIndex(handle, mark) };
      const max = Number(size);
      return work(this.#loaded.index, (start, end) =>
        parseLine(readText(handle, start, Math.min(end, max)).replace(/\r$/, "")),
      );
    } finally {
      closeSync(handle);
    }
  }

  /** A disk that refuses the index does not prevent the search. */
  async #openIndex(handle: number, mark: string): Promise<FactIndex> {
    const stored = readStored(this.#indexPath);
    const opened = stored && openIndex(stored, mark);
    if (opened) return opened;
    const made = buildIndex(readFileSync(handle), mark);
    await orUndefined(writeWhole(nodeFileSystem, { path: this.#indexPath, bytes: made, ids: systemIds, syncs: false }));
    return openIndex(made, mark)!;
  }
}

/** Undefined if there is no index that can be read. Read at once: a search waits for it, and it is small. */
function readStored(path: string): Buffer | undefined {
  let handle: number | undefined;
  try {
    handle = tryOpen(path);
    return handle === undefined ? undefined : readFileSync(handle);
  } catch {
    // It is made again.
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

type ReadFact = (start: number, end: number) => Fact | undefined;

/** Undefined if there is no file. Throws for one that is no list of facts. */
function tryOpen(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  mustBeRegular(path, stats);
  if (stats.size > maxBytes) throw new Error(describeSize(path));
  return openSync(path, "r");
}

function readText(handle: number, start: number, end: number): string {
  const line = Buffer.alloc(Math.max(0, end - start));
  const count = readSync(handle, line, 0, line.length, start);
  return line.toString("utf8", 0, count);
}

const describeSize = (path: string): string =>
  `${path} is larger than 64 MB, which no list of facts is. Make it shorter.`;
