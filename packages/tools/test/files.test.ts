import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createEditTool } from "../src/files/edit.ts";
import { createFileQueue } from "../src/files/file-queue.ts";
import { createFiles, type Files, type Guard } from "../src/platform/files.ts";
import { type FileSystem, nodeFileSystem, type OpenHandle } from "../src/platform/file-system.ts";
import { getWriter, nameTemporary } from "../src/platform/temporary-name.ts";
import { thisProcess } from "../src/platform/process-mark.ts";
import { withEveryFault } from "../src/testing/faults.ts";
import { directFileSystem } from "./direct-file-system.ts";
import { scratch } from "./scratch.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("writing whole files", () => {
  test("creates directories, and says whether the file is new", async () => {
    const root = scratch();
    const files = createFiles();
    const path = join(root, "a/b/c.txt");
    expect(await files.writeWhole(path, bytes("one"))).toMatchObject({ realPath: path, created: true });
    expect(await files.writeWhole(path, bytes("two"))).toMatchObject({ realPath: path, created: false });
    expect(readFileSync(path, "utf8")).toBe("two");
    expect(readdirSync(join(root, "a/b"))).toEqual(["c.txt"]);
  });

  test("what a killed process left is removed by the next write beside it, and what others write is not", async () => {
    const root = scratch();
    const ours = thisProcess();
    const dead = { ...ours, pid: spawnSync("true").pid };
    const kept = [
      nameTemporary(ours, "living"),
      nameTemporary({ ...dead, bootId: "another-machine" }, "far"),
      ".tau-old.tmp",
      ".tau-1.2.3.txt",
    ];
    for (const name of [...kept, nameTemporary(dead, "dead")]) writeFileSync(join(root, name), "");
    const files = createFiles();
    await files.writeWhole(join(root, "f"), bytes("one"));
    expect(readdirSync(root).sort()).toEqual([...kept, "f"].sort());
    writeFileSync(join(root, nameTemporary(dead, "later")), "");
    await files.writeWhole(join(root, "f"), bytes("two"));
    expect(readdirSync(root)).toHaveLength(kept.length + 2);
  });

  test("the name of a temporary file tells which process writes it", async () => {
    const root = scratch();
    let left = "";
    const rename = async (from: string) => {
      left = basename(from);
      throw Object.assign(new Error("EIO"), { code: "EIO" });
    };
    const files = createFiles({ fileSystem: { ...nodeFileSystem, rename } });
    await expect(files.writeWhole(join(root, "f"), bytes("x"))).rejects.toMatchObject({ code: "failed" });
    expect(getWriter(left, thisProcess())).toEqual(thisProcess());
  });

  test("a port that maps paths names what is open itself, and nothing is asked of /proc", async () => {
    const root = scratch();
    mkdirSync(join(root, "sub"));
    writeFileSync(join(root, "sub/f"), "one");
    const opened = new Map<OpenHandle, string>();
    const asked: string[] = [];
    // What is at /remote for others is below the root here.
    const below = (path: string) => {
      asked.push(path);
      return join(root, path.replace(/^\/remote/, ""));
    };
    const mapped: FileSystem = {
      ...nodeFileSystem,
      async open(path, flags, mode) {
        const handle = await nodeFileSystem.open(below(path), flags, mode);
        opened.set(handle, path);
        return handle;
      },
      getPath: async (handle) => opened.get(handle)!,
      stat: (path) => nodeFileSystem.stat(below(path)),
      lstat: (path) => nodeFileSystem.lstat(below(path)),
      async realpath(path) {
        await nodeFileSystem.stat(below(path));
        return path;
      },
      readdir: (path) => nodeFileSystem.readdir(below(path)),
      mkdir: (path, options) => nodeFileSystem.mkdir(below(path), options),
      rename: (from, to) => nodeFileSystem.rename(below(from), below(to)),
      unlink: (path) => nodeFileSystem.unlink(below(path)),
    };
    const guarded: string[] = [];
    const files = createFiles({ fileSystem: mapped, guard: (path) => void guarded.push(path) });
    expect((await files.readWhole("/remote/sub/f", 100)).realPath).toBe("/remote/sub/f");
    expect(await files.writeWhole("/remote/new/g", bytes("two"))).toMatchObject({
      realPath: "/remote/new/g",
      created: true,
    });
    expect(readFileSync(join(root, "new/g"), "utf8")).toBe("two");
    expect((await files.stat("/remote/sub"))?.isDirectory()).toBe(true);
    expect((await files.list("/remote/sub")).map(({ name }) => name)).toEqual(["f"]);
    expect(guarded.every((path) => path.startsWith("/remote"))).toBe(true);
    expect(asked.filter((path) => path.startsWith("/proc"))).toEqual([]);
  });

  test("keeps the mode, and a link stays a link", async () => {
    const root = scratch();
    const files = createFiles();
    const target = join(root, "script.sh");
    writeFileSync(target, "old");
    chmodSync(target, 0o751);
    symlinkSync("script.sh", join(root, "link"));
    const { realPath } = await files.writeWhole(join(root, "link"), bytes("new"));
    expect(realPath).toBe(target);
    expect(readFileSync(target, "utf8")).toBe("new");
    expect(statSync(target).mode & 0o7777).toBe(0o751);
    expect(lstatSync(join(root, "link")).isSymbolicLink()).toBe(true);
  });

  test("a link to a file that does not exist yet leads to the new file", async () => {
    const root = scratch();
    symlinkSync("later/file", join(root, "link"));
    await createFiles().writeWhole(join(root, "link"), bytes("x"));
    expect(readFileSync(join(root, "later/file"), "utf8")).toBe("x");
  });

  test("directories and devices are not replaced", async () => {
    const root = scratch();
    await expect(createFiles().writeWhole(root, bytes("x"))).rejects.toThrow(/is a directory/);
    await expect(createFiles().writeWhole("/dev/null", bytes("x"))).rejects.toThrow(/is a device/);
  });

  test("whatever call fails, the file has its old content or the new, and no rubbish is left beside it", async () => {
    for (const lasts of ["once", "forever"] as const) {
      const points = await withEveryFault(
        nodeFileSystem,
        async (fileSystem) => {
          const root = scratch();
          const path = join(root, "file");
          writeFileSync(path, "old");
          const outcome = await createFiles({ fileSystem })
            .writeWhole(path, bytes("new"))
            .then(
              () => "written",
              () => "failed",
            );
          const content = readFileSync(path, "utf8");
          expect(["old", "new"]).toContain(content);
          if (outcome === "written") expect(content).toBe("new");
          if (lasts === "once") expect(readdirSync(root)).toEqual(["file"]);
        },
        { lasts },
      );
      expect(points).toBeGreaterThan(8);
    }
  });
});

