import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

/** Runs a test in a directory of its own. */
function run(body: string) {
  const directory = mkdtempSync(join(tmpdir(), "tau-test-script-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  symlinkSync(join(import.meta.dirname, "..", "node_modules"), join(directory, "node_modules"));
  writeFileSync(join(directory, "vitest.config.mjs"), "export default {};\n");
  writeFileSync(join(directory, "one.test.mjs"), `import { expect, test } from "vitest";\n${body}\n`);
  const script = join(import.meta.dirname, "test.mjs");
  const { stdout, status } = spawnSync(process.execPath, [script, "--root", directory], { encoding: "utf8" });
  const lines = stdout.trimEnd().split("\n");
  const [, log, report] = /^The whole log is (.*), the report (.*)\.$/.exec(lines.at(-1)!) ?? [];
  if (log) onTestFinished(() => rmSync(dirname(log), { recursive: true }));
  return { lines, status, log, report };
}

test("a run that fails keeps its log, and says where", () => {
  const { lines, status, log, report } = run('test("broken", () => { console.log("a clue"); expect(1).toBe(2); });');
  expect(status).toBe(1);
  expect(lines.at(-2)).toBe("tests: 0 passed, 1 failed, 0 skipped");
  expect(readFileSync(log!, "utf8")).toMatch(/a clue[^]*expected 1 to be 2/);
  expect(JSON.parse(readFileSync(report!, "utf8"))).toMatchObject({ numFailedTests: 1 });
});

test("a run that passes keeps nothing, and one without tests fails", () => {
  const { lines, status } = run('test("fine", () => expect(1).toBe(1));');
  expect([status, lines.at(-1)]).toEqual([0, "tests: 1 passed, 0 failed, 0 skipped"]);
  expect(run("test.todo('later');").status).toBe(1);
});
