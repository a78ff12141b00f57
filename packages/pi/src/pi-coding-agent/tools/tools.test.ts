import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentToolResult } from "@tau/agent";
import { createAllTools } from "./collections.ts";
import { createBashTool } from "./bash.ts";
import { createEditTool } from "./edit.ts";
import { withFileMutationQueue } from "./file-mutation-queue.ts";
import { createFindTool } from "./find.ts";
import { createGrepTool } from "./grep.ts";
import { createReadTool } from "./read.ts";
import { formatReadLineRange } from "./read-line-range.ts";
import { createWriteTool } from "./write.ts";

let directory: string;
let tools: ReturnType<typeof createAllTools>;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-tools-"));
  tools = createAllTools(directory);
});
afterEach(() => rmSync(directory, { recursive: true }));

const put = (name: string, content: string | Buffer) => writeFileSync(join(directory, name), content);
const get = (name: string) => readFileSync(join(directory, name), "utf8");
const text = ({ content }: AgentToolResult) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
const run = (name: keyof typeof tools, args: Record<string, unknown>) => tools[name].execute("call", args);
/** A process that has ended and was not collected yet does not run any more. */
function isRunning(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) [ZX] /.test(readFileSync(path, "utf8"));
}
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `Line ${index + 1}`).join("\n");

describe("read", () => {
  test("shows a small file as it is", async () => {
    put("a.txt", "Hello\nworld");
    const result = await run("read", { path: "a.txt" });
    expect(text(result)).toBe("Hello\nworld");
    expect(result.details).toBeUndefined();
  });

  test("says where to continue after 2,000 lines, after 50 KB and after the limit of the call", async () => {
    put("long.txt", numbered(2_500));
    expect(text(await run("read", { path: "long.txt" }))).toContain(
      "[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]",
    );
    put("wide.txt", Array.from({ length: 500 }, (_, index) => `${index}:${"x".repeat(200)}`).join("\n"));
    expect(text(await run("read", { path: "wide.txt" }))).toMatch(
      /\[Showing lines 1-\d+ of 500 \(50\.0KB limit\)\. Use offset=\d+ to continue\.\]/,
    );
    const limited = text(await run("read", { path: "long.txt", offset: 41, limit: 20 }));
    expect(limited.split("\n")[0]).toBe("Line 41");
    expect(limited).toContain("[2440 more lines in file. Use offset=61 to continue.]");
  });

  test("refuses an offset beyond the end, and names the command for a line that is too long", async () => {
    put("short.txt", "1\n2\n3");
    await expect(run("read", { path: "short.txt", offset: 100 })).rejects.toThrow(
      "Offset 100 is beyond end of file (3 lines total)",
    );
    put("line.txt", "x".repeat(60 * 1024));
    expect(text(await run("read", { path: "line.txt" }))).toContain("[Line 1 is 60.0KB, exceeds 50.0KB limit.");
  });

  test("shows an image by its content, not by its name", async () => {
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    put("pixel.txt", Buffer.from(pixel, "base64"));
    put("text.png", "not an image");
    const result = await run("read", { path: "pixel.txt" });
    expect(text(result)).toContain("Read image file [image/png]");
    expect(result.content).toContainEqual({ type: "image", data: pixel, mimeType: "image/png" });
    expect(text(await run("read", { path: "text.png" }))).toBe("not an image");
  });

  test("reads through operations of another machine", async () => {
    const seen: string[] = [];
    const tool = createReadTool("/remote", {
      operations: {
        access: async (path) => void seen.push(`access ${path}`),
        readFile: async (path) => (seen.push(`read ${path}`), Buffer.from("from afar")),
      },
    });
    expect(text(await tool.execute("call", { path: "a.txt" }))).toBe("from afar");
    expect(seen).toEqual(["access /remote/a.txt", "read /remote/a.txt"]);
  });
});

describe("write", () => {
  test("creates directories, and replaces a file that was never read", async () => {
    expect(text(await run("write", { path: "deep/er/a.txt", content: "one" }))).toBe(
      "Successfully wrote 3 bytes to deep/er/a.txt",
    );
    await run("write", { path: "deep/er/a.txt", content: "two" });
    expect(get("deep/er/a.txt")).toBe("two");
  });

  test("writes through operations", async () => {
    const seen: string[] = [];
    const tool = createWriteTool("/remote", {
      operations: {
        mkdir: async (path) => void seen.push(`mkdir ${path}`),
        writeFile: async (path, content) => void seen.push(`write ${path} ${content}`),
      },
    });
    await tool.execute("call", { path: "sub/a.txt", content: "text" });
    expect(seen).toEqual(["mkdir /remote/sub", "write /remote/sub/a.txt text"]);
  });
});

