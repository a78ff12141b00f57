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
    report("an edit after somebody else's change", await recover(directory), "ms of CPU");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** As in code: two lines of five are a brace or empty, and a line has thirty characters on average. */
const lineOf = (at) =>
  [
    `  const value${at} = await compute(input, ${at * 7}, options);`,
    `  if (value${at} > options.limit) {`,
    `    report("the value ${at} is above the limit", value${at});`,
    "  }",
    "",
  ][at % 5];

/** One file in memory, for what an edit costs without the disk. */
function memoryFiles(path) {
  let bytes = readFileSync(path);
  return {
    stat: async () => ({}),
    realPath: async () => path,
    readWhole: async () => ({ realPath: path, bytes, stamp: "" }),
    async writeWhole(_path, next) {
      bytes = next;
      return { realPath: path, created: false };
    },
    content: () => bytes.toString("utf8"),
  };
}

function desk(directory, isInMemory = false) {
  const path = join(directory, "long.ts");
  const lines = Array.from({ length: lineCount }, (_unused, at) => lineOf(at));
  writeFileSync(path, `${lines.join("\n")}\n`);
  const snapshots = createSnapshots();
  const memory = isInMemory ? memoryFiles(path) : undefined;
  const content = () => memory?.content() ?? readFileSync(path, "utf8");
  const queue = createFileQueue();
  const tool = createHashlineEditTool({ cwd: directory, files: memory ?? createFiles(), queue, snapshots });
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
  return { path, tool, read, content };
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

/** What an edit cannot cost less than. */
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

async function recover(directory) {
  const rounds = 20;
  let total = 0;
  for (let at = 0; at < rounds; at++) {
    const { path, tool, read } = desk(directory);
    const pos = (await read())[5_000 + at * 10];
    writeFileSync(path, `// a new first line\n${readFileSync(path, "utf8")}`);
    const cpu = process.cpuUsage();
    await tool.execute("id", { path: "long.ts", edits: [{ op: "replace", pos, lines: `  changed(${at});` }] });
    const { user, system } = process.cpuUsage(cpu);
    total += (user + system) / 1_000;
  }
  return total / rounds;
}
