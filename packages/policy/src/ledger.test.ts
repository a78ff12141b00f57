import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { build } from "esbuild";
import { createMemoryStorage, readLog } from "@tau/tools/storage";
import { appendToLedger, getLedgerPath, hashForLedger, verifyLedger } from "./ledger.ts";

let agentDir: string;
beforeEach(async () => {
  agentDir = await mkdtemp(join(tmpdir(), "tau-ledger-"));
});
afterEach(async () => {
  await rm(agentDir, { recursive: true });
});

const readLedger = () => readFile(getLedgerPath(agentDir), "utf8");

async function writeSome(count: number): Promise<string> {
  for (let index = 0; index < count; index++)
    await appendToLedger({ event: "decision", outcome: "denied", target: hashForLedger(index) }, { agentDir });
  return await readLedger();
}

test("records are chained, and only their owner may read them", async () => {
  const text = await writeSome(5);
  const { records, problems } = verifyLedger(text);
  expect(problems).toEqual([]);
  expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  expect(records[3]!.prev).toBe(records[2]!.hash);
  expect((await stat(getLedgerPath(agentDir))).mode & 0o777).toBe(0o600);
});

test("every change of a byte, and every line that is removed, swapped or repeated, is found", async () => {
  const text = await writeSome(6);
  fc.assert(
    fc.property(fc.nat({ max: text.length - 2 }), fc.constantFrom("0", "1", "x", '"', "\n"), (index, other) => {
      fc.pre(text[index] !== other);
      const changed = text.slice(0, index) + other + text.slice(index + 1);
      expect(verifyLedger(changed).problems).not.toEqual([]);
    }),
    { numRuns: 500 },
  );
  const lines = text.trimEnd().split("\n");
  const join = (changed: readonly string[]) => `${changed.join("\n")}\n`;
  for (let index = 0; index < lines.length - 1; index++) {
    expect(verifyLedger(join(lines.toSpliced(index, 1))).problems).not.toEqual([]);
    expect(verifyLedger(join(lines.toSpliced(index, 0, lines[index]!))).problems).not.toEqual([]);
    expect(verifyLedger(join(lines.toSpliced(index, 2, lines[index + 1]!, lines[index]!))).problems).not.toEqual([]);
  }
});

test("a line that a crash cut off is removed by the next record, which says so", async () => {
  const text = await writeSome(3);
  const lastLine = text.trimEnd().lastIndexOf("\n") + 1;
  for (let end = lastLine + 1; end < text.length; end += 29) {
    await writeFile(getLedgerPath(agentDir), text.slice(0, end));
    expect(verifyLedger(await readLedger()).problems).toEqual([{ line: 3, kind: "torn" }]);
    await appendToLedger({ event: "decision" }, { agentDir });
    const { records, problems } = verifyLedger(await readLedger());
    expect(problems).toEqual([]);
    expect(records.map(({ event }) => event)).toEqual(["decision", "decision", "repair", "decision"]);
    expect(records[2]).toMatchObject({ lostBytes: end - lastLine });
  }
});

test("several processes write one chain", async () => {
  const program = join(agentDir, "append.mjs");
  const contents = `
    import { appendToLedger } from "./ledger.ts";
    for (let index = 0; index < 10; index++) await appendToLedger({ event: "decision" }, { agentDir: process.argv[2] });
  `;
  await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: "ts" },
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    external: ["google-auth-library", "@silvia-odwyer/photon-node", "@vscode/ripgrep"],
    logLevel: "error",
  });
  const run = async () => {
    const child = spawn(process.execPath, [program, agentDir], { stdio: "inherit" });
    expect((await once(child, "exit"))[0]).toBe(0);
  };
  await Promise.all([run(), run(), run()]);
  const { records, problems } = verifyLedger(await readLedger());
  expect(problems).toEqual([]);
  expect(records).toHaveLength(30);
});

test("a ledger that cannot be written is an error with the name of the file", async () => {
  const file = getLedgerPath(agentDir);
  await mkdir(file);
  await expect(appendToLedger({ event: "decision" }, { agentDir })).rejects.toThrow(/EISDIR/);
});

test("a ledger in a storage is one chain, and no file", async () => {
  const storage = createMemoryStorage();
  await Promise.all([1, 2, 3].map(() => appendToLedger({ event: "decision" }, { agentDir, storage })));
  const { records, problems } = verifyLedger((await readLog(storage, "record/audit"))!.toString());
  expect(problems).toEqual([]);
  expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  await expect(readLedger()).rejects.toMatchObject({ code: "ENOENT" });
});