test("whatever call fails while directories are made, the file is whole or not there", async () => {
  for (const lasts of ["once", "forever"] as const) {
    const points = await withEveryFault(
      nodeFileSystem,
      async (fileSystem) => {
        const root = scratch();
        const path = join(root, "a/b/file");
        const outcome = await createFiles({ fileSystem })
          .writeWhole(path, bytes("new"))
          .then(
            () => "written",
            () => "failed",
          );
        const content = existsSync(path) ? readFileSync(path, "utf8") : undefined;
        expect(outcome === "written" ? ["new"] : [undefined, "new"]).toContain(content);
        if (lasts === "forever") return;
        const names = readdirSync(root, { recursive: true, encoding: "utf8" });
        expect(["a", "a/b", "a/b/file"]).toEqual(expect.arrayContaining(names));
      },
      { lasts },
    );
    expect(points).toBeGreaterThan(15);
  }
});

test("a failure in any call leaves nothing open", async () => {
  const open = () => readdirSync("/proc/self/fd").length;
  const root = scratch();
  writeFileSync(join(root, "file"), "old");
  const before = open();
  let most = 0;
  const real = { ...directFileSystem, copyAttributes: async () => false };
  await withEveryFault(real, async (fileSystem, { at }) => {
    const files = createFiles({ fileSystem });
    const works = [
      () => files.writeWhole(join(root, `${at}/b/file`), bytes("new")),
      () => files.writeWhole(join(root, "file"), bytes("new")),
      () => files.readWhole(join(root, "file"), 100),
      () => files.stat(join(root, "file")),
      () => files.list(root),
    ];
    for (const work of works) await work().catch(() => undefined);
    most = Math.max(most, open() - before);
  });
  expect(most).toBe(0);
});

