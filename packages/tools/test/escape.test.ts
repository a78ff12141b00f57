/** Nothing that a guard refuses is read or changed, whatever a path is called, and whatever is swapped on the way. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createEditTool } from "../src/files/edit.ts";
import { ToolsError } from "../src/errors.ts";
import { createFileQueue } from "../src/files/file-queue.ts";
import { createReadTool } from "../src/files/read.ts";
import { createWriteTool } from "../src/files/write.ts";
import { createSnapshots } from "../src/hashline/snapshots.ts";
import { createFiles, type Guard } from "../src/platform/files.ts";
import { isWithin } from "../src/platform/within.ts";
import { directFileSystem } from "./direct-file-system.ts";
import { scratch } from "./scratch.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

const within =
  (root: string): Guard =>
  (realPath) => {
    if (!isWithin(root, realPath)) throw new Error(`refused: ${realPath} is outside`);
  };

/** A root with links that lead out of it, and beside it what must not be touched. */
function ground() {
  const base = scratch();
  const [root, outside] = [join(base, "root"), join(base, "outside")];
  fs.mkdirSync(join(root, "deep/deeper"), { recursive: true });
  fs.mkdirSync(outside);
  fs.writeFileSync(join(outside, "secret"), "SECRET");
  fs.writeFileSync(join(root, "file"), "file");
  fs.symlinkSync("../outside/secret", join(root, "link"));
  fs.symlinkSync(join(outside, "secret"), join(root, "absolute"));
  fs.symlinkSync("link", join(root, "chain"));
  fs.symlinkSync("../outside", join(root, "door"));
  fs.symlinkSync("../../..", join(root, "deep/deeper/up"));
  fs.symlinkSync("../outside/new", join(root, "dangling"));
  fs.symlinkSync("../outside/none/new", join(root, "far"));
  return { base, root, outside };
}

/** Everything below `directory`, with content, mode and times. */
function takeSnapshot(directory: string): unknown[] {
  return fs.readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => {
    const path = join(directory, name);
    const { mode, mtimeMs, ino, nlink } = fs.lstatSync(path);
    return {
      name,
      mode,
      mtimeMs,
      ino,
      nlink,
      content: fs.lstatSync(path).isFile() ? fs.readFileSync(path, "utf8") : "",
    };
  });
}

afterEach(() => vi.unstubAllEnvs());