describe("edit", () => {
  test("takes one edit as earlier versions did, and several at once", async () => {
    put("a.txt", "one\ntwo\nthree\n");
    const result = await run("edit", { path: "a.txt", oldText: "two", newText: "2" });
    expect(text(result)).toContain("Successfully replaced");
    expect(result.details).toMatchObject({ firstChangedLine: 2, diff: " 1 one\n-2 two\n+2 2\n 3 three" });
    const edits = [
      { oldText: "one", newText: "1" },
      { oldText: "three", newText: "3" },
    ];
    expect((await run("edit", { path: "a.txt", edits })).details).toMatchObject({
      patch: expect.stringContaining("+++ a.txt"),
    });
    expect(get("a.txt")).toBe("1\n2\n3\n");
  });

  test("says in pi's words why nothing was changed", async () => {
    put("a.txt", "foo foo foo");
    await expect(run("edit", { path: "a.txt", oldText: "bar", newText: "x" })).rejects.toThrow(
      "Could not find the exact text in a.txt",
    );
    await expect(run("edit", { path: "a.txt", oldText: "foo", newText: "x" })).rejects.toThrow(
      "Found 3 occurrences of the text in a.txt",
    );
    await expect(run("edit", { path: "a.txt", oldText: "foo foo foo", newText: "foo foo foo" })).rejects.toThrow(
      "No changes made to a.txt",
    );
    await expect(run("edit", { path: "b.txt", oldText: "foo", newText: "x" })).rejects.toThrow("File not found: b.txt");
    expect(get("a.txt")).toBe("foo foo foo");
  });

  test("keeps line endings and a byte order mark, and matches quotes that only look different", async () => {
    put("crlf.txt", "\uFEFFfirst\r\nsecond\r\nthird\r\n");
    const { details } = await run("edit", { path: "crlf.txt", oldText: "second\n", newText: "2\n" });
    expect(details).toMatchObject({ diff: " 1 first\n-2 second\n+2 2\n 3 third" });
    expect(get("crlf.txt")).toBe("\uFEFFfirst\r\n2\r\nthird\r\n");
    put("quotes.txt", "say “hello”  \nbye\n");
    await run("edit", { path: "quotes.txt", oldText: 'say "hello"\nbye', newText: "silence" });
    expect(get("quotes.txt")).toBe("silence\n");
  });

  test("edits of one file wait for each other", async () => {
    const order: string[] = [];
    let release = () => {};
    const first = withFileMutationQueue(join(directory, "a"), async () => {
      await new Promise<void>((resolve) => (release = resolve));
      order.push("first");
    });
    const second = withFileMutationQueue(join(directory, "a"), async () => void order.push("second"));
    await withFileMutationQueue(join(directory, "b"), async () => void order.push("other file"));
    release();
    await Promise.all([first, second]);
    expect(order).toEqual(["other file", "first", "second"]);
  });

  test("edits through operations", async () => {
    let content = "old text";
    const tool = createEditTool("/remote", {
      operations: {
        access: async () => {},
        readFile: async () => Buffer.from(content),
        writeFile: async (_path, next) => void (content = next),
      },
    });
    await tool.execute("call", { path: "a", edits: [{ oldText: "old", newText: "new" }] });
    expect(content).toBe("new text");
  });
});