describe("the guard", () => {
  const inside =
    (root: string): Guard =>
    (realPath) => {
      if (realPath !== root && !realPath.startsWith(`${root}/`)) throw new Error(`outside: ${realPath}`);
    };

  test("is asked with the real path, however the path was spelled", async () => {
    const base = scratch();
    const root = join(base, "root");
    mkdirSync(join(root, "deep"), { recursive: true });
    writeFileSync(join(base, "secret"), "s");
    writeFileSync(join(root, "file"), "f");
    symlinkSync("../secret", join(root, "link"));
    symlinkSync(base, join(root, "deep", "up"));
    const files = createFiles({ guard: inside(root) });
    const escapes = [
      "../secret",
      "deep/../../secret",
      "link",
      "deep/up/secret",
      "./link",
      "deep/up/root/../secret",
      `/proc/self/root${base}/secret`,
      `${root}/../secret`,
      `${root}//..//secret`,
    ];
    for (const escape of escapes) {
      const path = escape.startsWith("/") ? escape : `${root}/${escape}`;
      await expect(files.openRead(path)).rejects.toThrow(/outside/);
      await expect(files.writeWhole(path, bytes("x"))).rejects.toThrow(/outside/);
    }
    await expect(files.list(join(root, "deep/up"))).rejects.toThrow(/outside/);
    expect(readFileSync(join(base, "secret"), "utf8")).toBe("s");
    const file = await files.openRead(join(root, "deep/up/root/file"));
    expect(file.realPath).toBe(join(root, "file"));
    await file.close();
  });

  test("a directory that is swapped for a link while a file is written leads nowhere", async () => {
    const base = scratch();
    const root = join(base, "root");
    mkdirSync(join(root, "dir"), { recursive: true });
    mkdirSync(join(base, "outside"));
    let swapped = false;
    const fileSystem: typeof nodeFileSystem = {
      ...nodeFileSystem,
      async open(path, ...rest) {
        // Every check by name has passed; now the directory itself is opened.
        if (!swapped && path === join(root, "dir")) {
          swapped = true;
          renameSync(join(root, "dir"), join(root, "gone"));
          symlinkSync(join(base, "outside"), join(root, "dir"));
        }
        return await nodeFileSystem.open(path, ...rest);
      },
    };
    const files = createFiles({ guard: inside(root), fileSystem });
    await expect(files.writeWhole(join(root, "dir/file"), bytes("x"))).rejects.toThrow(/outside|changed/);
    expect(swapped).toBe(true);
    expect(existsSync(join(base, "outside/file"))).toBe(false);
  });
});

describe("what is no file", () => {
  test("a path that leads nowhere is explained", async () => {
    const root = scratch();
    symlinkSync("circle", join(root, "circle"));
    writeFileSync(join(root, "file"), "");
    const files = createFiles();
    await expect(files.openRead(join(root, "nope"))).rejects.toMatchObject({ code: "not_found" });
    await expect(files.openRead(join(root, "file/below"))).rejects.toThrow(/part of .* is a file/);
    await expect(files.openRead(join(root, "circle"))).rejects.toThrow(/circle/);
    await expect(files.list(join(root, "file"))).rejects.toMatchObject({ code: "not_a_directory" });
  });

  test("files that say they are empty and are not are read all the same", async () => {
    const { bytes: read } = await createFiles().readWhole("/proc/self/status", 1_000_000);
    expect(read.length).toBeGreaterThan(100);
    await expect(createFiles().readWhole("/proc/self/status", 10)).rejects.toMatchObject({ code: "too_large" });
  });
});

