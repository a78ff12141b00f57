import {
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Agent } from "@tau/agent";
import type { TextContent, ToolResultMessage } from "@tau/ai";
import { call, scriptedModel, text } from "@tau/ai/testing";
import { afterEach, describe, expect, test } from "vitest";
import { createTools, type Tools } from "../src/create-tools.ts";
import type { ToolName } from "../src/definitions.ts";
import { ToolsError } from "../src/errors.ts";
import { nodeFileSystem } from "../src/platform/file-system.ts";
import { createFiles } from "../src/platform/files.ts";
import { scratch } from "./scratch.ts";

const made: Tools[] = [];
afterEach(async () => {
  for (const tools of made.splice(0)) await tools.dispose();
});

const toolsIn = (options: Parameters<typeof createTools>[0]) => {
  const tools = createTools(options);
  made.push(tools);
  const use = async (name: ToolName, args: Record<string, unknown>) => {
    const { content } = await tools.byName[name].execute("id", args);
    return (content[0] as TextContent).text;
  };
  return { tools, use };
};

test("the default tools are told to a model in under 4,000 characters", () => {
  const { tools } = toolsIn({ cwd: scratch() });
  const told = tools.defaults.map(({ name, description, parameters }) => ({ name, description, parameters }));
  expect(told.map(({ name }) => name)).toEqual(["read", "write", "edit", "bash", "jobs", "grep", "find", "ls"]);
  expect(JSON.stringify(told).length).toBeLessThan(4_000);
});

