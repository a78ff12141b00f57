/** Another process saves the files, as editors do. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type SettingsChange, SettingsManager } from "./settings-manager.ts";
import { formatFileProblem } from "../files/file-problem.ts";
import { firstCheckMs } from "../files/watch-files.ts";

function createDirectories({ isEmpty = false } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-reload-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const agentDir = join(root, "agent");
  const cwd = join(root, "project");
  mkdirSync(cwd);
  const global = join(agentDir, "settings.json");
  const project = join(cwd, ".tau", "settings.json");
  if (!isEmpty) {
    mkdirSync(agentDir);
    mkdirSync(join(cwd, ".tau"));
    writeFileSync(global, '{ "theme": "first" }');
    writeFileSync(project, "{}");
  }
  return { root, agentDir, cwd, global, project };
}

async function openWatched(cwd: string, agentDir: string) {
  const manager = await SettingsManager.create(cwd, agentDir);
  const changes: SettingsChange[] = [];
  manager.subscribe((change) => changes.push(change));
  onTestFinished(() => manager.close());
  return { manager, changes };
}

/** Runs each script that it is sent, with `file` and `text(theme)` in scope. */
const editorScript = `
  const fs = require("node:fs"), path = require("node:path");
  const text = (theme) => JSON.stringify({ theme }, null, 2) + " ".repeat(20_000);
  const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  process.on("message", ({ file, script }) => {
    new Function("fs", "path", "text", "wait", "file", script)(fs, path, text, wait, file);
    process.send("done");
  });
`;
let editor: ChildProcess;
beforeAll(() => {
  editor = spawn(process.execPath, ["-e", editorScript], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
});
afterAll(() => void editor.kill("SIGKILL"));

/** Does something with a file in another process. */
async function runInEditor(file: string, script: string): Promise<void> {
  const done = once(editor, "message", { signal: AbortSignal.timeout(45_000) });
  editor.send({ file, script });
  expect((await done)[0]).toBe("done");
}

const saves = {
  "renames a new file over it": `fs.writeFileSync(file + "~", text("saved")); fs.renameSync(file + "~", file);`,
  "truncates and writes it": `fs.writeFileSync(file, text("saved"));`,
  "truncates, waits, and writes it in two halves": `
    const handle = fs.openSync(file, "w"), whole = text("saved");
    wait(60); fs.writeSync(handle, whole.slice(0, 9)); wait(60); fs.writeSync(handle, whole.slice(9));`,
  "moves it away and writes a new one": `fs.renameSync(file, file + ".bak"); wait(60); fs.writeFileSync(file, text("saved"));`,
  "saves twice in 10 ms": `
    fs.writeFileSync(file, text("almost")); wait(8);
    fs.writeFileSync(file + "~", text("saved")); fs.renameSync(file + "~", file);`,
  "replaces its directory": `
    const directory = path.dirname(file);
    fs.renameSync(directory, directory + "-old"); fs.mkdirSync(directory); fs.writeFileSync(file, text("saved"));`,
};

test.each(Object.entries(saves))(
  "a save by an editor that %s is noticed, and the next one too, and no half saved file is ever used",
  async (_how, script) => {
    const { cwd, agentDir, global, project } = createDirectories();
    const { manager, changes } = await openWatched(cwd, agentDir);
    await runInEditor(global, script);
    await expect.poll(() => manager.get().theme).toBe("saved");
    // What replaced the file is openWatched as well.
    await runInEditor(global, script.replaceAll("saved", "again").replaceAll("-old", "-older"));
    await expect.poll(() => manager.get().theme).toBe("again");
    await runInEditor(project, script.replaceAll("saved", "project"));
    await expect.poll(() => manager.get().theme).toBe("project");
    for (const { settings, problems } of changes) {
      expect(problems).toEqual([]);
      expect(settings.theme).toMatch(/^(saved|almost|again|project)$/);
    }
  },
);

test("files and directories that are created or removed later are noticed", async () => {
  const { cwd, agentDir, global, project } = createDirectories({ isEmpty: true });
  const { manager, changes } = await openWatched(cwd, agentDir);
  const make = `fs.mkdirSync(path.dirname(file), { recursive: true }); fs.writeFileSync(file, text("made"));`;
  await runInEditor(project, make);
  await expect.poll(() => manager.get().theme).toBe("made");
  await runInEditor(project, `fs.rmSync(path.dirname(file), { recursive: true });`);
  await expect.poll(() => manager.get().theme).toBe("system");
  await runInEditor(project, make);
  await expect.poll(() => manager.get().theme).toBe("made");
  await runInEditor(global, make.replace("made", "own"));
  await expect.poll(() => manager.getGlobal()).toEqual({ theme: "own" });
  expect(changes.flatMap(({ changed }) => changed)).toEqual(["theme", "theme", "theme"]);
});

test("the target of a link is watched, also when it is replaced", async () => {
  const { root, cwd, agentDir, global } = createDirectories();
  const dotfiles = join(root, "dotfiles");
  mkdirSync(dotfiles);
  writeFileSync(join(dotfiles, "tau.json"), "{}");
  rmSync(global);
  symlinkSync(join(dotfiles, "tau.json"), global);
  const { manager } = await openWatched(cwd, agentDir);
  for (const [how, script] of Object.entries(saves)) {
    if (how === "replaces its directory") continue;
    await runInEditor(join(dotfiles, "tau.json"), script.replaceAll("saved", how));
    await expect.poll(() => manager.get().theme).toBe(how);
  }
});

test("a file that stays broken is told after a while, the last good value stays, and mending it is seen", async () => {
  const { cwd, agentDir, global } = createDirectories();
  const { manager, changes } = await openWatched(cwd, agentDir);
  await runInEditor(global, `fs.writeFileSync(file, '{ "theme": "bro');`);
  await expect.poll(() => changes).toHaveLength(1);
  expect(changes[0]?.changed).toEqual([]);
  expect(changes[0]?.problems.map(formatFileProblem)).toEqual([
    `${global}:1:12: A string does not end. Close it with a double quote on the same line.`,
  ]);
  expect(manager.get().theme).toBe("first");
  await runInEditor(global, `fs.writeFileSync(file, text("mended"));`);
  await expect.poll(() => manager.get().theme).toBe("mended");
  expect(manager.problems).toEqual([]);
});

test("a file is read 30 ms after a change, and reported as damaged only if it still is 500 ms later", async () => {
  const { cwd, agentDir, global } = createDirectories();
  const clock = createFakeClock();
  const manager = await SettingsManager.create(cwd, agentDir, { clock });
  onTestFinished(() => manager.close());
  const problems: number[] = [];
  manager.subscribe((change) => problems.push(change.problems.length));
  await clock.advance(firstCheckMs);
  // After the first read of the watcher.
  await manager.reload();
  writeFileSync(global, "{");
  await expect.poll(() => clock.waiting).toBe(1);
  await clock.advance(30);
  // Once it was looked at, there is the timer of the second look.
  await expect.poll(() => clock.waiting).toBe(1);
  await clock.advance(499);
  expect(problems).toEqual([]);
  await clock.advance(1);
  await expect.poll(() => problems).toEqual([1]);
});

test("a listener that fails is reported and does not keep the others from being called", async () => {
  const manager = SettingsManager.inMemory();
  const themes: string[] = [];
  manager.subscribe(() => {
    throw new Error("no");
  });
  const stop = manager.subscribe(({ settings }) => themes.push(settings.theme));
  await manager.update("global", { theme: "a" });
  stop();
  await manager.update("global", { theme: "b" });
  expect(themes).toEqual(["a"]);
  expect(manager.problems.map(({ message }) => message)).toEqual(["A listener for settings failed: no"]);
});

test("after closing no listener is called and no timer is left", async () => {
  const { cwd, agentDir, global } = createDirectories();
  const clock = createFakeClock();
  const manager = await SettingsManager.create(cwd, agentDir, { clock });
  let calls = 0;
  manager.subscribe(() => calls++);
  await clock.advance(firstCheckMs);
  // After the first read of the watcher.
  await manager.reload();
  writeFileSync(global, "{");
  await expect.poll(() => clock.waiting).toBe(1);
  await clock.advance(30);
  await expect.poll(() => clock.waiting).toBe(1);
  writeFileSync(global, "{ ");
  // One for what has just happened, and one for the second look.
  await expect.poll(() => clock.waiting).toBe(2);
  await manager.close();
  expect(clock.waiting).toBe(0);
  await clock.advance(10_000);
  expect(calls).toBe(0);
});

test("processes that change different settings at the same time lose nothing, and each sees the changes of the others", async () => {
  const { root, cwd, agentDir, global } = createDirectories();
  writeFileSync(global, '{\n  // keep me\n  "theme": "first"\n}\n');
  const script = join(root, "updater.mjs");
  await build({
    stdin: {
      contents: `
        import { SettingsManager } from "./settings-manager.ts";
        const [cwd, agentDir, name] = process.argv.slice(2);
        const manager = await SettingsManager.create(cwd, agentDir);
        for (let at = 0; at < 8; at++) await manager.update("global", { shellEnv: { [name + at]: "x" }, budgets: { turns: at } });
      `,
      resolveDir: import.meta.dirname,
      loader: "ts",
    },
    outfile: script,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    mainFields: ["module", "main"],
    external: ["google-auth-library"],
    logLevel: "silent",
  });
  const { manager } = await openWatched(cwd, agentDir);
  const names = ["A", "B", "C"];
  const ends = names.map(
    (name) =>
      once(spawn(process.execPath, [script, cwd, agentDir, name], { stdio: "inherit" }), "exit") as Promise<
        [number | null]
      >,
  );
  expect((await Promise.all(ends)).map(([code]) => code)).toEqual([0, 0, 0]);
  const expected = names.flatMap((name) => Array.from({ length: 8 }, (_unused, at) => `${name}${at}`));
  await expect.poll(() => Object.keys(manager.get().shellEnv).sort()).toEqual(expected);
  expect(readFileSync(global, "utf8")).toContain("// keep me");
  expect(manager.get().theme).toBe("first");
});
