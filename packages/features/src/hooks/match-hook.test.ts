import { expect, test } from "vitest";
import type { Hook } from "./hook.ts";
import { type HookSubject, isHookFor, parseMatcher } from "./match-hook.ts";
import { parseHooks } from "./parse-hooks.ts";

const hook = (fields: Partial<Hook> = {}): Hook => ({
  event: "PreToolUse",
  matcher: undefined,
  paths: [],
  condition: undefined,
  command: "true",
  timeoutMs: 1,
  onFailure: "block",
  isSandboxed: true,
  source: { scope: "user", isClaude: false, label: "" },
  ...fields,
});

const edit = (...paths: string[]): HookSubject => ({ toolName: "edit", paths });
const bash = (command: string): HookSubject => ({ toolName: "bash", command });

test.each<[Partial<Hook>, HookSubject, boolean]>([
  [{}, bash("ls"), true],
  [{ matcher: "" }, bash("ls"), true],
  [{ matcher: "*" }, bash("ls"), true],
  [{ matcher: "Bash" }, bash("ls"), true],
  [{ matcher: "bash" }, bash("ls"), true],
  [{ matcher: "Bas" }, bash("ls"), false],
  [{ matcher: "Edit|Write" }, edit("/p/a"), true],
  [{ matcher: "Write, MultiEdit" }, edit("/p/a"), true],
  [{ matcher: "Edit|Write" }, { toolName: "hashline_patch" }, true],
  [{ matcher: "mcp__memory__.*" }, { toolName: "mcp__memory__add" }, true],
  [{ matcher: "mcp__memory" }, { toolName: "mcp__memory__add" }, false],
  [{ matcher: "^Web" }, { toolName: "web_fetch" }, true],
  [{ event: "SessionStart", matcher: "resume" }, { text: "startup" }, false],
  [{ event: "Stop", matcher: "anything" }, {}, true],
  [{ paths: ["*.ts"] }, edit("/p/src/a.ts"), true],
  [{ paths: ["src/**/*.ts"] }, edit("/p/src/b/a.ts"), true],
  [{ paths: ["src/**/*.ts"] }, edit("/p/lib/a.ts"), false],
  [{ paths: ["./src/*.ts"] }, edit("/p/a.md", "/p/src/a.ts"), true],
  [{ paths: ["src/*.ts"] }, edit("/other/src/a.ts"), false],
  [{ paths: ["*.ts"] }, bash("cat a.ts"), false],
  [{ condition: "Bash(git push *)" }, bash("git push origin"), true],
  [{ condition: "Bash(git push *)" }, bash("git status"), false],
  [{ condition: "Bash(git push *)" }, bash("npm test && A=1 git push"), true],
  [{ condition: "Bash(git push:*)" }, bash("git push"), true],
  [{ condition: "Bash(git push *)" }, bash("$(echo git) push"), true],
  [{ condition: "Edit(*.ts)" }, edit("/p/a.ts"), true],
  [{ condition: "Edit(*.ts)" }, edit("/p/a.md"), false],
  [{ condition: "Write" }, edit("/p/a.md"), false],
  [{ condition: "(((" }, edit("/p/a.md"), true],
])("%j for %j: %s", (fields, subject, expected) => {
  expect(isHookFor(hook(fields), subject, "/p")).toBe(expected);
});

test("a regular expression that is not valid is none", () => {
  expect(parseMatcher("(")).toBeUndefined();
});

const source = (scope: "user" | "project", isClaude: boolean) => ({ scope, isClaude, label: "" });
const entry = (fields: object) => ({ PreToolUse: [{ hooks: [{ type: "command", command: "x", ...fields }] }] });

test("only the user's own settings take a hook out of the sandbox, and only ours have to agree by default", () => {
  const parse = (scope: "user" | "project", isClaude: boolean, fields: object) =>
    parseHooks(entry(fields), source(scope, isClaude)).hooks.map(({ isSandboxed, onFailure }) => [
      isSandboxed,
      onFailure,
    ]);
  expect(parse("user", false, { sandbox: false })).toEqual([[false, "block"]]);
  expect(parse("project", false, { sandbox: false })).toEqual([[true, "block"]]);
  expect(parse("user", true, { sandbox: false })).toEqual([[true, "continue"]]);
  expect(parse("project", true, { sandbox: false, onFailure: "block" })).toEqual([[true, "block"]]);
});

test.each<[unknown, string]>([
  [[], "it is not an object with events by name"],
  [{ TaskCompleted: [] }, "tau has no such event"],
  [{ Stop: {} }, "it is not a list"],
  [{ Stop: [{}] }, "it has no list `hooks`"],
  [{ Stop: [{ matcher: "(", hooks: [{ command: "x" }] }] }, "its `matcher` is not a valid regular expression"],
  [{ Stop: [{ paths: "x", hooks: [{ command: "x" }] }] }, "its `paths` is not a list of texts"],
  [{ Stop: [{ hooks: [1] }] }, "it is not an object"],
  [{ Stop: [{ hooks: [{ type: "prompt", prompt: "x" }] }] }, "tau runs only hooks of the type command, not prompt"],
  [{ Stop: [{ hooks: [{ command: " " }] }] }, "it has no `command`"],
  [{ Stop: [{ hooks: [{ command: "x", timeout: "5" }] }] }, "its `timeout` is not a number"],
])("%j is not used: %s", (value, reason) => {
  const parsed = parseHooks(value, source("project", true));
  expect(parsed.hooks).toEqual([]);
  expect(parsed.unused.map((each) => each.reason)).toEqual([reason]);
});

test("time limits have a default and a maximum", () => {
  const getMs = (event: string, timeout?: number) =>
    parseHooks({ [event]: [{ hooks: [{ command: "x", timeout }] }] }, source("user", false)).hooks[0]!.timeoutMs;
  expect([getMs("Stop"), getMs("Stop", 0.5), getMs("Stop", 1e9), getMs("SessionEnd")]).toEqual([
    60_000, 500, 600_000, 5_000,
  ]);
});
