import { homedir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AccessRequest } from "./access.ts";
import { definitions, type ToolName } from "./definitions.ts";
import { ToolsError } from "./errors.ts";
import { listExisting, listNew, listReadable, resolveExisting, resolveNew, resolveReadable } from "./files/path.ts";
import { listHeaders } from "./hashline/patch-header.ts";
import { parsePatch } from "./hashline/patch-text.ts";
import type { Files } from "./platform/files.ts";
import type { ToolDescription } from "./tool.ts";

const describe = (name: ToolName): ToolDescription<unknown> => definitions[name];

function show({ capability, target, alternatives = [] }: AccessRequest): string {
  const value =
    "path" in target
      ? target.path
      : "command" in target
        ? target.command
        : "host" in target
          ? target.host
          : target.name;
  return [`${capability} ${target.kind} ${value}`, ...alternatives].join(" | ");
}

const getAccess = (name: ToolName, args: unknown) => describe(name).access?.(args, "/w/app").map(show);

test.each<[ToolName, unknown, string[]]>([
  ["read", { path: "src/a.ts" }, ["read path /w/app/src/a.ts"]],
  ["read", { path: "../b.ts" }, ["read path /w/b.ts"]],
  ["read", { path: "/etc//hosts/." }, ["read path /etc/hosts"]],
  ["read", { path: "~/.ssh/id_rsa" }, [`read path ${join(homedir(), ".ssh/id_rsa")}`]],
  ["read", { path: "~" }, [`read path ${homedir()}`]],
  ["ls", {}, ["read path /w/app"]],
  ["grep", { pattern: "x" }, ["read path /w/app"]],
  ["find", { pattern: "*", path: "/var" }, ["read path /var"]],
  ["write", { path: "a", content: "" }, ["write path /w/app/a"]],
  ["edit", { path: "a", edits: [] }, ["write path /w/app/a"]],
  ["hashline_edit", { path: "a", edits: [] }, ["write path /w/app/a"]],
  ["bash", { command: "rm -rf /" }, ["exec command rm -rf /"]],
  ["jobs", { action: "list" }, ["exec name jobs"]],
])("%s with %j wants %j", (name, args, wanted) => {
  expect(getAccess(name, args)).toEqual(wanted);
});

test.each<[ToolName, unknown, string[]]>([
  ["read", { path: "@/etc/hosts" }, ["read path /etc/hosts | /w/app/@/etc/hosts"]],
  ["read", { path: "it's" }, ["read path /w/app/it's | /w/app/it\u2019s"]],
  ["read", { path: "9 AM" }, ["read path /w/app/9 AM | /w/app/9\u202fAM"]],
  ["read", { path: "\u00e9" }, ["read path /w/app/\u00e9 | /w/app/e\u0301"]],
  ["ls", { path: "@types" }, ["read path /w/app/types | /w/app/@types"]],
  ["edit", { path: "it's" }, ["write path /w/app/it's | /w/app/it\u2019s"]],
  ["write", { path: "it's" }, ["write path /w/app/it's"]],
  [
    "write",
    { path: "@a/\u00e9" },
    ["write path /w/app/a/\u00e9 | /w/app/@a/\u00e9 | /w/app/@a/e\u0301 | /w/app/a/e\u0301"],
  ],
  ["read", { path: "a.zip#b" }, ["read path /w/app/a.zip#b | /w/app/a.zip"]],
  ["read", { path: "../a#b/c#d" }, ["read path /w/a#b/c#d | /w/a#b/c | /w/a"]],
  ["edit", { path: "a.zip#b" }, ["write path /w/app/a.zip#b"]],
  ["hashline_patch", { patch: "¶@a#12ab\n1!" }, ["write path /w/app/a | /w/app/@a"]],
])("%s with %j names every path that it may open: %j", (name, args, wanted) => {
  expect(getAccess(name, args)).toEqual(wanted);
});