test("what was read with anchors can be edited by them, in one file and in several", async () => {
  const cwd = scratch();
  writeFileSync(join(cwd, "a.txt"), "one\ntwo\nthree\n");
  const { use } = toolsIn({ cwd });
  const shown = (await use("read", { path: "a.txt", hashline: true })).split("\n");
  const anchor = shown[2]!.split(":")[0]!;
  expect(anchor).toMatch(/^2#[A-Z]{2}$/);
  await use("hashline_edit", { path: "a.txt", edits: [{ op: "replace", pos: anchor, lines: ["TWO"] }] });
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
  const [header] = (await use("read", { path: "a.txt", hashline: true })).split("\n");
  await use("hashline_patch", { patch: `${header}\n3!\n1↑\n+zero` });
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("zero\none\nTWO\n");
});

test("a model may name a path `file_path` and count lines from 0, and is told of two paths that differ", async () => {
  const cwd = scratch();
  writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
  const { tools } = toolsIn({ cwd });
  const model = scriptedModel([
    [call("read", { file_path: "a.txt", offset: 0, limit: 1 }), call("read", { path: "a.txt", file_path: "b.txt" })],
    [text("Done.")],
  ]);
  const agent = new Agent({ initialState: { model, tools: tools.defaults } });
  await agent.prompt("Look.");
  model.dispose();
  const results = agent.state.messages.filter((message): message is ToolResultMessage => message.role === "toolResult");
  expect(results.map(({ isError }) => isError)).toEqual([false, true]);
  expect((results[0]!.content[0] as TextContent).text).toMatch(/^one\n/);
  expect((results[1]!.content[0] as TextContent).text).toContain('`file_path` is "b.txt"');
});

test("a model works with them through an agent, and a failed call is an outcome it can read", async () => {
  const cwd = scratch();
  const { tools } = toolsIn({ cwd });
  const model = scriptedModel([
    [call("write", { path: "src/x.ts", content: "export const x = 1;\n" })],
    [call("edit", { path: "src/x.ts", oldText: "= 1", newText: "= 2" })],
    [call("bash", { command: "cat src/x.ts && ls missing" })],
    [call("grep", { pattern: "x = 2" })],
    [text("done")],
  ]);
  const agent = new Agent({ initialState: { model, tools: tools.defaults } });
  await agent.prompt("go");
  model.dispose();
  const results = agent.state.messages.filter((message): message is ToolResultMessage => message.role === "toolResult");
  const said = results.map(({ content, isError }) => [isError, (content[0] as TextContent).text] as const);
  expect(said[1]).toEqual([false, "Edited src/x.ts: 1 replacement, first changed line 1."]);
  expect(said[2]![0]).toBe(true);
  expect(said[2]![1]).toMatch(/^export const x = 2;\n.*missing.*\n\nCommand exited with code 2$/s);
  expect(said[3]).toEqual([false, "src/x.ts:1: export const x = 2;"]);
});

describe("what reviews have found", () => {
  /** Our children that would end commands if we were killed. */
  const watchdogs = () =>
    readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8")
      .split(" ")
      .filter((pid) => pid !== "" && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("TAU_JOB_ID="));

  test.runIf(process.platform === "linux")("sets of tools share one watchdog, which goes with the last", async () => {
    const descriptors = () => readdirSync("/proc/self/fd").length;
    // That of another test may still be ending.
    const before = watchdogs();
    const added = () => watchdogs().filter((pid) => !before.includes(pid));
    const sets = [1, 2, 3].map(() => createTools({ cwd: scratch() }));
    // A first command opens what stays open.
    await sets[0]!.byName.bash.execute("id", { command: "true" });
    await sets[0]!.dispose();
    const open = descriptors();
    await Promise.all(sets.slice(1).map((tools) => tools.byName.bash.execute("id", { command: "true" })));
    expect(added()).toHaveLength(1);
    await sets[1]!.dispose();
    expect(added()).toHaveLength(1);
    await sets[2]!.dispose();
    await expect.poll(added).toEqual([]);
    // Pipes are closed a moment after their process is gone.
    await expect.poll(descriptors).toBeLessThanOrEqual(open);
  });

  test("commands can be kept out of a namespace", async () => {
    const { tools } = toolsIn({ cwd: scratch(), containment: "best effort" });
    const { content, details } = await tools.byName.bash.execute("id", { command: "readlink /proc/self/ns/pid" });
    expect(details).toMatchObject({ containment: "best effort" });
    if (process.platform === "linux") expect(content).toMatchObject([{ text: readlinkSync("/proc/self/ns/pid") }]);
  });

  test("a dangling link under a linked directory leads where the system says, not where its spelling does", async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, "other/deep/dir"), { recursive: true });
    symlinkSync("other/deep/dir", join(cwd, "link"));
    symlinkSync("../new.txt", join(cwd, "other/deep/dir/dangle"));
    writeFileSync(join(cwd, "new.txt"), "not this one");
    await toolsIn({ cwd }).use("write", { path: "link/dangle", content: "x" });
    expect(readFileSync(join(cwd, "other/deep/new.txt"), "utf8")).toBe("x");
    expect(readFileSync(join(cwd, "new.txt"), "utf8")).toBe("not this one");
  });

  test("a directory whose name begins with @ is that directory", async () => {
    const cwd = scratch();
    for (const directory of ["@app", "app"]) {
      mkdirSync(join(cwd, directory));
      writeFileSync(join(cwd, directory, "m"), directory);
    }
    const { use } = toolsIn({ cwd });
    expect(await use("read", { path: "@app/m" })).toBe("@app");
    await use("write", { path: "@app/new", content: "x" });
    expect(existsSync(join(cwd, "@app/new"))).toBe(true);
    expect(await use("read", { path: "@new-mention.txt" }).catch(String)).toMatch(
      /There is no file .*\/new-mention.txt/,
    );
  });

  test("two sets of tools that edit one file at once lose nothing silently", async () => {
    const cwd = scratch();
    const lines = Array.from({ length: 100 }, (_unused, at) => `line ${at};`);
    writeFileSync(join(cwd, "f"), lines.join("\n"));
    const work = async (parity: number) => {
      const { use } = toolsIn({ cwd });
      let made = 0;
      for (let at = parity; at < 100; at += 2) {
        const edit = { path: "f", edits: [{ oldText: `line ${at};`, newText: `LINE ${at};` }] };
        const outcome = await use("edit", edit).catch(String);
        if (outcome.startsWith("Edited")) made++;
      }
      return made;
    };
    const made = await Promise.all([work(0), work(1)]);
    expect(made).toEqual([50, 50]);
    expect(readFileSync(join(cwd, "f"), "utf8").match(/LINE/g)).toHaveLength(100);
  });

  test("pasted tags are stripped also around empty lines, and a patch keeps the empty lines of its text", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "f"), "one\ntwo\n");
    const { use } = toolsIn({ cwd });
    const [header, first, second] = (await use("read", { path: "f", hashline: true })).split("\n");
    const anchor = first!.split(":")[0]!;
    await use("hashline_edit", { path: "f", edits: [{ op: "replace", pos: anchor, lines: [first, "", second] }] });
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("one\n\ntwo\ntwo\n");
    writeFileSync(join(cwd, "f"), "one\ntwo\n");
    await use("hashline_patch", { patch: `${header}\n2:\n+A\n\n+B\n` });
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("one\nA\n\nB\n");
  });

  test("a file of one empty line is not empty, and a long name is no reason to fail", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "line"), "\n");
    const { use } = toolsIn({ cwd });
    expect(await use("read", { path: "line" })).toBe("");
    const name = `${"漢".repeat(80)}.txt`;
    await use("write", { path: name, content: "x" });
    expect(await use("read", { path: name })).toBe("x");
    writeFileSync(join(cwd, "notes"), "GIF8 notes are text\n");
    expect(await use("read", { path: "notes" })).toBe("GIF8 notes are text");
  });
});