describe("bash", () => {
  test("gives the output, also of a command that fails", async () => {
    expect(text(await run("bash", { command: "echo out; echo err >&2" }))).toContain("out");
    expect(text(await run("bash", { command: "true" }))).toBe("(no output)");
    await expect(run("bash", { command: "echo before; exit 3" })).rejects.toThrow(
      /^before\n+Command exited with code 3$/,
    );
  });

  test("ends a command with everything it started, after its time and when it is aborted", async () => {
    await expect(run("bash", { command: "sleep 100 & echo $! > pid; wait", timeout: 1.5 })).rejects.toThrow(
      "Command timed out after 1.5 seconds",
    );
    const pid = Number(get("pid"));
    await expect.poll(() => isRunning(pid)).toBe(false);
    const abort = new AbortController();
    const aborted = tools.bash.execute("call", { command: "echo started; sleep 100" }, abort.signal, () =>
      abort.abort(),
    );
    await expect(aborted).rejects.toThrow("Command aborted");
  });

  test("keeps long output in a file", async () => {
    const result = await run("bash", { command: "seq 1 30000" });
    expect(text(result)).toMatch(/\[Showing lines \d+-30001 of 30001[^\]]*Full output: .*\]$/);
    const { fullOutputPath } = result.details as { fullOutputPath: string };
    const all = readFileSync(fullOutputPath, "utf8");
    rmSync(fullOutputPath);
    expect(all.trimEnd().split("\n")).toHaveLength(30_000);
  });

  test("puts a prefix before the command and lets a hook change it", async () => {
    const tool = createBashTool(directory, {
      commandPrefix: "export GREETING=hello",
      spawnHook: (context) => ({ ...context, env: { ...context.env, NAME: "hook" } }),
    });
    expect(text(await tool.execute("call", { command: "echo $GREETING $NAME" }))).toBe("hello hook\n");
    await expect(createBashTool("/missing").execute("call", { command: "true" })).rejects.toThrow(
      "Working directory does not exist: /missing",
    );
  });

  test("runs commands elsewhere through operations", async () => {
    const tool = createBashTool("/remote", {
      operations: {
        async exec(command, cwd, { onData }) {
          onData(Buffer.from(`${cwd}$ ${command}`));
          return { exitCode: 0 };
        },
      },
    });
    expect(text(await tool.execute("call", { command: "uptime" }))).toBe("/remote$ uptime");
  });
});

describe("grep, find and ls", () => {
  test("grep shows matches with the lines around them, and says when there are more", async () => {
    put("a.txt", "before\nmatch one\nafter\nmiddle\nmatch two\nend");
    expect(text(await run("grep", { pattern: "match one", path: "a.txt", context: 1 }))).toBe(
      "a.txt-1- before\na.txt:2: match one\na.txt-3- after",
    );
    const limited = await run("grep", { pattern: "match", limit: 1 });
    expect(text(limited)).toContain("a.txt:2: match one");
    expect(text(limited)).toContain("[1 matches limit reached. Use limit=2 for more, or refine pattern]");
    expect(limited.details).toEqual({ matchLimitReached: 1 });
    expect(text(await run("grep", { pattern: "nowhere" }))).toBe("No matches found");
    await expect(run("grep", { pattern: "(", path: "a.txt" })).rejects.toThrow("regex");
    await expect(run("grep", { pattern: "x", path: "gone" })).rejects.toThrow("Path not found");
  });

  test("grep names a match whose file is gone when it is read", async () => {
    put("a.txt", "match");
    put("b.txt", "match");
    const readFile = (path: string) => {
      if (path.endsWith("a.txt")) throw new Error("gone");
      return "match";
    };
    const tool = createGrepTool(directory, { operations: { isDirectory: () => true, readFile } });
    const lines = text(await tool.execute("call", { pattern: "match" })).split("\n");
    expect(lines.sort()).toEqual(["a.txt:1: (unable to read file)", "b.txt:1: match"]);
  });

  test("find lists hidden files but none that are ignored", async () => {
    mkdirSync(join(directory, ".secret"));
    put(".secret/hidden.txt", "");
    put("visible.txt", "");
    put("ignored.txt", "");
    put(".gitignore", "ignored.txt\n");
    expect(text(await run("find", { pattern: "**/*.txt" })).split("\n")).toEqual([".secret/hidden.txt", "visible.txt"]);
    expect(text(await run("find", { pattern: "*.md" }))).toBe("No files found matching pattern");
    const limited = await run("find", { pattern: "**/*.txt", limit: 1 });
    expect(text(limited)).toContain("[1 results limit reached. Use limit=2 for more, or refine pattern]");
    const remote = createFindTool("/remote", { operations: { exists: () => true, glob: () => ["/remote/src/a.ts"] } });
    expect(text(await remote.execute("call", { pattern: "*.ts" }))).toBe("src/a.ts");
  });

  test("ls lists dotfiles and marks directories", async () => {
    expect(text(await run("ls", {}))).toBe("(empty directory)");
    put(".hidden", "");
    put("B.txt", "");
    mkdirSync(join(directory, "a"));
    expect(text(await run("ls", {}))).toBe(".hidden\na/\nB.txt");
    expect(text(await run("ls", { limit: 1 }))).toContain("[1 entries limit reached. Use limit=2 for more]");
    await expect(run("ls", { path: "B.txt" })).rejects.toThrow("Not a directory");
  });
});

test("a call of read is shown with its lines", () => {
  expect([formatReadLineRange(5, 10), formatReadLineRange(undefined, 10), formatReadLineRange("7", undefined)]).toEqual(
    [":5-14", ":1-10", ":7"],
  );
  expect(formatReadLineRange(undefined, "many")).toBe("");
});
