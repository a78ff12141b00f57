/** Grammars of packages: where they are found, and what is parsed with them. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { SettingsManager } from "@tau/config/settings";
import fc from "fast-check";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  describeMissing,
  findGrammar,
  getGrammarPlaces,
  type Grammar,
  type GrammarPlaces,
} from "../../src/kit/syntax/grammars.ts";
import { findLanguage, languages } from "../../src/kit/syntax/languages.ts";
import { Parser } from "../../src/kit/syntax/parser.ts";
import { spawn } from "./spawn.ts";

const bundle = dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm/package.json"));
const getBundled = (name: string) => join(bundle, "wasm", `tree-sitter-${name}.wasm`);
let root: string;
const parser = new Parser({ spawn });

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "tau-grammars-"));
});
afterAll(async () => {
  await parser.close();
  rmSync(root, { recursive: true, force: true });
});

const getPlaces = (name: string, isTrusted = true): GrammarPlaces => ({
  cwd: join(root, name, "project"),
  agentDir: join(root, name, "agent"),
  isProjectTrusted: () => isTrusted,
});

function put(path: string, from?: string): string {
  mkdirSync(dirname(path), { recursive: true });
  if (from === undefined) writeFileSync(path, "not wasm");
  else copyFileSync(from, path);
  return path;
}

const python = findLanguage("py")!;

test("a grammar is found in the agent directory, then in a project that is trusted, and nowhere else", () => {
  const places = getPlaces("find");
  const { cwd, agentDir } = places;
  expect(findGrammar(python, places)).toBeUndefined();
  expect(describeMissing(python, places)).toContain(
    `npm install --ignore-scripts --prefix ${join(agentDir, "grammars")} tree-sitter-python`,
  );
  const inBundle = put(join(cwd, "node_modules/@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm"));
  expect(findGrammar(python, places)?.wasmPath).toBe(inBundle);
  const inProject = put(join(cwd, "node_modules/tree-sitter-python/tree-sitter-python.wasm"));
  expect(findGrammar(python, places)?.wasmPath).toBe(inProject);
  expect(findGrammar(python, getPlaces("find", false))).toBeUndefined();
  expect(describeMissing(python, getPlaces("find", false))).toContain("once it is trusted");
  const settings = { isProjectTrusted: false } as SettingsManager;
  const openAuth = () => Promise.reject(new Error("not asked"));
  const place = { cwd, agentDir, settings, env: process.env, canStartPrograms: true, openAuth };
  expect(findGrammar(python, getGrammarPlaces(place))).toBeUndefined();
  const own = put(join(agentDir, "grammars/node_modules/tree-sitter-python/tree-sitter-python.wasm"));
  expect(findGrammar(python, getPlaces("find", false))?.wasmPath).toBe(own);
  const bare = put(join(agentDir, "grammars/tree-sitter-python.wasm"));
  expect(findGrammar(python, places)?.wasmPath).toBe(bare);
});

const bundled = (name: string, file = name.toLowerCase()): Grammar => {
  const language = findLanguage(name)!;
  return { language, name: language.name, wasmPath: getBundled(file) };
};

const outline = async (grammar: Grammar, text: string) => {
  const result = await parser.ask({ kind: "outline", grammar, text });
  if (result.kind !== "outline") throw new Error(JSON.stringify(result));
  return {
    symbols: result.symbols.map(({ kind, name, line, endLine, depth }) => [depth, kind, name, line, endLine].join(" ")),
    blocks: result.blocks.map(({ line, endLine }) => `${line}-${endLine}`),
    errorLine: result.errorLine,
  };
};

test("blocks, symbols and errors of other languages", async () => {
  const py =
    "import os\n\n@cached\ndef f(a):\n    x = 1\n    if a:\n        return x\n    return 2\n\nclass C:\n    def m(self): pass\n";
  expect(await outline(bundled("Python"), py)).toEqual({
    symbols: ["0 function f 4 8", "0 class C 10 11", "1 function m 11 11"],
    blocks: ["3-8", "4-8", "6-7", "10-11"],
    errorLine: undefined,
  });
  expect((await outline(bundled("Python"), "x = 1\ndef (:\n")).errorLine).toBe(2);
  const go = "package p\n\ntype T struct {\n\tA int\n}\n\nfunc (t *T) M() {\n\tif t.A > 1 {\n\t\tprintln()\n\t}\n}\n";
  expect(await outline(bundled("Go"), go)).toMatchObject({
    symbols: ["0 type T 3 5", "0 method M 7 11"],
    blocks: ["3-5", "7-11", "8-10"],
  });
  const rs = "struct S { a: u8 }\nimpl S {\n    fn new() -> S {\n        S { a: 1 }\n    }\n}\n";
  expect(await outline(bundled("Rust"), rs)).toMatchObject({
    symbols: ["0 struct S 1 1", "0 impl S 2 6", "1 function new 3 5"],
    blocks: ["2-6", "3-5"],
  });
  const cpp = "#include <a.h>\n#include <b.h>\nint *f(int a) {\n  return 0;\n}\nstruct P p;\n";
  expect(await outline(bundled("C++", "cpp"), cpp)).toMatchObject({
    symbols: [expect.stringMatching(/^0 function .*f/)],
    blocks: ["3-5"],
  });
});

const find = async (grammar: Grammar, text: string, pattern: string, rewrite?: string) => {
  const question = { kind: "match", grammar, text, pattern, limit: 100 } as const;
  const result = await parser.ask({ ...question, ...(rewrite !== undefined && { rewrite }) });
  if (result.kind !== "matches") return result.kind === "refused" ? result.reason : result.kind;
  return result.matches.map(({ start, end, replacement }) => replacement ?? text.slice(start, end));
};

test.each([
  ["Python", "python", "print(a, b)\n# print(c)\nprint( )\n", "print($$$A)", ["print(a, b)", "print( )"]],
  ["Python", "python", "def f(a, b):\n    return a\n", "def $F($$$P): $$$B", ["def f(a, b):\n    return a"]],
  ["Go", "go", "package p\nfunc f() {\n\tfmt.Println(a)\n\tfmt.Print(b)\n}\n", "fmt.Println($A)", ["fmt.Println(a)"]],
  [
    "Go",
    "go",
    "package p\nfunc f() {\n\tif err != nil {\n\t\treturn err\n\t}\n}\n",
    "if err != nil { $$$ }",
    ["if err != nil {\n\t\treturn err\n\t}"],
  ],
  ["Rust", "rust", "fn f() { x.unwrap(); y.expect(1); }\n", "$A.unwrap()", ["x.unwrap()"]],
  ["Java", "java", "class A { void f() { g(1); } int h() { return 2; } }\n", "g($A)", ["g(1)"]],
  ["Java", "java", "class A { int h() { return 2; } }\n", "int $F() { $$$ }", ["int h() { return 2; }"]],
  ["C++", "cpp", "int main() { foo(1, x); return 0; }\n", "foo($A, $B)", ["foo(1, x)"]],
  ["C#", "c-sharp", "class A { void F() { G(1); } }\n", "G($A)", ["G(1)"]],
  ["Ruby", "ruby", "def f\n  puts 1\n  puts(2)\nend\n", "puts($A)", ["puts(2)"]],
  ["PHP", "php", "<?php\nfoo($x);\n", "foo($A)", ["foo($x)"]],
])("%s: a pattern finds its code", async (name, file, text, pattern, expected) => {
  expect(await find(bundled(name, file), text, pattern)).toEqual(expected);
});

test("names stand for equal code, rewrites use them, and what is no code is refused", async () => {
  const grammar = bundled("Python");
  expect(await find(grammar, "f(a, a)\nf(a, b)\n", "f($X, $X)")).toEqual(["f(a, a)"]);
  expect(await find(grammar, 'f("a b", 2)\n', "f($A, $B)", "g($B, $A)")).toEqual(['g(2, "a b")']);
  expect(await find(grammar, "f(1, 2, 3)\nf()\n", "f($$$A)", "g($$$A)")).toEqual(["g(1, 2, 3)", "g()"]);
  expect(await find(grammar, "a\n", "a\nb")).toMatch(/not one piece/);
  expect(await find(grammar, "a\n", "def (")).toMatch(/not one piece/);
});

test("files and grammars that are made to harm cost their own answer", async () => {
  const grammar = bundled("Python");
  const hurried = new Parser({ spawn, fileTimeMs: 1_500 });
  onTestFinished(() => hurried.close());
  const deep = await hurried.ask({ kind: "outline", grammar, text: "(".repeat(100_000) });
  expect(["outline", "failed", "refused"]).toContain(deep.kind);
  const wide = `[${"1,".repeat(150_000)}1]`;
  const searched = await hurried.ask({ kind: "match", grammar, text: wide, pattern: "f($A)", limit: 1 });
  expect(["matches", "failed"]).toContain(searched.kind);
  const binary = await parser.ask({ kind: "outline", grammar, text: "\0\u0001\ud800(" });
  expect(["outline", "refused"]).toContain(binary.kind);
  const wasmPath = put(join(root, "bad.wasm"));
  const bad = await parser.ask({ kind: "outline", grammar: { language: python, name: "bad", wasmPath }, text: "a\n" });
  expect(bad).toMatchObject({ kind: "unavailable", message: expect.stringContaining("cannot be used") });
  const gone = { language: python, name: "gone", wasmPath: join(root, "no.wasm") };
  expect(await parser.ask({ kind: "outline", grammar: gone, text: "" })).toMatchObject({ kind: "unavailable" });
  expect(await find(grammar, "f(1)\n", "f($A)")).toEqual(["f(1)"]);
}, 60_000);

/** Pieces of code, so that a pattern often matches. `$$$` is last: between others, ast-grep finds less than there is. */
const expression = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom("a", "b", "1", '"x y"', "c.d", "$A", "$B"),
    fc
      .tuple(fc.constantFrom("f", "g"), fc.array(tie("node"), { maxLength: 3 }), fc.constantFrom([], ["$$$R"]))
      .map(([name, args, rest]) => `${name}(${[...args, ...rest].join(", ")})`),
    fc.tuple(tie("node"), fc.constantFrom("+", "=="), tie("node")).map(([a, sign, b]) => `${a} ${sign} ${b}`),
    fc.array(tie("node"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    fc.tuple(tie("node"), tie("node")).map(([a, b]) => `(function (a) { g(${b}); return ${a}; })`),
  ),
})).node;

