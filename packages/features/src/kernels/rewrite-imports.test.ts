import { expect, test } from "vitest";
import { rewriteImports } from "./rewrite-imports.ts";

test.each([
  ['import "x";', 'await __import("x");'],
  ['import a from "x"', 'const { default: a } = await __import("x")'],
  ["import { b, c as d } from 'x';\nb", "const { b, c: d } = await __import('x');\nb"],
  ['import a, { b } from "x"', 'const { default: a, b } = await __import("x")'],
  ['import * as all from "x"', 'const all = await __import("x")'],
  ['import a, * as all from "x"', 'const all = await __import("x"); const a = all.default'],
  [
    'import j from "./j.json" with { type: "json" }',
    'const { default: j } = await __import("./j.json", { with: { type: "json" } })',
  ],
  ['const x = await import("x")', 'const x = await __import("x")'],
  ["`${import('x')} import('y')`", "`${__import('x')} import('y')`"],
  ["a / 2; import('x') / 3", "a / 2; __import('x') / 3"],
])("%s", (code, rewritten) => {
  expect(rewriteImports(code)).toBe(rewritten);
});

test.each([
  ["in a string", "\"import('x')\" + 'import(1)'"],
  ["in a comment", "// import('x')\n/* import 'y' */ 1"],
  ["in a template", "`import('x') ${`import(1)`} {`"],
  ["in a pattern", "/import('x')[/]import(/.test(a)"],
  ["as a member", "a.import('x'); important(1); reimport('x')"],
])("the word stays %s", (_where, code) => {
  expect(rewriteImports(code)).toBe(code);
});
