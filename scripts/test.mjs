/**
 * Runs the tests and closes with one plain line that counts them. A run that fails keeps its whole log and its report in
 * a directory that is named at the end. Arguments: `--quick` for the unit tests that take little time, and whatever
 * vitest takes.
 */
import { spawn } from "node:child_process";
import { createWriteStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { stripVTControlCharacters } from "node:util";
import { compileSources } from "./compile-sources.mjs";

/** Unit tests that take seconds each. */
const slow = new RegExp(
  `^packages/(${[
    "ai/src/schema/gemini",
    "config/src/(models/resolve|settings/hot-reload)",
    "extensions/src/load/reload",
    "harness/src/(export/.*|observe/debug-log)",
    "tui/src/(components|screen)/(streamed-)?markdown",
  ].join("|")})\\.test\\.ts$`,
);

const root = join(import.meta.dirname, "..");
const args = process.argv.slice(2).filter((arg) => arg !== "--quick");
const isQuick = args.length < process.argv.length - 2;
const directory = mkdtempSync(join(tmpdir(), "tau-test-"));
const [log, report] = [join(directory, "log.txt"), join(directory, "report.json")];
// That takes seconds, which only many tests save.
const compiledSources = args.every((arg) => arg.startsWith("-")) ? await compileSources() : undefined;

const code = await runVitest([
  "run",
  "--reporter=default",
  "--silent=passed-only",
  "--reporter=json",
  `--outputFile.json=${report}`,
  ...(isQuick ? findQuickTests() : []),
  ...args,
]);
if (compiledSources !== undefined) rmSync(compiledSources, { recursive: true });
// Without one, vitest itself has failed.
const counts = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : {};
const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0 } = counts;
console.log(`tests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
if (code === 0 && numPassedTests > 0) rmSync(directory, { recursive: true });
else {
  console.log(`The whole log is ${log}, the report ${report}.`);
  process.exitCode = 1;
}

/** The tests that stand beside the sources, but for slow ones. */
function findQuickTests() {
  const files = readdirSync(join(root, "packages")).flatMap((name) => {
    const source = `packages/${name}/src`;
    return readdirSync(join(root, source), { recursive: true }).map((file) => `${source}/${file.replaceAll(sep, "/")}`);
  });
  return files.filter((file) => file.endsWith(".test.ts") && !slow.test(file));
}

/** Shows what vitest says and writes it to the log, without colours. Resolves with the exit code. */
async function runVitest(vitestArgs) {
  const child = spawn(process.execPath, [join(root, "node_modules", "vitest", "vitest.mjs"), ...vitestArgs], {
    cwd: root,
    stdio: ["inherit", "pipe", "pipe"],
    env: {
      ...process.env,
      ...(compiledSources !== undefined && { TAU_COMPILED_SOURCES: compiledSources }),
      ...(process.stdout.isTTY && { FORCE_COLOR: "1" }),
    },
  });
  const file = createWriteStream(log);
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    from.pipe(to, { end: false });
    createInterface({ input: from }).on("line", (line) => file.write(`${stripVTControlCharacters(line)}\n`));
  }
  const result = await new Promise((resolve) => child.once("close", (exitCode) => resolve(exitCode)));
  file.end();
  await finished(file);
  return result;
}
