/** Tests which properties a file keeps when its content is replaced. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createEditTool } from "../src/files/edit.ts";
import { createFileQueue } from "../src/files/file-queue.ts";
import { type FileSystem, nodeFileSystem } from "../src/platform/file-system.ts";
import { createFiles } from "../src/platform/files.ts";
import { keptMode } from "../src/platform/replace.ts";
import { withEveryFault } from "../src/testing/faults.ts";
import { bundleProgram } from "./program.ts";
import { inScratch, scratch } from "./scratch.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Node cannot set attributes; Python can. */
const python = (code: string, ...args: string[]) => execFileSync("python3", ["-c", `import os, sys\n${code}`, ...args]);

function whyNoAttributes(): string | undefined {
  if (process.platform !== "linux") return "attributes are kept on Linux only";
  if (spawnSync("python3", ["-c", "import os; os.setxattr"]).status !== 0)
    return "there is no python3 to set attributes";
  if (spawnSync("/bin/cp", ["--attributes-only", "--help"]).status !== 0) return "there is no GNU cp";
  const canSet = inScratch((directory) => {
    const probe = join(directory, "probe");
    fs.writeFileSync(probe, "");
    return spawnSync("python3", ["-c", `import os, sys\n${setAttributes}`, probe]).status === 0;
  });
  return canSet ? undefined : "the file system takes no attributes";
}

/** A note, and an access list that lets user 12345 read. */
const setAttributes = `
import struct
entry = lambda tag, rights, id = 0xffffffff: struct.pack("<HHI", tag, rights, id)
list = struct.pack("<I", 2) + entry(1, 6) + entry(2, 4, 12345) + entry(4, 4) + entry(16, 4) + entry(32, 0)
os.setxattr(sys.argv[1], "user.note", b"kept")
os.setxattr(sys.argv[1], "system.posix_acl_access", list)`;

const printAttributes = "print({name: os.getxattr(sys.argv[1], name) for name in sorted(os.listxattr(sys.argv[1]))})";

const getAttributes = (path: string): string => python(printAttributes, path).toString();

/** Says what the file has then. */
const giveAttributes = (path: string): string => python(`${setAttributes}\n${printAttributes}`, path).toString();

const reason = whyNoAttributes();
if (reason) console.log(`skipped: ${reason}`);

describe.skipIf(reason)("attributes and access lists", () => {
  test("are kept by every write and edit, with the mode", async () => {
    const cwd = scratch();
    const path = join(cwd, "file");
    fs.writeFileSync(path, "one", { mode: 0o640 });
    const before = giveAttributes(path);
    expect(before).toContain("user.note");
    expect(before).toContain("system.posix_acl_access");
    const { mode } = fs.statSync(path);
    const files = createFiles();
    await files.writeWhole(path, bytes("two"));
    expect(getAttributes(path)).toBe(before);
    await createEditTool({ cwd, files, queue: createFileQueue() }).execute("id", {
      path,
      edits: [{ oldText: "two", newText: "three" }],
    });
    expect(getAttributes(path)).toBe(before);
    expect(fs.statSync(path).mode).toBe(mode);
    expect(fs.readFileSync(path, "utf8")).toBe("three");
  });

  test("are kept on a file that may not be written to, and not given to a new file", async () => {
    const cwd = scratch();
    const path = join(cwd, "file");
    fs.writeFileSync(path, "one");
    giveAttributes(path);
    fs.chmodSync(path, 0o440);
    const before = getAttributes(path);
    const { mode } = fs.statSync(path);
    const files = createFiles();
    await files.writeWhole(path, bytes("two"));
    await files.writeWhole(join(cwd, "other"), bytes("new"));
    expect(getAttributes(path)).toBe(before);
    expect(fs.statSync(path).mode).toBe(mode);
    expect(getAttributes(join(cwd, "other")).trim()).toBe("{}");
  });

  test("are looked for once in a file that has none, and again when another program changed it", async () => {
    const path = join(scratch(), "file");
    fs.writeFileSync(path, "");
    let looks = 0;
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      async copyAttributes(from, to) {
        looks++;
        return await nodeFileSystem.copyAttributes!(from, to);
      },
    };
    const files = createFiles({ fileSystem });
    for (let at = 0; at < 5; at++) await files.writeWhole(path, bytes(String(at)));
    expect(looks).toBe(1);
    await files.writeWhole(`${path}.new`, bytes("1"));
    await files.writeWhole(`${path}.new`, bytes("2"));
    expect(looks).toBe(1);
    const before = giveAttributes(path);
    for (let at = 0; at < 3; at++) await files.writeWhole(path, bytes(String(at)));
    expect(getAttributes(path)).toBe(before);
    expect(looks).toBe(4);
  });

  test("are kept on a file that took the name of a written one at once", async () => {
    const path = join(scratch(), "file");
    const foreign = `${path}.foreign`;
    fs.writeFileSync(path, "one");
    fs.writeFileSync(foreign, "not ours");
    const before = giveAttributes(foreign);
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      async rename(from, to) {
        await nodeFileSystem.rename(from, to);
        if (fs.existsSync(foreign)) fs.renameSync(foreign, path);
      },
    };
    const files = createFiles({ fileSystem });
    await files.writeWhole(path, bytes("two"));
    expect(fs.readFileSync(path, "utf8")).toBe("not ours");
    await files.writeWhole(path, bytes("three"));
    expect(getAttributes(path)).toBe(before);
  });

  test("whatever call fails while they are kept, the content is the old or the new", async () => {
    const root = scratch();
    const path = join(root, "file");
    fs.writeFileSync(path, "");
    const before = giveAttributes(path);
    const points = await withEveryFault(nodeFileSystem, async (fileSystem) => {
      fs.writeFileSync(path, "old");
      const outcome = await createFiles({ fileSystem })
        .writeWhole(path, bytes("new"))
        .then(
          () => "written",
          () => "failed",
        );
      expect(outcome === "written" ? ["new"] : ["old", "new"]).toContain(fs.readFileSync(path, "utf8"));
      expect(fs.readdirSync(root)).toEqual(["file"]);
    });
    expect(getAttributes(path)).toBe(before);
    expect(points).toBeGreaterThan(15);
  });
});