describe("a root that a guard holds", () => {
  /** A hundred ways to say the same forbidden thing. */
  const spellings = (outside: string): string[] => {
    const up = "../".repeat(12);
    const plain = [
      outside,
      `${up}${outside.slice(1)}`,
      `./${up}${outside.slice(1)}`,
      `sub/../${up}${outside.slice(1)}`,
      `/proc/self/root${outside}`,
      `/proc/self/cwd/${up}${outside.slice(1)}`,
      `/proc/thread-self/root${outside}`,
      `/dev/fd/../root${outside}`,
      `link${outside.slice(outside.lastIndexOf("/"))}`,
      `sub/back/link${outside.slice(outside.lastIndexOf("/"))}`,
    ];
    const dressed = plain.flatMap((path) => [
      path,
      `@${path}`,
      path.replaceAll("/", "//"),
      path.replaceAll("/", "/./"),
      `${path}/.`,
      `${path}/../${path.slice(path.lastIndexOf("/") + 1)}`,
      `sub/../${path}`,
      `link/../${path}`,
      path.normalize("NFD"),
      ` ${path}`.trimStart(),
    ]);
    return dressed;
  };

  test("a hundred spellings of a path outside neither read nor write it", async () => {
    const [root, elsewhere] = [scratch(), scratch()];
    const secret = join(elsewhere, "secret.txt");
    writeFileSync(secret, "the secret\n");
    mkdirSync(join(root, "sub"));
    symlinkSync(elsewhere, join(root, "link"));
    symlinkSync(root, join(root, "sub", "back"));
    const files = createFiles({
      guard(realPath) {
        if (realPath !== root && !realPath.startsWith(`${root}/`)) {
          throw new ToolsError("denied", `${realPath} is outside.`);
        }
      },
    });
    const { use } = toolsIn({ cwd: root, files });
    const all = spellings(secret);
    expect(all).toHaveLength(100);
    const uses: [ToolName, Record<string, unknown>][] = [
      ["read", {}],
      ["read", { hashline: true }],
      ["write", { content: "overwritten" }],
      ["edit", { edits: [{ oldText: "the", newText: "no" }] }],
      ["grep", { pattern: "secret" }],
      ["ls", {}],
      ["find", { pattern: "*" }],
      ["hashline_edit", { edits: [{ op: "append", lines: ["more"] }] }],
    ];
    for (const path of all) {
      for (const [name, args] of uses) {
        const outcome = await use(name, { path, ...args }).catch((error: unknown) => String(error));
        expect(`${name} ${path}: ${outcome}`).not.toMatch(/: the secret|:1: the secret|#[A-Z]{2}:the secret/);
      }
    }
    expect(readFileSync(secret, "utf8")).toBe("the secret\n");
    expect(existsSync(join(elsewhere, "secret.txt.tmp"))).toBe(false);
  });

  describe("grep says the same whether or not what may not be read matches:", () => {
    const guard = (realPath: string) => {
      if (realPath.includes("secret")) throw new ToolsError("denied", "Secrets stay secret.");
    };
    /** Everything that grep says of a directory in which these files have this content. */
    const answers = async (names: readonly (string | Buffer)[], content: string) => {
      const root = scratch();
      mkdirSync(join(root, "a", "secret"), { recursive: true });
      for (const letter of ["b", "c", "d"]) writeFileSync(join(root, `${letter}.ts`), `const ${letter} = "needle";\n`);
      writeFileSync(join(root, "a", "key"), "needle");
      writeFileSync(join(root, "image.png"), "\0needle");
      const within = (name: string | Buffer) => Buffer.concat([Buffer.from(`${root}/a/secret/`), Buffer.from(name)]);
      for (const name of names) writeFileSync(within(name), content);
      const { use } = toolsIn({ cwd: root, files: createFiles({ guard }) });
      const one = { limit: 1, path: "a" };
      const uses = [
        {},
        { limit: 4 },
        { limit: 1_000 },
        { context: 1 },
        { glob: "**/secret/*" },
        { glob: "!*.ts" },
        one,
      ];
      return await Promise.all(uses.map((more) => use("grep", { pattern: "needle", ...more })));
    };
    test.each<[string, readonly (string | Buffer)[], string]>([
      ["a text", ["a [b] {c}*!"], "KEY=needle\n"],
      ["many lines", ["many"], "needle\n".repeat(5_000)],
      ["a long line", ["long"], `needle${"x".repeat(5_000)}\n`],
      ["a binary", ["binary"], "\0\0needle\0"],
      ["a name that ends in a blank", ["key "], "needle\nneedle\n"],
      ["a name that is no text", [Buffer.from("caf\xe9", "latin1")], "needle\nneedle\n"],
      ["many files", Array.from({ length: 300 }, (_unused, at) => `file ${at}`), "needle\n"],
    ])("%s", async (_what, names, content) => {
      const [matching, other] = [
        await answers(names, content),
        await answers(names, content.replaceAll("needle", "thread")),
      ];
      expect(matching).toEqual(other);
      expect(matching[1]).toContain('d.ts:1: const d = "needle";');
      expect(matching[4]).toContain("No matches");
      expect(matching[6]).toBe("a/key:1: needle");
    });

    test("nor when the guard cannot be asked whether it may be read", async () => {
      const root = scratch();
      writeFileSync(join(root, "secret.txt"), "needle\n");
      const failing = (): never => {
        throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
      };
      const readlink: typeof nodeFileSystem.readlink = (path) =>
        path.startsWith("/proc/") ? failing() : nodeFileSystem.readlink(path);
      const { use } = toolsIn({
        cwd: root,
        files: createFiles({ guard, fileSystem: { ...nodeFileSystem, readlink } }),
      });
      expect(await use("grep", { pattern: "needle" }).catch(String)).not.toContain(":1: needle");
    });

    test("but a file that may be read is shown, whatever its name is", async () => {
      const root = scratch();
      writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])]), "needle\n");
      const { use } = toolsIn({ cwd: root, files: createFiles({ guard }) });
      expect(await use("grep", { pattern: "needle" })).toBe("caf\uFFFD:1: needle");
    });
  });

  test("a file that is replaced while it is opened is not judged by a name it does not have", async () => {
    const root = scratch();
    const secret = join(root, ".env");
    writeFileSync(secret, "the secret");
    const fileSystem: typeof nodeFileSystem = {
      ...nodeFileSystem,
      async open(path, flags, mode) {
        const handle = await nodeFileSystem.open(path, flags, mode);
        // Opened to be read, not only to be looked at.
        if (path === secret && flags & constants.O_NONBLOCK) rmSync(secret);
        return handle;
      },
    };
    const asked: string[] = [];
    const guard = (realPath: string) => void asked.push(realPath);
    const { use } = toolsIn({ cwd: root, files: createFiles({ guard, fileSystem }) });
    await expect(use("read", { path: ".env" })).rejects.toThrow(/replaced while it was being opened/);
    expect(new Set(asked)).toEqual(new Set([secret]));
  });
});