test("a pattern finds what ast-grep finds, in a language that both have", async () => {
  const inside = findGrammar(findLanguage("js")!, getPlaces("none"))!;
  const own = bundled("JavaScript");
  const toCode = (text: string) => text.replaceAll("$$$R", "b").replaceAll(/\$([AB])/g, "a");
  const ask = async (grammar: Grammar, text: string, pattern: string) => {
    const result = await parser.ask({ kind: "match", grammar, text, pattern, rewrite: "<$A|$B|$$$R>", limit: 1_000 });
    return result.kind === "matches"
      ? result.matches.map(({ start, end, replacement }) => `${start}-${end} ${replacement}`)
      : result.kind;
  };
  let matches = 0;
  await fc.assert(
    fc.asyncProperty(expression, fc.array(expression, { minLength: 1, maxLength: 5 }), async (pattern, codes) => {
      fc.pre(pattern.split("$$$").length <= 2);
      const text = [pattern, ...codes].map((code) => `x = ${toCode(code)};\n`).join("");
      const expected = await ask(inside, text, pattern);
      if (Array.isArray(expected)) matches += expected.length;
      expect(await ask(own, text, pattern)).toEqual(expected);
    }),
    { numRuns: process.env["TAU_LONG"] ? 3_000 : 200 },
  );
  expect(matches).toBeGreaterThan(100);
}, 120_000);

test("every language is found by all of its names, and no ending belongs to two", () => {
  for (const language of languages) {
    for (const name of [language.name, ...language.aliases]) expect(findLanguage(name)).toBe(language);
    expect([language.inside, language.grammar].filter((source) => source !== undefined)).toHaveLength(1);
  }
  const endings = languages.flatMap(({ extensions }) => extensions);
  expect(new Set(endings).size).toBe(endings.length);
});
