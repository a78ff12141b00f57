/** Tests that a search finds what a plain scan of the logs finds, whatever happened to logs and indexes before. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { faultyFileSystem } from "@tau/tools/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type SearchOptions, searchSessions } from "../../src/search/index.ts";
import { keepSegments } from "../../src/search/log-index.ts";
import { encodeLine } from "../../src/session/line.ts";
import { removeSession, restoreSession, trashSession } from "../../src/session/trash.ts";
import {
  below,
  bundle,
  header,
  hexId,
  isLong,
  patience,
  plainLine,
  quickScratch,
  randomFrom,
  systemError,
  times,
  user,
} from "./kit.ts";

const search = (directory: string, text: string, options: Partial<SearchOptions & { fileSystem: FileSystem }> = {}) =>
  searchSessions([directory], { limit: Infinity, maxPerSession: Infinity, ...options, text });

const toIds = (hits: readonly { session: { id: string }; entryId: string | undefined }[]) =>
  hits.map(({ session, entryId }) => `${session.id} ${entryId}`);

const found = async (directory: string, text: string) => toIds((await search(directory, text)).hits);

const indexes = (directory: string) => readdirSync(directory).filter((name) => name.includes(".search"));

const letters = /[\p{L}\p{N}]/u;

/** Written without looking at the code of the search: every place of the text is compared. */
function matchesPlainly(text: string, words: readonly string[]): boolean {
  const flat = text.replaceAll(/\s+/g, " ").normalize("NFD").replaceAll(/\p{M}/gu, "");
  const begins = (index: number) => {
    const [before = "", here = ""] = [flat[index - 1], flat[index]];
    if (!letters.test(here) || !letters.test(before)) return true;
    return /\p{Lu}/u.test(here) && (!/\p{Lu}/u.test(before) || /[\p{Ll}\p{N}]/u.test(flat[index + 1] ?? ""));
  };
  const lower = flat.toLowerCase();
  return words.every((word) => [...lower].some((_unused, index) => lower.startsWith(word, index) && begins(index)));
}