test("commands get the environment as it was when the tools were made", async () => {
  const env: Record<string, string | undefined> = { PATH: process.env["PATH"], WHEN: "then" };
  const { use } = toolsIn({ cwd: scratch(), env });
  env["WHEN"] = "now";
  expect(await use("bash", { command: "echo $WHEN" })).toBe("then");
});

test("a shell, a prefix and variables that were chosen reach every command", async () => {
  const { use } = toolsIn({
    cwd: scratch(),
    shell: "/bin/sh",
    commandPrefix: "greeting=hello",
    addedEnv: { BUILD_API_KEY: "chosen" },
    env: { PATH: process.env["PATH"], OTHER_API_KEY: "not chosen" },
  });
  // What begins with the shell's own name ($0) tells which one it is.
  const said = await use("bash", { command: 'echo "$greeting $BUILD_API_KEY ${OTHER_API_KEY-unset} $0"' });
  expect(said).toBe("hello chosen unset /bin/sh");
});

test("a command has the time limit of its tools, also if its call asks for more, and a job has none", async () => {
  const { tools, use } = toolsIn({ cwd: scratch(), commandTimeoutMs: 300, maxCommandTimeoutMs: 400 });
  await expect(use("bash", { command: "sleep 60" })).rejects.toThrow("timed out after 0.3 seconds");
  await expect(use("bash", { command: "sleep 60", timeout: 60 })).rejects.toThrow("timed out after 0.4 seconds");
  await use("bash", { command: "sleep 0.6; echo done", background: true });
  await expect.poll(() => use("jobs", { action: "read", id: "1" })).toContain("exited");
  expect(await use("jobs", { action: "read", id: "1" })).toMatch(/^done/);
  expect(JSON.stringify(tools.byName.bash.parameters)).toContain(
    "Seconds; default 0.3, at most 0.4 unless in background",
  );
});

test("a longest timeout alone is the limit of every command", async () => {
  const { tools, use } = toolsIn({ cwd: scratch(), maxCommandTimeoutMs: 300 });
  await expect(use("bash", { command: "sleep 60" })).rejects.toThrow("timed out after 0.3 seconds");
  expect(JSON.stringify(tools.byName.bash.parameters)).toContain("default 0.3, at most 0.3");
});
