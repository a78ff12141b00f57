import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { TextContent } from "@tau/ai";
import { describe, expect, test } from "vitest";
import { ToolsError } from "../src/errors.ts";
import { createEditTool } from "../src/files/edit.ts";
import { createFileQueue } from "../src/files/file-queue.ts";
import { createWriteTool } from "../src/files/write.ts";
import { type FileSystem, nodeFileSystem } from "../src/platform/file-system.ts";
import { createFiles } from "../src/platform/files.ts";
import { withEveryFault } from "../src/testing/faults.ts";
import { scratch } from "./scratch.ts";

const write = async (cwd: string, path: string, content: string, files = createFiles()) => {
  const tool = createWriteTool({ cwd, files, queue: createFileQueue() });
  const result = await tool.execute("id", { path, content });
  return { text: (result.content[0] as TextContent).text, details: result.details! };
};

describe("other processes", () => {
  const createTool = (cwd: string, fileSystem: Partial<FileSystem>) => {
    const files = createFiles({ fileSystem: { ...nodeFileSystem, ...fileSystem } });
    const tool = createWriteTool({ cwd, files, queue: createFileQueue(), seen: new Map() });
    return (content: string) => tool.execute("id", { path: "f", content });
  };

  test("a file that another process creates meanwhile is not replaced", async () => {
    const cwd = scratch();
    const tool = createTool(cwd, {
      open(path, flags, mode) {
        if (path.includes(".tau-")) writeFileSync(join(cwd, "f"), "precious");
        return nodeFileSystem.open(path, flags, mode);
      },
    });
    await expect(tool("ours")).rejects.toMatchObject({ code: "overtaken" });
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("precious");
    expect(readdirSync(cwd)).toEqual(["f"]);
  });

  test("what another process writes right after is not known to the model", async () => {
    const cwd = scratch();
    let isFirst = true;
    const tool = createTool(cwd, {
      async rename(from, to) {
        await nodeFileSystem.rename(from, to);
        if (isFirst) writeFileSync(join(cwd, "f"), "precious");
        isFirst = false;
      },
    });
    await tool("ours");
    await expect(tool("ours again")).rejects.toMatchObject({ code: "unread" });
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("precious");
  });
});