/** The sessions last used first, the entries from the end. */
function scanPlainly(directory: string, words: readonly string[]): string[] {
  const logs = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
  const sessions = logs.flatMap((name) => {
    const path = join(directory, name);
    // A torn line may have another one behind it.
    const lines = readFileSync(path, "utf8").split(/\n|(?=\{"type":)/);
    const values = lines.flatMap((line) => {
      try {
        return [
          JSON.parse(line) as { type: string; id: string; name?: string; message?: { role: string; content: string } },
        ];
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        return [];
      }
    });
    const id = values.find(({ type }) => type === "session")?.id;
    return id === undefined ? [] : [{ id, values, modified: Math.trunc(statSync(path).mtimeMs) }];
  });
  sessions.sort((a, b) => b.modified - a.modified || (a.id < b.id ? -1 : 1));
  return sessions.flatMap(({ id, values }) =>
    values.toReversed().flatMap((value) => {
      const output =
        value.message?.role === "toolResult" ? value.message.content.slice(0, 4096) : value.message?.content;
      return matchesPlainly(value.name ?? output ?? "", words) ? `${id} ${value.id}` : [];
    }),
  );
}

const vocabulary = [
  "parser",
  "parse",
  "Parser",
  "sessionDirectory",
  "HTTPServer",
  "café",
  "naïve",
  "x1",
  "a.b",
  "--flag",
  "snake_case",
  "ünï",
];
const queries = [
  "parser",
  "pars",
  "directory",
  "http",
  "server",
  "cafe",
  "naive x1",
  "a.b",
  "--fl",
  "case",
  "parse snake",
  "uni",
  "absent",
  "b",
];

/** A directory of logs, which changes at random. */
class Logs {
  readonly directory: string;
  readonly #random;
  #count = 0;

  constructor(directory: string, seed: number) {
    this.directory = directory;
    this.#random = randomFrom(seed);
  }

  pick = <T>(items: readonly T[]): T => items[below(this.#random, items.length)]!;

  get names(): string[] {
    return readdirSync(this.directory)
      .filter((name) => name.endsWith(".jsonl"))
      .sort();
  }

  create(): void {
    const id = `s${++this.#count}`;
    writeFileSync(join(this.directory, `${id}.jsonl`), encodeLine(header(id)));
    this.#append(`${id}.jsonl`, 1 + below(this.#random, 20));
  }

  #message(): object {
    const number = ++this.#count;
    const text = Array.from({ length: 1 + below(this.#random, 8) }, () => this.pick(vocabulary)).join(
      this.pick([" ", "\n", ", "]),
    );
    const base = { id: hexId(number * 0x01234567), parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
    const kind = below(this.#random, 8);
    if (kind === 0) return { type: "session_info", ...base, name: text };
    const padding = kind === 1 ? ". ".repeat(this.pick([100, 2040, 2048, 2060])) : "";
    const message = { ...user(padding + text), ...(kind < 4 && { role: "toolResult", toolName: "read" }) };
    return { type: "message", ...base, message };
  }

  #append(name: string, count: number): void {
    const lines = Array.from({ length: count }, () => this.pick([encodeLine, encodeLine, plainLine])(this.#message()));
    appendFileSync(join(this.directory, name), Buffer.concat(lines));
  }

  /** Something that happens to logs, or to indexes. */
  async change(): Promise<void> {
    const { names } = this;
    if (names.length < 2) return this.create();
    const name = this.pick(names);
    const path = join(this.directory, name);
    const index = `${path}.search`;
    const has = existsSync(index);
    const damage = this.pick([
      () => this.create(),
      () => this.#append(name, 1 + below(this.#random, 5)),
      () => this.#append(name, 1),
      () => this.#append(name, 40),
      () => appendFileSync(path, '{"type":"message","id":"torn'),
      () => truncateSync(path, readFileSync(path).lastIndexOf(0x0a, -2) + 1),
      () => this.#fork(name),
      () => this.#replace(path),
      () => utimesSync(path, 1_000, 1_000 + below(this.#random, 1_000)),
      () => trashSession(path),
      () => removeSession(path),
      () => unlinkSync(path),
      () => this.#restore(),
      () => has && unlinkSync(index),
      () => has && truncateSync(index, below(this.#random, statSync(index).size)),
      () => has && this.#flip(index),
      () => has && appendFileSync(index, readFileSync(index)),
      () => has && copyFileSync(index, join(this.directory, `${this.pick(names)}.search`)),
      () => writeFileSync(index, "another version"),
    ]);
    await damage();
  }

  #fork(name: string): void {
    const id = `s${++this.#count}`;
    const [, ...lines] = readFileSync(join(this.directory, name), "utf8").split(/(?<=\n)/);
    writeFileSync(join(this.directory, `${id}.jsonl`), `${encodeLine(header(id)).toString()}${lines.join("")}`);
  }

  /** A log that begins in another way takes the place of this one. */
  #replace(path: string): void {
    const [first, , ...lines] = readFileSync(path, "utf8").split(/(?<=\n)/);
    const text = `${first}${encodeLine(this.#message()).toString()}${lines.join("")}`;
    if (this.pick([true, false])) return writeFileSync(path, text);
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }

  async #restore(): Promise<void> {
    const trash = join(this.directory, "trash");
    const names = existsSync(trash) ? readdirSync(trash).filter((name) => name.endsWith(".jsonl")) : [];
    if (names.length === 0 || existsSync(join(this.directory, names[0]!))) return;
    const lookup = { cwd: this.directory, agentDir: this.directory, directory: this.directory };
    await restoreSession(join(trash, names[0]!), lookup);
  }

  #flip(index: string): void {
    const bytes = readFileSync(index);
    if (bytes.length > 0) bytes[below(this.#random, bytes.length)]! ^= 1 << below(this.#random, 8);
    writeFileSync(index, bytes);
  }
}

test(
  "a search finds what a plain scan finds, after any appends, deletions, forks, restores and damaged indexes",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const directory = mkdtempSync(join(quickScratch(), "logs-"));
        const logs = new Logs(directory, seed);
        for (let step = 0; step < 40; step++) {
          for (let count = logs.pick([1, 1, 2, 3]); count > 0; count--) await logs.change();
          const query = logs.pick(queries);
          expect(await found(directory, query), query).toEqual(scanPlainly(directory, query.split(" ")));
          const live = new Set(logs.names);
          for (const name of indexes(directory)) expect(live).toContain(name.replace(/\.search$/, ""));
        }
      }),
      { numRuns: times(300, 8) },
    );
  },
  patience(60),
);

test(
  "a search is right after processes that searched were killed at any moment, while logs grew",
  async () => {
    const directory = quickScratch();
    const scripts = mkdtempSync(join(tmpdir(), "tau-searcher-"));
    const script = await bundle("searcher", scripts);
    const logs = new Logs(directory, 1);
    const random = randomFrom(7);
    for (let count = 0; count < 10; count++) logs.create();
    try {
      for (let round = 0; round < times(100, 3); round++) {
        const children = [0, 1].map(() =>
          spawn(process.execPath, [script, directory, "parser", "absent"], { stdio: ["ignore", "pipe", "inherit"] }),
        );
        const ended = children.map((child) => once(child, "close"));
        await Promise.all(children.map((child) => Promise.race([once(child.stdout, "data"), once(child, "close")])));
        for (let steps = 1 + below(random, 12); steps > 0; steps--) {
          await logs.change();
          await new Promise((resolve) => setImmediate(resolve));
        }
        for (const child of children) child.kill("SIGKILL");
        await Promise.all(ended);
        for (const query of ["parser", "cafe"])
          expect(await found(directory, query)).toEqual(scanPlainly(directory, [query]));
      }
    } finally {
      rmSync(scripts, { recursive: true, force: true });
    }
  },
  patience(60),
);

test("what a log does not hold any more is not in its index, and neither is a deleted session", async () => {
  const directory = quickScratch();
  const write = (id: string, ...texts: string[]) => {
    const entries = texts.map((text, index) => ({
      type: "message",
      id: hexId(index + 1),
      parentId: null,
      timestamp: "2026-01-01T00:00:00.000Z",
      message: user(text),
    }));
    writeFileSync(join(directory, `${id}.jsonl`), Buffer.concat([header(id), ...entries].map(encodeLine)));
  };
  const contents = () =>
    indexes(directory)
      .map((name) => readFileSync(join(directory, name), "latin1"))
      .join("");
  write("a", "the hunter2 password", "plain");
  write("b", "topsecret");
  expect(await found(directory, "hunter2")).toEqual([`a ${hexId(1)}`]);
  expect(contents()).toContain("hunter2");
  write("a", "the ******* password", "plain");
  expect(await found(directory, "hunter2")).toEqual([]);
  expect(contents()).not.toContain("hunter2");
  await trashSession(join(directory, "b.jsonl"));
  expect(indexes(directory)).toEqual(["a.jsonl.search"]);
  expect(readdirSync(join(directory, "trash"))).toEqual(["b.jsonl"]);
  expect(await found(directory, "topsecret")).toEqual([]);
  unlinkSync(join(directory, "a.jsonl"));
  await found(directory, "anything");
  expect(indexes(directory)).toEqual([]);
});

test("an index is only for its owner, and what is added to a log is appended to it", async () => {
  const directory = quickScratch();
  const path = join(directory, "a.jsonl");
  const line = (number: number, text: string) =>
    encodeLine({
      type: "message",
      id: hexId(number),
      parentId: null,
      timestamp: "2026-01-01T00:00:00.000Z",
      message: user(text),
    });
  writeFileSync(
    path,
    Buffer.concat([encodeLine(header("a")), ...Array.from({ length: 200 }, (_, n) => line(n + 1, `word${n}`))]),
  );
  await found(directory, "word1");
  expect(statSync(`${path}.search`).mode & 0o777).toBe(0o600);
  const before = readFileSync(`${path}.search`);
  appendFileSync(path, line(900, "later"));
  expect(await found(directory, "later")).toEqual([`a ${hexId(900)}`]);
  const after = readFileSync(`${path}.search`);
  expect(after.subarray(0, before.length).equals(before)).toBe(true);
  expect(after.length).toBeGreaterThan(before.length);
  const { ino } = statSync(`${path}.search`);
  expect(await found(directory, "word199")).toHaveLength(1);
  expect(statSync(`${path}.search`).ino).toBe(ino);
});

test("a log that grows by one entry after each search has few segments, and no part of it is read often", () => {
  let segments: { head: { start: number; end: number } }[] = [];
  let read = 0;
  for (let size = 1; size <= 10_000; size++) {
    segments = keepSegments(segments, size);
    const start = segments.at(-1)?.head.end ?? 0;
    read += size - start;
    segments.push({ head: { start, end: size } });
    expect(segments.length).toBeLessThan(16);
  }
  expect(read).toBeLessThan(10_000 * 16);
});

test("a directory that cannot be written is searched all the same", async () => {
  const directory = quickScratch();
  const logs = new Logs(directory, 3);
  for (let count = 0; count < 3; count++) logs.create();
  const refuse = () => Promise.reject(systemError("EROFS"));
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    open: (path, flags, mode) =>
      flags & (constants.O_WRONLY | constants.O_RDWR) ? refuse() : nodeFileSystem.open(path, flags, mode),
    rename: refuse,
    unlink: refuse,
  };
  const { hits } = await search(directory, "parser", { fileSystem });
  expect(toIds(hits)).toEqual(scanPlainly(directory, ["parser"]));
  expect(indexes(directory)).toEqual([]);
});

test("a call of the disk that fails costs a search what it could not read, and the next search nothing", async () => {
  let isTried = false;
  for (let at = 1; !isTried; at += isLong ? 1 : 4) {
    const directory = quickScratch();
    const logs = new Logs(directory, 5);
    for (let count = 0; count < 2; count++) logs.create();
    await found(directory, "parser");
    for (let count = 0; count < 2; count++) await logs.change();
    const fileSystem = faultyFileSystem(nodeFileSystem, { at });
    const expected = scanPlainly(directory, ["parser"]);
    expect(expected).toEqual(expect.arrayContaining(toIds((await search(directory, "parser", { fileSystem })).hits)));
    expect(await found(directory, "parser")).toEqual(expected);
    isTried = fileSystem.calls.length < at;
  }
});

test("file systems without synchronous calls are searched too", async () => {
  const directory = quickScratch();
  const logs = new Logs(directory, 8);
  for (let count = 0; count < 3; count++) logs.create();
  const { readNow: _readNow, statNow: _statNow, ...fileSystem } = nodeFileSystem;
  for (let round = 0; round < 2; round++)
    expect(toIds((await search(directory, "parser", { fileSystem })).hits)).toEqual(scanPlainly(directory, ["parser"]));
});

test("hits are limited in all and for each session, and filters leave sessions and messages out", async () => {
  const directory = quickScratch();
  const write = (id: string, { cwd = "/project", day = 1, cost = 0, model = "m", count = 1 }) => {
    const timestamp = `2026-01-0${day}T00:00:00.000Z`;
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { total: cost } };
    const entries = Array.from({ length: count }, (_unused, index) => ({
      type: "message",
      id: hexId(index + 1),
      parentId: null,
      timestamp,
      message: { role: "assistant", content: [{ type: "text", text: "needle" }], provider: "p", model, usage },
    }));
    writeFileSync(join(directory, `${id}.jsonl`), Buffer.concat([{ ...header(id), cwd }, ...entries].map(encodeLine)));
    utimesSync(join(directory, `${id}.jsonl`), day, day);
  };
  write("a", { cwd: "/project/sub", day: 3, count: 5 });
  write("b", { cwd: "/projects", day: 2, cost: 1.5, model: "opus" });
  write("c", { day: 1, cost: 0.2 });
  const ids = async (options: Partial<SearchOptions>) => {
    const { hits, hasMore } = await search(directory, "needle", options);
    return [...hits.map(({ session }) => session.id), ...(hasMore ? ["more"] : [])].join(" ");
  };
  expect(await ids({ maxPerSession: 3 })).toBe("a a a b c more");
  expect(await ids({ maxPerSession: 1, limit: 2 })).toBe("a b more");
  expect(await ids({ cwd: "/project" })).toBe("a a a a a c");
  expect(await ids({ cwd: "/project/sub", maxPerSession: 5 })).toBe("a a a a a");
  expect(await ids({ model: "OPUS" })).toBe("b");
  expect(await ids({ model: "p/m", minCost: 0.1 })).toBe("c");
  expect(await ids({ minCost: 0.2, maxCost: 1 })).toBe("c");
  expect(await ids({ sinceMs: Date.parse("2026-01-02"), untilMs: Date.parse("2026-01-03") })).toBe("b");
});