describe("reading what is expected", () => {
  test("gives back the expected bytes where they are there, and others where others are", async () => {
    const path = join(scratch(), "file");
    const files = createFiles();
    const holding = async (text: string, expected: Buffer) => {
      writeFileSync(path, text);
      return (await files.readWhole(path, 1_000_000, { expected })).bytes;
    };
    for (const size of [0, 10, 200_000, 70_000]) {
      const old = Buffer.alloc(size, "a");
      const [changed, longer] = ["b".repeat(size), "a".repeat(size + 1)];
      expect(await holding(old.toString(), old)).toBe(old);
      expect((await holding(changed, old)).toString()).toBe(changed);
      expect((await holding(longer, old)).toString()).toBe(longer);
    }
  });

  test("what was handed out is never read into again", async () => {
    const path = join(scratch(), "file");
    const files = createFiles();
    const texts = ["one", "two", "six", "ten"];
    const all: Buffer[] = [];
    for (const text of texts) {
      writeFileSync(path, text);
      // First as expected, so that there is a spare buffer; then not, so that it is handed out.
      await files.readWhole(path, 100, { expected: Buffer.from(text) });
      all.push((await files.readWhole(path, 100, { expected: Buffer.from("???") })).bytes);
    }
    expect(all.map(String)).toEqual(texts);
  });

  test("the limit holds all the same", async () => {
    const path = join(scratch(), "file");
    writeFileSync(path, "0123456789");
    const reading = createFiles().readWhole(path, 9, { expected: Buffer.from("0123456789") });
    await expect(reading).rejects.toMatchObject({ code: "too_large" });
  });
});

describe("writing what was read before", () => {
  test("is refused when another program changed, replaced or removed the file meanwhile", async () => {
    const files = createFiles();
    for (const meddle of [
      (path: string) => writeFileSync(path, "theirs"),
      (path: string) => {
        rmSync(path);
        writeFileSync(path, "mine?");
      },
      (path: string) => rmSync(path),
    ]) {
      const path = join(scratch(), "file");
      writeFileSync(path, "mine?");
      const { stamp } = await files.readWhole(path, 100);
      meddle(path);
      const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
      const writing = files.writeWhole(path, Buffer.from("ours"), { ifUnchanged: stamp });
      await expect(writing).rejects.toMatchObject({ code: "overtaken" });
      expect(existsSync(path) ? readFileSync(path, "utf8") : undefined).toBe(before);
      expect(readdirSync(dirname(path))).toHaveLength(before === undefined ? 0 : 1);
    }
  });

  test("an edit that is overtaken is made again, on what is there then", async () => {
    const cwd = scratch();
    const path = join(cwd, "file");
    writeFileSync(path, "one\ntwo\n");
    const real = createFiles();
    let overtakes = 1;
    const files: Files = {
      ...real,
      async writeWhole(...args) {
        if (overtakes-- > 0) writeFileSync(path, `zero\n${readFileSync(path, "utf8")}`);
        return await real.writeWhole(...args);
      },
    };
    const edit = createEditTool({ cwd, files, queue: createFileQueue() });
    const args = { path: "file", edits: [{ oldText: "two", newText: "TWO" }] };
    await edit.execute("id", args);
    expect(readFileSync(path, "utf8")).toBe("zero\none\nTWO\n");
    overtakes = 100;
    await expect(edit.execute("id", { ...args, edits: [{ oldText: "one", newText: "ONE" }] })).rejects.toMatchObject({
      code: "overtaken",
    });
    expect(readFileSync(path, "utf8")).toBe("zero\nzero\nzero\nzero\none\nTWO\n");
  });
});