test("a hundred spellings of what is outside are refused, and tell nothing of it", async () => {
  const { base, root, outside } = ground();
  vi.stubEnv("HOME", base);
  const ways = [
    "../outside",
    "door",
    "./door",
    "deep/../door",
    "deep/deeper/../../door",
    "deep/deeper/up/outside",
    "deep/deeper/up/root/door",
    "deep/deeper/up/root/../outside",
    "../root/door",
    "../root/../outside",
    ".//..//outside",
    "missing/../../outside",
    "~/outside",
    "~/root/door",
    "@../outside",
    "@door",
    "@~/outside",
    outside,
    `${base}/./outside`,
    `${root}/../outside`,
    `${root}//..//outside/.`,
    `/proc/self/root${outside}`,
    `/proc/${process.pid}/root${outside}`,
    `/proc/thread-self/root${outside}`,
    `/proc/self/root/proc/self/root${outside}`,
    `/..${outside}`,
    `/../..${base}/outside`,
    `/dev/../${outside}`,
  ];
  const spellings = [
    "link",
    "absolute",
    "chain",
    "./link",
    "deep/../link",
    "deep/deeper/up/root/chain",
    "dangling",
    "far",
    ...ways.flatMap((way) => [`${way}/secret`, `${way}/./secret`, `${way}/new`, `${way}/none/new`]),
  ];
  expect(spellings.length).toBeGreaterThanOrEqual(100);
  const files = createFiles({ guard: within(root) });
  const ports = { cwd: root, files, queue: createFileQueue() };
  const [read, write] = [createReadTool({ ...ports, snapshots: createSnapshots() }), createWriteTool(ports)];
  const edit = createEditTool(ports);
  const before = takeSnapshot(outside);
  for (const path of spellings) {
    const calls = {
      read: () => read.execute("id", { path }),
      write: () => write.execute("id", { path, content: "x" }),
      edit: () => edit.execute("id", { path, edits: [{ oldText: "SECRET", newText: "x" }] }),
    };
    for (const [name, call] of Object.entries(calls)) {
      const error: unknown = await call().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      // Whether there is something or nothing, the answer is the same.
      expect(error, `${name} ${path}`).toMatchObject({ code: "denied", message: expect.stringContaining("refused: ") });
    }
  }
  for (const path of ["", "\0", "secret\0.txt"]) {
    await expect(read.execute("id", { path })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(write.execute("id", { path, content: "x" })).rejects.toMatchObject({ code: "invalid_input" });
  }
  expect(takeSnapshot(outside)).toEqual(before);
  expect((await read.execute("id", { path: "~/root/deep/../file" })).content).toMatchObject([{ text: "file" }]);
});

test("a refused path tells neither by a look nor by a failure what is there", async () => {
  const { base, root, outside } = ground();
  fs.symlinkSync("self", join(outside, "self"));
  const files = createFiles({ guard: within(root) });
  for (const name of ["outside/secret", "outside/none", "outside/secret/below", "outside/self", "outside", "none"]) {
    const path = join(base, name);
    for (const look of ["stat", "realPath", "openRead", "list"] as const) {
      await expect(files[look](path), `${look} ${name}`).rejects.toMatchObject({ code: "denied" });
    }
    await expect(files.writeWhole(path, bytes("x"))).rejects.toMatchObject({ code: "denied" });
  }
  expect((await files.stat(join(root, "file")))?.size).toBe(4);
  expect(await files.stat(join(root, "none"))).toBeUndefined();
  expect(await files.stat(join(root, "file/below"))).toBeUndefined();
  expect(await files.realPath(join(root, "none/at/all"))).toBe(join(root, "none/at/all"));
});

test("a spelling that was not meant does not refuse the one that was meant", async () => {
  const cwd = scratch();
  const root = join(cwd, "it's mine");
  fs.mkdirSync(root);
  fs.writeFileSync(join(root, "file"), "here");
  const files = createFiles({ guard: within(root) });
  const read = createReadTool({ cwd, files, snapshots: createSnapshots() });
  const write = createWriteTool({ cwd, files, queue: createFileQueue() });
  expect((await read.execute("id", { path: "@it's mine/file" })).content).toMatchObject([{ text: "here" }]);
  await expect(read.execute("id", { path: "it's mine/none" })).rejects.toMatchObject({ code: "not_found" });
  await write.execute("id", { path: "@it's mine/new", content: "new" });
  expect(fs.readFileSync(join(root, "new"), "utf8")).toBe("new");
});

describe("a swap", () => {
  const swappers: ChildProcess[] = [];
  const made: string[] = [];
  afterEach(async () => {
    for (const child of swappers.splice(0)) {
      const end = new Promise((resolve) => child.once("exit", resolve));
      // Nothing can be removed while it still makes things.
      if (child.kill("SIGKILL")) await end;
    }
    for (const path of made.splice(0)) fs.rmSync(path, { recursive: true });
  });

  /** It is the calls that race, not the disk. */
  function inMemory(): string {
    const path = fs.mkdtempSync(join(fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tau-tools-"));
    made.push(path);
    return path;
  }

  /** Turns names in `root` from files and directories into links to outside and back, as fast as it can. */
  async function startSwapping(root: string, outside: string): Promise<ChildProcess> {
    const script = `
      const fs = require("node:fs");
      const [root, outside] = process.argv.slice(1);
      process.chdir(root);
      const attempt = (work) => { try { work(); } catch (error) { if (!error.code) throw error; } };
      const put = (name, make) => {
        // What the other side has made meanwhile goes too.
        attempt(() => fs.rmSync(name, { recursive: true, force: true }));
        attempt(make);
      };
      process.send("ready");
      for (let at = 0; ; at++) {
        put("file", () => fs.symlinkSync(outside + "/secret", "file"));
        put("dir", () => fs.symlinkSync(outside, "dir"));
        put("new", () => fs.symlinkSync(outside, "new"));
        put("file", () => fs.writeFileSync("file", "inside"));
        put("dir", () => { fs.mkdirSync("dir"); fs.writeFileSync("dir/secret", "inside"); });
        put("new", () => { if (at % 2) fs.mkdirSync("new/dir", { recursive: true }); });
        if (at % 2) put("new/dir", () => fs.symlinkSync(outside, "new/dir"));
      }`;
    const child = spawn(process.execPath, ["-e", script, root, outside], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    swappers.push(child);
    await new Promise((resolve) => child.once("message", resolve));
    return child;
  }

  test("of files, links and directories leads nowhere while files are read, looked at, listed and written", async () => {
    const loops = process.env["TAU_LONG"] ? 100_000 : 20_000;
    const base = inMemory();
    const [root, outside] = [join(base, "root"), join(base, "outside")];
    fs.mkdirSync(root);
    fs.mkdirSync(outside);
    fs.writeFileSync(join(outside, "secret"), "SECRET, of another size");
    fs.writeFileSync(join(outside, "only outside"), "");
    const before = takeSnapshot(outside);
    const { size } = fs.statSync(join(outside, "secret"));
    const files = createFiles({ guard: within(root), fileSystem: directFileSystem });
    const leaks = new Set<string>();
    const buffer = Buffer.alloc(100);
    const read = async (path: string) => {
      const file = await files.openRead(path);
      const count = await file.read(buffer, 0);
      await file.close();
      if (buffer.subarray(0, count).includes("SECRET")) leaks.add(`read ${path}`);
    };
    const look = async (path: string) => {
      if ((await files.stat(path))?.size === size) leaks.add(`stat ${path}`);
    };
    const list = async (path: string) => {
      if ((await files.list(path)).some(({ name }) => name === "only outside")) leaks.add(`list ${path}`);
    };
    const write = (path: string) => files.writeWhole(path, bytes("written"));
    const on = (names: readonly string[], ...works: ((path: string) => Promise<unknown>)[]) =>
      names.flatMap((name) => works.map((work) => () => work(join(root, name))));
    const works = [
      ...on(["file", "dir/secret"], read, look, read, look, read, look, read),
      ...on(["dir"], list, list),
      ...on(["file", "dir/secret", "dir/made", "new/dir/made", "new/dir/er/made"], write),
    ];
    const swapper = await startSwapping(root, outside);
    const counts: Record<string, number> = {};
    for (let loop = 0; loop < loops; loop++) {
      const code = await works[loop % works.length]!().then(
        () => "done",
        (error: unknown) => (error instanceof ToolsError ? error.code : String(error)),
      );
      counts[code] = (counts[code] ?? 0) + 1;
    }
    expect(swapper.exitCode).toBeNull();
    expect([...leaks]).toEqual([]);
    expect(takeSnapshot(outside)).toEqual(before);
    // Otherwise nothing was raced for.
    expect(counts["done"]).toBeGreaterThan(loops / 100);
    expect(counts["denied"]).toBeGreaterThan(loops / 100);
  });
});

describe("paths that are not files", () => {
  test("directories, pipes, sockets, devices and endless files are each refused without waiting for them", async () => {
    const root = scratch();
    execFileSync("mkfifo", [join(root, "pipe")]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, "socket"), resolve));
    const files = createFiles();
    const read = createReadTool({ cwd: root, files, snapshots: createSnapshots() });
    const trace = "/sys/kernel/tracing/trace_pipe";
    try {
      for (const path of [
        root,
        join(root, "pipe"),
        join(root, "socket"),
        "/dev/zero",
        "/dev/tty",
        "/proc/kmsg",
        trace,
      ]) {
        if (!fs.existsSync(path)) {
          console.log(`skipped: there is no ${path} here`);
          continue;
        }
        for (const call of [() => files.openRead(path), () => read.execute("id", { path })]) {
          await expect(call()).rejects.toMatchObject({ code: expect.stringMatching(/not_a_file|denied/) });
        }
        if (path.startsWith(root)) {
          await expect(files.writeWhole(path, bytes("x"))).rejects.toMatchObject({ code: "not_a_file" });
        }
      }
    } finally {
      server.close();
    }
  });
});

describe("a hard link", () => {
  test("to a file outside: the guard is told, and a write leaves the other name its content", async () => {
    const { root, outside } = ground();
    const shared = join(root, "shared");
    fs.linkSync(join(outside, "secret"), shared);
    const asked: unknown[] = [];
    const files = createFiles({
      guard: (realPath, access, { hardLinks }) => void asked.push([basename(realPath), access, hardLinks]),
    });
    await (await files.openRead(shared)).close();
    await files.stat(shared);
    await files.writeWhole(shared, bytes("ours"));
    await files.writeWhole(shared, bytes("ours again"));
    await files.list(root);
    expect(asked).toEqual([
      ["shared", "read", 2],
      ["shared", "read", 2],
      ["shared", "write", 2],
      ["shared", "write", 1],
      ["root", "read", 1],
    ]);
    expect(fs.readFileSync(join(outside, "secret"), "utf8")).toBe("SECRET");
    expect(fs.readFileSync(shared, "utf8")).toBe("ours again");
  });

  test("is left alone by the tools too, when they write or edit under the other name", async () => {
    const { root, outside } = ground();
    fs.linkSync(join(outside, "secret"), join(root, "one"));
    fs.linkSync(join(outside, "secret"), join(root, "two"));
    const ports = { cwd: root, files: createFiles(), queue: createFileQueue() };
    await createWriteTool(ports).execute("id", { path: "one", content: "x" });
    const edits = [{ oldText: "SECRET", newText: "x" }];
    await createEditTool(ports).execute("id", { path: "two", edits });
    expect(fs.readFileSync(join(outside, "secret"), "utf8")).toBe("SECRET");
    expect(fs.statSync(join(outside, "secret")).nlink).toBe(1);
    expect(fs.readFileSync(join(root, "two"), "utf8")).toBe("x");
  });

  test("can be refused by a guard, also with an error of its own kind", async () => {
    const { root, outside } = ground();
    fs.linkSync(join(outside, "secret"), join(root, "shared"));
    const guard: Guard = (_path, _access, { hardLinks }) => {
      if (hardLinks > 1) throw new RangeError("many names");
    };
    const files = createFiles({ guard });
    const refusal = { name: "ToolsError", code: "denied", message: "many names" };
    await expect(files.openRead(join(root, "shared"))).rejects.toMatchObject(refusal);
    await expect(files.writeWhole(join(root, "shared"), bytes("x"))).rejects.toMatchObject(refusal);
  });
});
