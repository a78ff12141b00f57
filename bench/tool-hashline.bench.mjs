/** Hashline edits of a long file, one call each: decode, verify, change, encode, remember and show. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileQueue, createFiles, createHashlineEditTool, createReadTool, createSnapshots } from "@tau/tools";

const lineCount = 10_000;
const editCount = 1_000;

export default async function bench(report) {
  const directory = mkdtempSync(join(tmpdir(), "tau-bench-"));
  try {
    for (const [figure, isInMemory] of [
      ["an edit", true],
      ["an edit, with reading and writing the file", false],
    ]) {
      await run(directory, 100, isInMemory);
      let best = Infinity;
      for (let round = 0; round < 3; round++) best = Math.min(best, await run(directory, editCount, isInMemory));
      report(figure, best / editCount, "ms of CPU");
    }
    report("reading and writing the file alone", await readAndWrite(directory), "ms of CPU");
    for (const [figure, change] of Object.entries(changes)) {
      await recover(directory, change);
      report(`an edit after somebody else ${figure}`, await recover(directory, change), "ms of CPU");
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Makes lines that resemble code: two of five are a brace or empty, and a line has thirty characters on average. */
const formatLine = (at) =>
  [
    `  const value${at} = await compute(input, ${at * 7}, options);`,
    `  if (value${at} > options.limit) {`,
    `    report("the value ${at} is above the limit", value${at});`,
    "  }",
    "",
  ][at % 5];

/** Keeps a file in memory, to measure an edit without the disk. */
function memoryFiles(path) {
  let bytes = readFileSync(path);
  return {
    stat: async () => ({}),
    realPath: async () => path,
    readWhole: async () => ({ realPath: path, bytes, stamp: "" }),
    async writeWhole(_path, next) {
      bytes = Buffer.from(next);
      return { realPath: path, created: false };
    },
    content: () => bytes.toString("utf8"),
  };
}

function desk(directory, isInMemory = false) {
  const path = join(directory, "long.ts");
  const lines = Array.from({ length: lineCount }, (_unused, at) => formatLine(at));
  writeFileSync(path, `${lines.join("\n")}\n`);
  const snapshots = createSnapshots();
  const files = isInMemory ? memoryFiles(path) : createFiles();
  const content = () => (isInMemory ? files.content() : readFileSync(path, "utf8"));
  const tool = createHashlineEditTool({ cwd: directory, files, queue: createFileQueue(), snapshots });
  /** The anchors, as `read` shows them; it takes several calls to show a file this long. */
  const read = async () => {
    const reader = createReadTool({ cwd: directory, files: createFiles(), snapshots });
    const anchors = [];
    for (let offset = 1; offset <= lineCount;) {
      const { content: shown, details } = await reader.execute("id", { path: "long.ts", offset, hashline: true });
      for (const [row] of shown[0].text.matchAll(/^\d+#[A-Z]{2}(?=:)/gm)) anchors.push(row);
      offset += details.shownLines;
    }
    return anchors;
  };
  return { path, tool, read, content, files };
}

async function run(directory, count, isInMemory) {
  const { tool, read, content } = desk(directory, isInMemory);
  const anchors = await read();
  const cpu = process.cpuUsage();
  for (let at = 0; at < count; at++) {
    const pos = anchors[(at * 7_919) % lineCount];
    await tool.execute("id", { path: "long.ts", edits: [{ op: "replace", pos, lines: `  changed(${at});` }] });
  }
  const { user, system } = process.cpuUsage(cpu);
  const changed = content().match(/changed\(/g).length;
  if (changed !== count) throw new Error(`${changed} lines changed, not ${count}`);
  return (user + system) / 1_000;
}

/** Does the least that an edit has to do. */
async function readAndWrite(directory) {
  const { path } = desk(directory);
  const files = createFiles();
  const cpu = process.cpuUsage();
  for (let at = 0; at < editCount; at++) {
    const { bytes, stamp } = await files.readWhole(path, 2 ** 30);
    await files.writeWhole(path, bytes, { ifUnchanged: stamp });
  }
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1_000 / editCount;
}

/** Changes that somebody else makes to the lines between a reading and an edit. */
const changes = {
  "put a line first": (lines) => ["// a new first line", ...lines],
  "changed 400 lines": (lines) => lines.map((line, at) => (at % 25 === 0 ? `${line} // changed` : line)),
  "changed all lines": (lines) => lines.map((line) => `${line} // changed`),
  "turned all lines around": (lines) => lines.toReversed(),
};

/** Without the disk. The edit is placed where its line is certain, and refused where not: both must be soon decided. */
async function recover(directory, change) {
  const times = [];
  for (let at = 0; at < 21; at++) {
    const { path, tool, read, content, files } = desk(directory, true);
    const pos = (await read())[5_001 + at * 10];
    await files.writeWhole(path, `${change(content().split("\n").slice(0, -1)).join("\n")}\n`);
    const edit = { op: "replace", pos, lines: `  changed(${at});` };
    const cpu = process.cpuUsage();
    await tool.execute("id", { path: "long.ts", edits: [edit] }).catch(onlyStale);
    const { user, system } = process.cpuUsage(cpu);
    times.push((user + system) / 1_000);
  }
  // Not the mean: what the preparations leave behind is cleared away on the account of some of the edits.
  return times.sort((a, b) => a - b)[10];
}

const onlyStale = (error) => {
  if (error.code !== "stale") throw error;
};