describe("writing", () => {
  test("the root of the file system is refused as a directory", async () => {
    await expect(write("/", "/", "x")).rejects.toMatchObject({ code: "not_a_file" });
  });

  test("creates the file and its directories, and says what was written", async () => {
    const cwd = scratch();
    expect(await write(cwd, "a/b/c.txt", "one\ntwö")).toEqual({
      text: "Created a/b/c.txt: 2 lines (8 B).",
      details: { path: join(cwd, "a/b/c.txt"), bytes: 8, lines: 2, isNew: true },
    });
    expect(readFileSync(join(cwd, "a/b/c.txt"), "utf8")).toBe("one\ntwö");
  });

  test("replaces all of a file, and keeps its mode and the link that leads to it", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "script"), "a long old content");
    chmodSync(join(cwd, "script"), 0o750);
    symlinkSync("script", join(cwd, "link"));
    expect((await write(cwd, "link", "new\n")).text).toBe(
      `Replaced the content of link (${join(cwd, "script")}): 1 line (4 B).`,
    );
    expect(readFileSync(join(cwd, "script"), "utf8")).toBe("new\n");
    expect(statSync(join(cwd, "script")).mode & 0o7777).toBe(0o750);
    expect(lstatSync(join(cwd, "link")).isSymbolicLink()).toBe(true);
  });

  test("an empty content is an empty file", async () => {
    const cwd = scratch();
    expect((await write(cwd, "empty", "")).text).toBe("Created empty: 0 lines (0 B).");
    expect(readFileSync(join(cwd, "empty"))).toHaveLength(0);
  });

  test("what cannot be written is explained", async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, "dir"));
    writeFileSync(join(cwd, "file"), "x");
    symlinkSync("circle", join(cwd, "circle"));
    await expect(write(cwd, "dir", "x")).rejects.toMatchObject({ code: "not_a_file" });
    await expect(write(cwd, "file/below", "x")).rejects.toMatchObject({ code: "not_a_directory" });
    await expect(write(cwd, "file/below/deep", "x")).rejects.toMatchObject({ name: "ToolsError" });
    await expect(write(cwd, "circle", "x")).rejects.toThrow(/circle/);
    await expect(write(cwd, "", "x")).rejects.toMatchObject({ code: "invalid_input" });
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe("x");
  });

  test("a name that only looks like another file's does not replace that file", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "it’s.txt"), "other");
    await write(cwd, "it's.txt", "new");
    expect(readdirSync(cwd)).toHaveLength(2);
    expect(readFileSync(join(cwd, "it’s.txt"), "utf8")).toBe("other");
  });

  test("a name that is there with its letters composed otherwise is that file's", async () => {
    const cwd = scratch();
    const [composed, taken] = ["caf\u00e9.txt", "cafe\u0301.txt"];
    writeFileSync(join(cwd, taken), "old");
    const { text } = await write(cwd, composed, "new");
    expect(text).toBe(`Replaced the content of ${composed} (${join(cwd, taken)}): 1 line (3 B).`);
    expect(readdirSync(cwd)).toEqual([taken]);
    await write(cwd, "\u00fcber.txt", "x");
    expect(readdirSync(cwd)).toContain("\u00fcber.txt");
  });

  test("a URL is no path", async () => {
    const cwd = scratch();
    await expect(write(cwd, "file:///etc/x", "x")).rejects.toMatchObject({
      code: "invalid_input",
      message: "file:///etc/x is a URL. Give a path, without file:// before it.",
    });
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("a call that was aborted writes nothing", async () => {
    const cwd = scratch();
    const tool = createWriteTool({ cwd, files: createFiles(), queue: createFileQueue() });
    await expect(tool.execute("id", { path: "x", content: "x" }, AbortSignal.abort())).rejects.toThrow(/abort/i);
    expect(existsSync(join(cwd, "x"))).toBe(false);
  });

  test("whatever call fails, the file has its old content or the new, and success means the new", async () => {
    for (const lasts of ["once", "forever"] as const) {
      const points = await withEveryFault(
        nodeFileSystem,
        async (fileSystem) => {
          const cwd = scratch();
          writeFileSync(join(cwd, "file"), "old");
          const outcome = await write(cwd, "file", "new", createFiles({ fileSystem })).then(
            () => "written",
            () => "failed",
          );
          const content = readFileSync(join(cwd, "file"), "utf8");
          expect(outcome === "written" ? ["new"] : ["old", "new"]).toContain(content);
          if (lasts === "once") expect(readdirSync(cwd)).toEqual(["file"]);
        },
        { lasts },
      );
      expect(points).toBeGreaterThan(8);
    }
  });
});

describe("the queue", () => {
  const createGate = () => {
    let resolve = () => {};
    const promise = new Promise<void>((open) => {
      resolve = open;
    });
    return { promise, resolve };
  };

  test("work on one file waits for earlier work, also when that failed; other files do not wait", async () => {
    const queue = createFileQueue();
    const seen: string[] = [];
    const gate = createGate();
    const first = queue.run("/a", async () => {
      seen.push("a1");
      await gate.promise;
      throw new Error("broken");
    });
    const second = queue.run("/a", async () => seen.push("a2"));
    await queue.run("/b", async () => seen.push("b1"));
    expect(seen).toEqual(["a1", "b1"]);
    gate.resolve();
    await expect(first).rejects.toThrow("broken");
    await second;
    expect(seen).toEqual(["a1", "b1", "a2"]);
  });

  test("calls that start in one tick change a file in their order, however long each takes to find it", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "file"), "0");
    symlinkSync("file", join(cwd, "link"));
    const gate = createGate();
    const files = createFiles();
    const slow = { ...files, stat: (path: string) => gate.promise.then(() => files.stat(path)) };
    const queue = createFileQueue();
    const edit = createEditTool({ cwd, files: slow, queue });
    const write = createWriteTool({ cwd, files, queue });
    const calls = [
      edit.execute("1", { path: "file", edits: [{ oldText: "0", newText: "1" }] }),
      edit.execute("2", { path: "link", edits: [{ oldText: "1", newText: "2" }] }),
      write.execute("3", { path: "file", content: "3" }),
    ];
    gate.resolve();
    await Promise.all(calls);
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe("3");
  });

  test("a call whose file cannot be found does not hold the next one", async () => {
    const queue = createFileQueue();
    const failed = queue.findAndRun(
      () => Promise.reject(new Error("no such path")),
      async () => {},
    );
    const next = queue.findAndRun(
      async () => [{ realPath: "/a" }],
      async () => "done",
    );
    await expect(failed).rejects.toThrow("no such path");
    expect(await next).toBe("done");
  });

  test("work on several files takes its place at all of them at once", async () => {
    const queue = createFileQueue();
    const seen: string[] = [];
    const gate = createGate();
    const note = (name: string) => async () => void seen.push(name);
    void queue.run("/a", () => gate.promise);
    const both = queue.run(["/b", "/a", "/b"], note("both"));
    const later = queue.run("/b", note("later"));
    gate.resolve();
    await Promise.all([both, later]);
    expect(seen).toEqual(["both", "later"]);
  });

  test("remembers nothing of files without pending work", async () => {
    const queue = createFileQueue();
    const all = Array.from({ length: 100 }, (_unused, at) =>
      queue.run(`/${at % 10}`, () => (at % 3 === 0 ? Promise.reject(new Error("x")) : Promise.resolve())),
    );
    expect(queue.busyFiles).toBe(10);
    await Promise.allSettled(all);
    await Promise.resolve();
    expect(queue.busyFiles).toBe(0);
  });

  test("two names of one file are one file", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "file"), "");
    symlinkSync("file", join(cwd, "link"));
    const queue = createFileQueue();
    const files = createFiles();
    let [inside, most] = [0, 0];
    const tool = createWriteTool({
      cwd,
      queue,
      files: {
        ...files,
        async writeWhole(path, bytes) {
          most = Math.max(most, ++inside);
          const result = await files.writeWhole(path, bytes);
          inside--;
          return result;
        },
      },
    });
    await Promise.all(
      Array.from({ length: 20 }, (_unused, at) =>
        tool.execute("id", { path: at % 2 === 0 ? "file" : "link", content: String(at) }),
      ),
    );
    expect(most).toBe(1);
  });
});

