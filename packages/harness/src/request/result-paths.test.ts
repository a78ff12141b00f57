import { expect, test } from "vitest";
import { findResultPaths, replacePaths } from "./result-paths.ts";

const path = "/tmp/tau-results-a1b2/result-0f3c-1.txt";
const found = { path, name: "result-0f3c-1.txt" };

test.each<[string, Record<string, unknown>]>([
  ["a path", { path }],
  ["one of several paths", { paths: ["/etc/hosts", path] }],
  ["a command", { command: `sed -n '5p' ${path} | head -3; wc "${path}"` }],
  ["code", { code: `open('${path}').read()` }],
])("%s that names a kept result", (_name, args) => {
  expect(findResultPaths(args)).toEqual([found]);
  const changed = structuredClone(args);
  replacePaths(changed, new Map([[path, "/tmp/new/result-0f3c-1.txt"]]));
  expect(JSON.stringify(changed)).toBe(JSON.stringify(args).replaceAll(path, "/tmp/new/result-0f3c-1.txt"));
});

test.each<[string, Record<string, unknown>]>([
  ["the content of a file", { path: "notes.md", content: `See ${path}.`, oldText: path }],
  ["a relative path", { path: "work/result-1.txt" }],
  ["another file", { path: "/tmp/tau-results-a1b2/report-1.txt" }],
  ["a file in a directory of that name", { path: `${path}/notes.md` }],
  ["a value that is no text", { path: 7, command: null, paths: [{ path }] }],
])("%s is left as it is", (_name, args) => {
  const before = structuredClone(args);
  expect(findResultPaths(args)).toEqual([]);
  replacePaths(args, new Map([[path, "/tmp/new/result-0f3c-1.txt"]]));
  if (!JSON.stringify(before).includes("content")) expect(args).toEqual(before);
});

test("a path without a result in the session stays", () => {
  const args = { command: `cat ${path} /tmp/x/result-2.txt` };
  replacePaths(args, new Map([["/tmp/x/result-2.txt", "/tmp/y/result-2.txt"]]));
  expect(args).toEqual({ command: `cat ${path} /tmp/y/result-2.txt` });
});
