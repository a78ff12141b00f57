/**
 * Keeps the state of a repository with 10,000 files as the first call of a run does that may write: at most 3 times the CPU of
 * `git status` at first, and 1.5 times afterwards. The programs that are started are part of it.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const features = join(import.meta.dirname, "..", "packages", "features");
/** The least of the blocks counts: other work on the machine only adds to it. */
const blocks = 4;
const rounds = 15;

export default async function bench(report) {
  const directory = mkdtempSync(join(tmpdir(), "tau-undo-"));
  try {
    const outfile = join(directory, "project.mjs");
    await build({
      entryPoints: [join(features, "src", "undo", "project.ts")],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["@tau/source"],
      external: ["@silvia-odwyer/photon-node", "@vscode/ripgrep"],
      logLevel: "error",
    });
    const { openProject } = await import(outfile);
    const cwd = createRepository(join(directory, "work"));
    const status = () => void spawnSync("git", ["status", "--porcelain"], { cwd });
    let agents = 0;
    const open = async () => {
      const agentDir = join(directory, `agent-${agents++}`);
      mkdirSync(agentDir);
      return await openProject({ cwd, agentDir, maxFileBytes: 10 * 1024 * 1024 });
    };
    const keep = (project) => project.alone(() => project.store.keep());
    // The code of the program is compiled by then.
    for (let round = 0; round < 3; round++) await keep(await open());
    const project = await open();
    await keep(project);
    const works = {
      status,
      first: async () => await keep(await open()),
      again: () => keep(project),
      async changed(round) {
        writeFileSync(join(cwd, "src/m1/file1.ts"), `export const changed = ${round};\n`);
        await keep(project);
      },
    };
    const least = {};
    for (let block = 0; block < blocks; block++)
      for (const [name, work] of Object.entries(works))
        least[name] = Math.min(least[name] ?? Number.POSITIVE_INFINITY, await measure(work));
    report("git status", least.status, "ms of CPU");
    report("the first state", least.first / least.status, "times git status (at most 3)");
    report("a state that has not changed", least.again / least.status, "times git status (at most 1.5)");
    report("a state in which a file has changed", least.changed / least.status, "times git status (at most 1.5)");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function createRepository(cwd) {
  for (let index = 0; index < 10_000; index++) {
    const parent = join(cwd, "src", `m${index % 100}`);
    if (index < 100) mkdirSync(parent, { recursive: true });
    writeFileSync(join(parent, `file${Math.floor(index / 100)}.ts`), `export const value = ${index};\n`.repeat(40));
  }
  const git = (...args) =>
    execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", ...args], { cwd });
  git("init", "-q", "--template=", ".");
  appendFileSync(join(cwd, ".git/config"), "[gc]\n\tauto = 0\n");
  git("add", "-A");
  git("commit", "-qm", "first");
  return cwd;
}

/** Milliseconds of CPU of this process and of those that it has waited for, for one round. */
async function measure(work) {
  const before = readCpu();
  for (let round = 0; round < rounds; round++) await work(round);
  return (readCpu() - before) / rounds;
}

/** Linux counts those of others in hundredths of a second. */
function readCpu() {
  const { user, system } = process.cpuUsage();
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return (user + system) / 1_000 + (Number(fields[13]) + Number(fields[14])) * 10;
}
