import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "@tau/agent";
import type { TextContent, ToolResultMessage } from "@tau/ai";
import { call, scriptedModel, text } from "@tau/ai/testing";
import { afterEach, describe, expect, test } from "vitest";
import { createTools, type ToolName, type Tools } from "../src/create-tools.ts";
import { ToolsError } from "../src/errors.ts";
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

test("the default tools are told to a model in under 6,000 characters", () => {
  const { tools } = toolsIn({ cwd: scratch() });
  const told = tools.defaults.map(({ name, description, parameters }) => ({ name, description, parameters }));
  expect(told.map(({ name }) => name)).toEqual([
    "read",
    "write",
    "edit",
    "hashline_edit",
    "bash",
    "jobs",
    "grep",
    "find",
    "ls",
  ]);
  expect(JSON.stringify(told).length).toBeLessThan(6_000);
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

  test("grep shows nothing of a file below its root that may not be read", async () => {
    const root = scratch();
    writeFileSync(join(root, ".env"), "KEY=needle\n");
    writeFileSync(join(root, "code.ts"), "const needle = 1;\n");
    const guard = (realPath: string) => {
      if (realPath.endsWith(".env")) throw new ToolsError("denied", "Secrets stay secret.");
    };
    const { use } = toolsIn({ cwd: root, files: createFiles({ guard }) });
    expect(await use("grep", { pattern: "needle" })).toBe(
      "code.ts:1: const needle = 1;\n\n[Matches in 1 file that may not be read are left out.]",
    );
  });
});