test("whatever exists, a path is opened that was asked for", async () => {
  const typed = fc
    .array(fc.constantFrom("@", "#", "a", "/", "'", " AM", "\u00e9", "e\u0301", "..", "~"), { minLength: 1 })
    .map((parts) => parts.join(""))
    .filter((path) => path !== "@");
  const choices = [
    [listExisting, resolveExisting],
    [listReadable, async (...asked: Parameters<typeof resolveReadable>) => (await resolveReadable(...asked)).path],
    [listNew, resolveNew],
  ] as const;
  await fc.assert(
    fc.asyncProperty(
      typed,
      fc.constantFrom(...choices),
      fc.infiniteStream(fc.boolean()),
      async (path, [list, resolve], coins) => {
        // What exists is decided when it is looked at, and stays so.
        const known = new Map<string, boolean>();
        const stat = async (looked: string) => {
          if (!known.has(looked)) known.set(looked, coins.next().value);
          return known.get(looked) ? { isFile: () => true } : undefined;
        };
        expect([...list("/w", path)]).toContain(await resolve({ stat } as unknown as Files, "/w", path));
      },
    ),
    { numRuns: 1_000 },
  );
});

test.each<[ToolName, unknown]>([
  ["read", {}],
  ["read", { path: 7 }],
  ["read", { path: "" }],
  ["read", { path: "@" }],
  ["read", { path: "a\0b" }],
  ["read", { path: "FILE:///etc/passwd" }],
  ["write", { path: "" }],
  ["edit", { path: "a\0b" }],
  ["hashline_patch", { patch: "no header" }],
  ["hashline_patch", null],
  ["bash", undefined],
])("%s with %j, which tells no target, wants something of its own name", (name, args) => {
  expect(getAccess(name, args)).toEqual([expect.stringMatching(new RegExp(`^(read|write|exec) name ${name}$`))]);
});

test("a patch writes every file that a header names, and only headers count", () => {
  const patch = "¶a.ts#12ab\r\n5:\n+¶not/a/header#1234\n¶ ../b c.ts#FFFF \n1!\n";
  expect(getAccess("hashline_patch", { patch })).toEqual(["write path /w/app/a.ts", "write path /w/b c.ts"]);
});

test("a broken header beside a good one is asked for too", () => {
  expect(getAccess("hashline_patch", { patch: "¶a#12ab\n1!\n¶b\n1!" })).toEqual([
    "write path /w/app/a",
    "write name hashline_patch",
  ]);
});

test("a patch names for its access the files that the tool would change", () => {
  const line = fc.oneof(
    fc.constantFrom("¶a#12ab", "¶ b c#FFFF ", "¶d", "¶#1234", "¶e#12345", "5!", "+¶x#12ab", "1:", "+text", ""),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const patch = lines.join("\n");
      let sections: { path: string }[];
      try {
        sections = parsePatch(patch);
      } catch (error) {
        expect(error).toBeInstanceOf(ToolsError);
        return;
      }
      const wanted = sections.map(({ path }) => `write path /w/app/${path}`);
      expect(getAccess("hashline_patch", { patch })).toEqual(wanted);
    }),
    { numRuns: 1_000 },
  );
});

test("the headers of a patch are found in time by its length only", () => {
  const start = process.cpuUsage();
  for (const piece of [" ", "#", "#1234 "]) listHeaders(`¶${piece.repeat(100_000 / piece.length)}x`);
  expect(process.cpuUsage(start).user / 1_000).toBeLessThan(500);
});

