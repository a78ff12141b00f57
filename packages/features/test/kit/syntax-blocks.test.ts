/** The blocks of source files, by the real parser: each has its lines for itself. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findGrammar, type Grammar } from "../../src/kit/syntax/grammars.ts";
import { findLanguage } from "../../src/kit/syntax/languages.ts";
import { Parser } from "../../src/kit/syntax/parser.ts";
import { spawn } from "./spawn.ts";

// The machine may be busy.
const parser = new Parser({ spawn, fileTimeMs: 60_000 });
afterAll(() => parser.close());

const bundle = dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm/package.json"));
const places = { cwd: "/nowhere", agentDir: "/nowhere", isProjectTrusted: () => false };

function getGrammar(name: string): Grammar {
  const language = findLanguage(name)!;
  const wasmPath = join(bundle, "wasm", `tree-sitter-${name.toLowerCase()}.wasm`);
  return findGrammar(language, places) ?? { language, name: language.name, wasmPath };
}

async function findBlocks(language: string, text: string): Promise<string[]> {
  const result = await parser.ask({ kind: "outline", grammar: getGrammar(language), text });
  if (result.kind !== "outline") throw new Error(JSON.stringify(result));
  return result.blocks.map(({ line, endLine }) => `${line}-${endLine}`);
}

test.each<[name: string, language: string, lines: string[], blocks: string[]]>([
  ["a line that ends one branch and begins another", "TypeScript", ["if (a) {", "} else {", "}"], ["1-3"]],
  ["the end of a list of parameters", "TypeScript", ["function f(", "  a,", ") {", "}"], ["1-4"]],
  ["the middle of a chain", "TypeScript", ["f(() => {", "}).g(() => {", "});"], ["1-3"]],
  ["an end with a bracket of what is around it", "TypeScript", ["f(", "  {", "    a,", "  })"], ["1-4"]],
  ["elements on common lines", "TypeScript", ["const a = [", "  {", "  }, {", "  },", "];"], ["1-5"]],
  [
    "elements on their own lines",
    "TypeScript",
    ["const a = [", "  {", "  }, // b", "  {", "  },", "];"],
    ["1-6", "2-3", "4-5"],
  ],
  ["a block on one line, and one around it", "TypeScript", ["if (a) { if (b) {", "  c();", "} }"], ["1-3"]],
  ["blocks on one line alone", "TypeScript", ["function f() { if (a) { g(); } }", "f();"], []],
  ["a comment, and blank lines", "TypeScript", ["", "/**", " */", "", "// a", "// b", "f();", ""], ["2-3"]],
  [
    "decorators of a class and of its members",
    "TypeScript",
    ["@a", "@b({", "})", "class C {", "  @d", "  e() {", "  }", "}"],
    ["1-8", "2-8", "4-8", "5-7", "6-7"],
  ],
  ["a text with line breaks", "TypeScript", ["const a = `", "  {", "`;"], ["1-3"]],
  ["an element beside another", "TSX", ["const a = (", "  <p>", "  </p>", ");"], ["1-4", "2-3"]],
  ["an element that ends beside a bracket", "TSX", ["const a = b && (", "  <p>", "  </p>);"], ["1-3"]],
  [
    "decorators and branches",
    "Python",
    ["@a", "@b", "def f():", "    if a:", "        b()", "    else:", "        c()"],
    ["1-7", "2-7", "3-7", "4-7", "6-7"],
  ],
  ["a function after its last line", "Python", ["def f():", "    g()", "", "", "h()"], ["1-2"]],
  ["attributes", "Rust", ["#[a]", "// b", "#[c]", "fn f() {", "}"], ["1-5", "3-5", "4-5"]],
])("%s (%s)", async (_name, language, lines, blocks) => {
  const sorted = async (text: string) =>
    (await findBlocks(language, text)).toSorted((a, b) => parseInt(a) - parseInt(b));
  expect(await sorted(lines.join("\n"))).toEqual(blocks);
  expect(await sorted(`${lines.join("\n")}\n`), "with a line break at the end").toEqual(blocks);
});

test("the last block of a file of 10,000 lines is found", async () => {
  const text = "function f() {\n  if (a) {\n    g();\n  }\n}\n".repeat(2_000);
  expect((await findBlocks("TypeScript", text)).slice(-2)).toEqual(["9996-10000", "9997-9999"]);
});