describe("the diff of a replaced file", () => {
  test("says what changed, with the numbers of the lines", async () => {
    const cwd = scratch();
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
    writeFileSync(join(cwd, "f.txt"), `${lines.join("\n")}\n`);
    const { details } = await write(cwd, "f.txt", `${lines.with(19, "changed").join("\n")}\n`);
    expect(details).toMatchObject({ isNew: false, lines: 40 });
    expect(details.diff).toBe(
      "--- f.txt\n+++ f.txt\n@@ -17,7 +17,7 @@\n line 17\n line 18\n line 19\n-line 20\n+changed\n line 21\n line 22\n line 23\n",
    );
  });

  test("is not there for a new file, and not if nothing changed", async () => {
    const cwd = scratch();
    expect((await write(cwd, "f", "a\n")).details).not.toHaveProperty("diff");
    expect((await write(cwd, "f", "a\n")).details).not.toHaveProperty("diff");
    writeFileSync(join(cwd, "empty"), "");
    expect((await write(cwd, "empty", "a\n")).details.diff).toContain("+a");
  });

  test("is not there where the old or the new content is not text, or large", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "binary"), Buffer.from([1, 0, 2]));
    writeFileSync(join(cwd, "large"), "x".repeat(256 * 1024 + 1));
    writeFileSync(join(cwd, "text"), "text");
    for (const [path, content] of [
      ["binary", "text"],
      ["large", "text"],
      ["text", "\0"],
      ["text", "x".repeat(256 * 1024 + 1)],
    ] as const) {
      expect((await write(cwd, path, content)).details, path).not.toHaveProperty("diff");
      expect(readFileSync(join(cwd, path), "utf8")).toBe(content);
    }
  });

  test("is bounded, however much changed", async () => {
    const cwd = scratch();
    const fill = (word: string) => Array.from({ length: 10_000 }, (_, index) => `${word} ${index}`).join("\n");
    writeFileSync(join(cwd, "f"), fill("old"));
    const { details } = await write(cwd, "f", fill("new"));
    expect(Buffer.byteLength(details.diff!)).toBeLessThan(60 * 1024);
    expect(details.diff).toContain("The diff continues");
  });

  test("a file that may be written and not read is written without one", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "f"), "secret");
    const guard = (_path: string, access: "read" | "write") => {
      if (access === "read") throw new ToolsError("denied", "Reading it is not allowed.");
    };
    expect((await write(cwd, "f", "other", createFiles({ guard }))).details).not.toHaveProperty("diff");
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("other");
  });
});
