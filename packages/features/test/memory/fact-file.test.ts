/** Facts on the disk: many of them, edited by hand, written by several processes, and by processes that are killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Fact, formatLine } from "../../src/memory/fact.ts";
import { FactFile } from "../../src/memory/fact-file.ts";

const fact = (text: string): Fact => ({ text, kind: "fact", date: "2026-01-31", session: "s-1" });

async function createDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tau-memory-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const search = async (file: FactFile, query: string): Promise<string[]> =>
  (await file.search(query, 5)).map((found) => found.fact.text);

test("10,000 facts are searched, also with an index that is old, cut or of another file", async () => {
  const directory = await createDirectory();
  const words = ["parser", "lexer", "tests", "deploys", "cache", "gateway", "Zürich", "日本語"];
  const texts = Array.from({ length: 10_000 }, (_unused, n) => `The ${words[n % 8]} of module${n} needs step${n % 97}`);
  const path = join(directory, "facts.md");
  const index = join(directory, "facts.index");
  await writeFile(path, texts.map((text) => `${formatLine(fact(text))}\n`).join(""));
  expect(await search(new FactFile(directory), "module4711 zurich")).toContain("The 日本語 of module4711 needs step55");
  expect((await search(new FactFile(directory), "module4711"))[0]).toBe("The 日本語 of module4711 needs step55");
  // Common words find the newest; plurals and accents do not matter.
  expect((await search(new FactFile(directory), "test deploy"))[0]).toMatch(/^The (?:tests|deploys) of module99/);
  expect(await search(new FactFile(directory), "nothing-like-it")).toEqual([]);
  expect(await new FactFile(directory).list()).toHaveLength(10_000);
  const { mtimeMs } = await stat(index);
  await search(new FactFile(directory), "parser");
  expect((await stat(index)).mtimeMs).toBe(mtimeMs);

  const kept = new FactFile(directory);
  await kept.search("parser", 1);
  await appendFile(path, "- Written by hand: the quokka sleeps\n");
  expect(await search(kept, "quokka")).toEqual(["Written by hand: the quokka sleeps"]);
  await truncate(index, 1_000);
  expect(await search(new FactFile(directory), "quokka")).toEqual(["Written by hand: the quokka sleeps"]);
  const bytes = await readFile(index);
  await writeFile(index, Buffer.concat([bytes.subarray(0, 40), Buffer.alloc(bytes.length - 40, 255)]));
  expect(await search(new FactFile(directory), "quokka")).toEqual(["Written by hand: the quokka sleeps"]);
});

test("a search without a file finds nothing and writes nothing", async () => {
  const directory = await createDirectory();
  expect(await search(new FactFile(directory), "anything")).toEqual([]);
  expect(await readdir(directory)).toEqual([]);
});

let programDirectory: string;
let program: string;
beforeAll(async () => {
  programDirectory = await mkdtemp(join(tmpdir(), "tau-memory-program-"));
  await symlink(join(import.meta.dirname, "../../../../node_modules"), join(programDirectory, "node_modules"));
  program = join(programDirectory, "program.mjs");
  const contents = `
    import { FactFile } from "../../src/memory/fact-file.ts";
    const [directory, name, count] = process.argv.slice(2);
    const file = new FactFile(directory);
    for (let n = 0; n < Number(count); n++) {
      const text = name + " learnt " + "x".repeat(n + 1);
      await file.change({ kind: "retain", fact: { text, kind: "fact", date: "2026-01-31", session: name } });
      console.log(text);
      if (n % 5 === 4) await file.search(name, 3);
    }`;
  await build({
    stdin: { resolveDir: import.meta.dirname, loader: "ts", contents },
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    logLevel: "error",
  });
});
afterAll(() => rm(programDirectory, { recursive: true, force: true }));

function start(directory: string, name: string, count: number) {
  const child = spawn(process.execPath, [program, directory, name, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => said.push(line));
  return { child, said, ended: once(child, "close") };
}

test("three processes write at the same time, and nothing is lost", async () => {
  const directory = await createDirectory();
  const processes = ["one", "two", "three"].map((name) => start(directory, name, 8));
  await Promise.all(processes.map(({ ended }) => ended));
  const texts = (await new FactFile(directory).list()).map(({ text }) => text);
  expect(texts.toSorted()).toEqual(processes.flatMap(({ said }) => said).toSorted());
  expect(texts).toHaveLength(24);
});

test("killed at any moment, what was remembered is there, and the next process continues", async () => {
  const directory = await createDirectory();
  const acknowledged: string[] = [];
  for (let round = 0; round < 4; round++) {
    const { child, said, ended } = start(directory, `round${round}`, 1_000);
    await expect.poll(() => said.length, { interval: 1, timeout: 20_000 }).toBeGreaterThan(round * 3);
    child.kill("SIGKILL");
    await ended;
    acknowledged.push(...said);
  }
  const file = new FactFile(directory);
  await file.change({ kind: "retain", fact: fact("after all of them") });
  const texts = new Set((await file.list()).map(({ text }) => text));
  expect(acknowledged.filter((text) => !texts.has(text))).toEqual([]);
  expect(await search(file, "after all of them")).toContain("after all of them");
  const lines = (await readFile(file.path, "utf8")).split("\n");
  expect(lines.filter((line) => line.startsWith("- ") && !line.endsWith(")_"))).toEqual([]);
});
