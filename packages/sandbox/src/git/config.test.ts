import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatConfig, judgeConfig, parseConfig } from "./config.ts";

const plain = '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/a.git\n';

const isPlanted = (path: string) => /^(?:\.|\/ws)\//.test(path);

describe("a configuration of git", () => {
  test.each([
    ["the same text", plain, "unchanged"],
    ["another user", `${plain}[user]\n\tname = Me\n\temail = me@example.com\n`, "allowed"],
    ["a followed branch", `${plain}[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n`, "allowed"],
    ["a remote", `${plain}[remote "b"]\n\turl = https://b\n\tfetch = +refs/heads/*:refs/remotes/b/*\n`, "allowed"],
    ["a comment", `# mine\n${plain}`, "allowed"],
    ["hooks elsewhere", `${plain}[core]\n\thooksPath = /evil\n`, "undone"],
    ["an alias", `${plain}[alias]\n\tst = !evil\n`, "undone"],
    ["an included file", `${plain}[include]\n\tpath = /evil\n`, "undone"],
    ["a program of a remote", `${plain}[remote "origin"]\n\tuploadpack = evil\n`, "undone"],
    ["a value that is removed", '[remote "origin"]\n\turl = https://example.com/a.git\n', "undone"],
    ["a value on two lines", `${plain}[core]\n\thooksPath = /ev\\\nil\n`, "undone"],
    ["a key on the section's line", `${plain}[core] hooksPath = /evil\n`, "undone"],
    ["no file", undefined, "undone"],
    // A push to a repository that a command made would run its hooks.
    ["a repository elsewhere", `${plain}[remote "b"]\n\turl = /elsewhere/b.git\n`, "allowed"],
    ["a repository of a command", `${plain}[remote "b"]\n\turl = ./b.git\n`, "undone"],
    ["the same with a scheme", `${plain}[remote "b"]\n\turl = file:///ws/b.git\n`, "undone"],
    ["the same to push to", `${plain}[remote "origin"]\n\tpushurl = /ws/b.git\n`, "undone"],
    ["the same of a branch", `${plain}[branch "main"]\n\tremote = ./b.git\n`, "undone"],
    ["the same to push a branch to", `${plain}[branch "main"]\n\tpushRemote = /ws/b.git\n`, "undone"],
    ["an address of a file, with escapes", `${plain}[remote "a"]\n\turl = file:///%77s/e\n`, "undone"],
    ["an address of a file without the root", `${plain}[remote "a"]\n\turl = file://../ws/e\n`, "undone"],
    ["an address with escapes that mean nothing", `${plain}[remote "a"]\n\turl = file:///%ff/e\n`, "undone"],
    ["an address of a file elsewhere", `${plain}[remote "a"]\n\turl = file:///srv/%77s\n`, "allowed"],
    ["a remote that is not configured", `${plain}[branch "main"]\n\tremote = planted\n`, "undone"],
    ["a branch that follows another one here", `${plain}[branch "b"]\n\tremote = .\n`, "allowed"],
    ["a branch that follows an address", `${plain}[branch "b"]\n\tremote = git@example.com:a/b\n`, "allowed"],
  ])("%s", (_what, after, kind) => {
    expect(judgeConfig(plain, after, isPlanted).kind).toBe(kind);
  });

  test("keeps what is allowed of a change that is not", () => {
    const after = `${plain}[user]\n\tname = Me\n[core]\n\tfsmonitor = evil\n\tbare = true\n`;
    expect(judgeConfig(plain, after, isPlanted)).toEqual({
      kind: "undone",
      keys: ["core.bare", "core.fsmonitor"],
      text: '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/a.git\n[user]\n\tname = Me\n',
    });
  });

  test("that a command has made has what git itself writes, and nothing else", () => {
    const made = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";
    expect(judgeConfig(undefined, made, isPlanted)).toEqual({ kind: "allowed" });
    const verdict = judgeConfig(undefined, `${made}\tpager = evil\n`, isPlanted);
    expect(verdict).toEqual({ kind: "undone", keys: ["core.pager"], text: made });
    expect(judgeConfig(undefined, "[core]\n\tpager = evil\n", isPlanted)).toMatchObject({
      kind: "undone",
      text: undefined,
    });
  });

  test("is the same after it was written and read, whatever its values are", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
    const text = fc.string({ unit: fc.constantFrom(..."ab \t\n\"\\#;='é".split("")), maxLength: 12 });
    const entry = fc
      .tuple(
        name,
        fc.option(
          text.filter((value) => !value.includes("\n")),
          { nil: undefined },
        ),
        name,
        text,
      )
      .map(([section, sub, key, value]) => ({
        key: [section, ...(sub === undefined ? [] : [sub]), key].join("."),
        value: value.trimEnd(),
      }));
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
        expect(parseConfig(formatConfig(entries))).toEqual(entries);
      }),
    );
  });
});

test.each([
  ["a key in capitals", "[core]\n\tFSMONITOR = evil\n", ["core.fsmonitor"]],
  ["a section in capitals", '[CORE]\n\tpager = evil\n[REMOTE "a"]\n\tURL = https://a\n', ["core.pager"]],
  ["an escape that git does not know", "[user]\n\tname = a\\qb\n[core]\n\tpager = evil\n", ["(all)"]],
  ["a quote that does not close", '[user]\n\tname = "a\n[core]\n\tpager = evil\n', ["(all)"]],
])("git's own reading counts: %s", (_what, added, keys) => {
  expect(judgeConfig(plain, plain + added, isPlanted)).toMatchObject({ kind: "undone", keys });
});

test("a configuration that its owner wrote in an unusual way is kept as it was", () => {
  const unusual = "[core] bare = false\n";
  expect(judgeConfig(unusual, plain, isPlanted)).toEqual({ kind: "undone", text: unusual, keys: ["(all)"] });
});