describe("owner and mode", () => {
  test.each([
    ["all is as it was", 0o6751, { uid: 1, gid: 2 }, 0o6751],
    ["the owner is another one", 0o6751, { uid: 9, gid: 2 }, 0o751],
    ["the group is another one", 0o2664, { uid: 1, gid: 9 }, 0o644],
    ["the group is another one that would see more", 0o660, { uid: 1, gid: 9 }, 0o600],
    ["the group is another one that sees no less", 0o707, { uid: 1, gid: 9 }, 0o707],
    ["both are others", 0o7775, { uid: 9, gid: 9 }, 0o1755],
  ])("when %s, mode %o", (_when, mode, now, kept) => {
    expect(keptMode({ mode: 0o100000 | mode, uid: 1, gid: 2 }, now).toString(8)).toBe(kept.toString(8));
  });

  const isRoot = process.getuid?.() === 0;
  if (!isRoot) console.log("skipped: only root can make files of other owners");

  test.skipIf(!isRoot)(
    "a user who may not give files away keeps the group where possible, and gives no more rights",
    async () => {
      const directory = scratch();
      const script = await bundleProgram(
        join(directory, "write.mjs"),
        `import { createFiles } from "../src/platform/files.ts";
        for (const path of process.argv.slice(2)) await createFiles().writeWhole(path, Buffer.from("new"));`,
      );
      const [uid, gid] = [12_345, 12_346];
      // New files in it get another group than ours.
      const shared = join(directory, "shared");
      fs.mkdirSync(shared);
      fs.chownSync(shared, 0, 777);
      fs.chmodSync(directory, 0o755);
      fs.chmodSync(shared, 0o2777);
      const cases = [
        { name: "ours", owner: [uid, gid], mode: 0o4755, after: [uid, gid, 0o4755] },
        { name: "others", owner: [0, gid], mode: 0o6775, after: [uid, gid, 0o775] },
        { name: "foreign", owner: [uid, 888], mode: 0o664, after: [uid, 777, 0o644] },
      ] as const;
      for (const { name, owner, mode } of cases) {
        fs.writeFileSync(join(shared, name), "old");
        fs.chownSync(join(shared, name), owner[0], owner[1]);
        fs.chmodSync(join(shared, name), mode);
      }
      execFileSync(process.execPath, [script, ...cases.map(({ name }) => join(shared, name))], { uid, gid });
      for (const { name, after } of cases) {
        const stats = fs.statSync(join(shared, name));
        expect([name, stats.uid, stats.gid, stats.mode & 0o7777]).toEqual([name, ...after]);
        expect(fs.readFileSync(join(shared, name), "utf8")).toBe("new");
      }
    },
  );
});

test("a program can be executed whenever it is there, also while it is replaced again and again", async () => {
  const root = scratch();
  const path = join(root, "program");
  const files = createFiles();
  const program = bytes("#!/bin/sh\nexit 0\n");
  fs.writeFileSync(path, program, { mode: 0o755 });
  // Another process: a child of ours would for a moment have our files open too.
  const loop = 'until [ -e "$1/stop" ]; do "$1/program" && echo ran || echo refused; done';
  const child = spawn("sh", ["-c", loop, "sh", root], { stdio: ["ignore", "pipe", "ignore"] });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += String(chunk)));
  while (said === "") await new Promise((resolve) => child.stdout.once("data", resolve));
  for (let turn = 0; turn < 300; turn++) await files.writeWhole(path, program);
  fs.writeFileSync(join(root, "stop"), "");
  await new Promise((resolve) => child.once("close", resolve));
  expect(new Set(said.trim().split("\n"))).toEqual(new Set(["ran"]));
});
