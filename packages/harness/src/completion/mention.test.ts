import { describe, expect, test } from "vitest";
import { findOpenMention, findOpenPath, formatMention, parseMention } from "./mention.ts";

describe("the mention before the cursor", () => {
  test.each<[string, { from: number; path: string; isQuoted?: true } | undefined]>([
    ["@", { from: 1, path: "" }],
    ["see @src/ma", { from: 5, path: "src/ma" }],
    ["(@a", { from: 2, path: "a" }],
    ['@"my fi', { from: 1, path: "my fi", isQuoted: true }],
    ['@"', { from: 1, path: "", isQuoted: true }],
    ['@"a" @b', { from: 6, path: "b" }],
    ["two @a\n@b", { from: 8, path: "b" }],
    ["请看@src/ma", { from: 3, path: "src/ma" }],
    ["「@a", { from: 2, path: "a" }],
    ["a@b", undefined],
    ["@a b", undefined],
    ['@"a"', undefined],
    ["@a\0b", undefined],
    ["", undefined],
  ])("%j", (before, expected) => {
    const mention = findOpenMention(before);
    expect(mention && { from: mention.from, path: mention.path, ...(mention.isQuoted && { isQuoted: true }) }).toEqual(
      expected,
    );
  });
});

describe("the path before the cursor", () => {
  test.each<[string, { from: number; path: string; isQuoted?: true } | undefined]>([
    ["", { from: 0, path: "" }],
    ["see src/ma", { from: 4, path: "src/ma" }],
    ["--file=./a", { from: 7, path: "./a" }],
    ["see ", { from: 4, path: "" }],
    ['see "my fi', { from: 4, path: "my fi", isQuoted: true }],
    ['see "my file" a', { from: 14, path: "a" }],
    ["it's", { from: 3, path: "s" }],
    ["a\0b", undefined],
  ])("%j", (before, expected) => {
    const path = findOpenPath(before);
    expect(path && { from: path.from, path: path.path, ...(path.isQuoted && { isQuoted: true }) }).toEqual(expected);
  });
});

describe("a path", () => {
  const directories = { cwd: "/work/project", home: "/home/me" };

  test.each<[string, object]>([
    ["", { kind: "tree", prefix: "", query: "" }],
    ["src/m", { kind: "tree", prefix: "", query: "src/m" }],
    ["./src/m", { kind: "tree", prefix: "./", query: "src/m" }],
    [".env", { kind: "tree", prefix: "", query: ".env" }],
    ["~x", { kind: "tree", prefix: "", query: "~x" }],
    ["/", { kind: "directory", prefix: "/", directory: "/", query: "" }],
    ["/etc/pa", { kind: "directory", prefix: "/etc/", directory: "/etc", query: "pa" }],
    ["~", { kind: "directory", prefix: "~/", directory: "/home/me", query: "" }],
    ["~/a/b", { kind: "directory", prefix: "~/a/", directory: "/home/me/a", query: "b" }],
    ["..", { kind: "directory", prefix: "../", directory: "/work", query: "" }],
    ["../other/x", { kind: "directory", prefix: "../other/", directory: "/work/other", query: "x" }],
  ])("%j means", (path, expected) => {
    expect(parseMention(path, directories)).toEqual(expected);
  });

  test.each<[string, string | undefined]>([
    ["src/main.ts", "src/main.ts"],
    ["my dir/", '"my dir/"'],
    ["a\\b", '"a\\b"'],
    ["'a", `"'a"`],
    ['say "hi"', `'say "hi"'`],
    [`both " and '`, undefined],
  ])("%j is written as %j", (path, expected) => {
    expect(formatMention(path, false)).toBe(expected);
  });

  test("that was begun with a quote stays quoted", () => {
    expect(formatMention("plain", true)).toBe('"plain"');
  });
});
