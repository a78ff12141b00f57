/**
 * Measures what it costs to classify a command: the first call, ordinary and dangerous commands, long arguments, and
 * random text. Nothing is run. `EXEC_FUZZ` sets how many random texts there are (default 100,000).
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const corpus = join(root, "packages/policy/test/exec");
const context = { cwd: "/src/app", home: "/home/me", workspace: "/src/app" };

export default async function bench(report) {
  const directory = mkdtempSync(join(tmpdir(), "tau-policy-classify-"));
  try {
    await measureAll(directory, report);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function measureAll(directory, report) {
  // The packages load this code with the first command, as a chunk whose name is not known here.
  const sources = [
    join(root, "packages/policy/src/exec/classify-command.ts"),
    join(root, "packages/policy/src/exec/disk-links.ts"),
    join(corpus, "noise.ts"),
    join(corpus, "random.ts"),
    join(corpus, "long-arguments.ts"),
  ];
  const [modulePath, linksPath, noisePath, randomPath, longPath] = [
    "classify-command",
    "disk-links",
    "noise",
    "random",
    "long-arguments",
  ].map((name) => join(directory, `${name}.mjs`));
  await build({
    entryPoints: sources,
    outdir: directory,
    entryNames: "[name]",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@tau/source"],
  });
  report("cold first call", Math.min(...Array.from({ length: 5 }, () => measureCold(modulePath))), "CPU ms");
  const { classifyCommand } = await import(modulePath);
  const rows = ["exec-deny.jsonl", "exec-allow.jsonl"].flatMap((name) =>
    readLines(name).map((line) => JSON.parse(line).cmd),
  );
  const commands = [...rows, ...readLines("ordinary.txt")];
  for (let round = 0; round < 5; round++) for (const command of commands) classifyCommand(command, context);
  const times = commands
    .map((command) => Math.min(...[1, 2, 3].map(() => measure(() => classifyCommand(command, context), 20))))
    .sort((a, b) => a - b);
  report("a command, median", times[Math.floor(times.length / 2)], "CPU ms");
  report("a command, p99", times[Math.floor(times.length * 0.99)], "CPU ms");
  report("a command, slowest", times.at(-1), "CPU ms");

  // Without a sandbox each part of each path is looked at.
  const { withDiskLinks } = await import(linksPath);
  const here = { cwd: root, home: homedir(), workspace: root };
  const linkTimes = commands
    .map((command) =>
      Math.min(...[1, 2, 3].map(() => measure(() => classifyCommand(command, withDiskLinks(here)), 20))),
    )
    .sort((a, b) => a - b);
  report("a command with links of the disk, p99", linkTimes[Math.floor(linkTimes.length * 0.99)], "CPU ms");

  // The budget of steps bounds the work of any text: this is what a spent budget costs.
  const { longArguments } = await import(longPath);
  const longTimes = longArguments.map((text) =>
    Math.min(...Array.from({ length: 8 }, () => measure(() => classifyCommand(text, context), 1))),
  );
  report("slowest long argument", Math.max(...longTimes), "CPU ms");

  const { generateNoise } = await import(noisePath);
  const { createRandom } = await import(randomPath);
  const random = createRandom(1);
  const count = Number(process.env.EXEC_FUZZ ?? 100_000);
  let thrown = 0;
  let slow = 0;
  let slowest = 0;
  for (let index = 0; index < count; index++) {
    const text = generateNoise(random, rows);
    try {
      let time = measure(() => classifyCommand(text, context), 1);
      // Once more where it seems slow: compiling and collecting garbage count too.
      if (time > 50) time = Math.min(...[1, 2, 3].map(() => measure(() => classifyCommand(text, context), 1)));
      if (time > 50) slow++;
      slowest = Math.max(slowest, time);
    } catch (error) {
      thrown++;
      console.error(`Threw ${error} for ${JSON.stringify(text.slice(0, 200))}`);
    }
  }
  report("random texts", count, "texts");
  report("random texts that threw", thrown, "texts");
  report("random texts over 50 ms", slow, "texts");
  report("slowest random text", slowest, "CPU ms");
}

const readLines = (name) => readFileSync(join(corpus, name), "utf8").trim().split("\n");

/** CPU time of one call in ms, the mean of several. */
function measure(run, turns) {
  const started = process.cpuUsage();
  for (let turn = 0; turn < turns; turn++) run();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000 / turns;
}

/** The first call in a process of its own, with the modules loaded. */
function measureCold(modulePath) {
  const script = `const { classifyCommand } = await import(${JSON.stringify(modulePath)});
    const started = process.cpuUsage();
    classifyCommand("npm test", ${JSON.stringify(context)});
    const { user, system } = process.cpuUsage(started);
    console.log((user + system) / 1000);`;
  return Number(spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }).stdout);
}