test.each<[ToolName, unknown, string | undefined]>([
  ["read", { path: "a.ts" }, "Read a.ts"],
  ["ls", {}, "List ."],
  ["grep", { pattern: "key", path: "/etc" }, "Search /etc for key"],
  ["find", { pattern: "*.ts" }, "Look in . for *.ts"],
  ["write", { path: "a", content: "x" }, "Write 1 character to a"],
  ["write", { path: "src/a.ts", content: "x".repeat(120) }, "Write 120 characters to src/a.ts"],
  ["write", { path: "a" }, undefined],
  ["edit", { path: "a", edits: [{}] }, "Change a"],
  ["hashline_edit", { path: "a", edits: [{}] }, "Change a"],
  ["hashline_patch", { patch: "¶a#12ab\n1!\n¶b#12ab\n1!\n¶a#12ab\n2!" }, "Change a, b"],
  ["hashline_patch", { patch: "" }, undefined],
  ["bash", { command: "a\nb" }, "Run a\nb"],
  ["bash", {}, undefined],
  ["read", {}, undefined],
])("%s with %j is summed up as %j", (name, args, summary) => {
  expect(describe(name).summarise?.(args)).toBe(summary);
});

test.each<[ToolName, unknown, string[], string[]]>([
  ["read", { path: "a.ts" }, ["a.ts"], []],
  ["read", { file_path: "a.ts" }, ["a.ts"], []],
  ["read", {}, [], []],
  ["write", { path: "a" }, [], ["a"]],
  ["edit", { path: "a" }, [], ["a"]],
  ["hashline_edit", { path: "a" }, [], ["a"]],
  ["hashline_patch", { patch: "¶ a b.ts#12ab\n¶c#d.ts#34CD \n¶ #12ab" }, [], ["a b.ts", "c#d.ts"]],
  ["hashline_patch", { patch: { toString: false } }, [], []],
])("%s with %j has read %j and changed %j", (name, args, read, modified) => {
  expect(describe(name).touches?.(args)).toEqual({ read, modified });
});

const prepare = (name: ToolName, args: unknown) => definitions[name as "read"].prepareArguments(args);

test.each<[ToolName, unknown, unknown]>([
  ["read", { file_path: "a" }, { path: "a" }],
  ["read", { path: "a", file_path: "a" }, { path: "a" }],
  ["read", { path: null, file_path: "a" }, { path: "a" }],
  ["read", { path: "a", file_path: null }, { path: "a" }],
  ["read", { path: "a", offset: 0 }, { path: "a", offset: 1 }],
  ["read", { path: "a", offset: "0" }, { path: "a", offset: 1 }],
  ["read", { path: "a", offset: 1 }, { path: "a", offset: 1 }],
  ["read", { path: "a", offset: null }, { path: "a", offset: null }],
  ["read", "a", "a"],
  ["write", { file_path: "a", content: "x" }, { path: "a", content: "x" }],
  ["edit", { file_path: "a", oldText: "x", newText: "y" }, { path: "a", edits: [{ oldText: "x", newText: "y" }] }],
  ["hashline_edit", { file_path: "a", edits: [] }, { path: "a", edits: [] }],
  ["hashline_edit", { file_path: "a", edits: 1 }, { path: "a", edits: 1 }],
  ["grep", { pattern: "x", file_path: "a" }, { pattern: "x", path: "a" }],
  ["find", { pattern: "x", file_path: "a" }, { pattern: "x", path: "a" }],
  ["ls", { file_path: "a" }, { path: "a" }],
  ["jobs", { action: "read", id: "1", offset: 0 }, { action: "read", id: "1", offset: 1 }],
])("%s takes the names and counts of other agents: %j is %j", (name, args, prepared) => {
  expect(prepare(name, args)).toEqual(prepared);
});

test.each<ToolName>(["read", "write", "edit", "hashline_edit", "grep", "find", "ls"])(
  "%s refuses two paths that differ",
  (name) => {
    expect(() => prepare(name, { path: "a", file_path: "b" })).toThrow(
      '`path` is "a" and `file_path` is "b". They mean the same; give only `path`.',
    );
  },
);

test("only the tools that search and show change nothing", () => {
  const reading = Object.values<ToolDescription & { name: string }>(definitions).filter(({ readOnly }) => readOnly);
  expect(reading.map(({ name }) => name)).toEqual(["read", "grep", "find", "ls"]);
});
