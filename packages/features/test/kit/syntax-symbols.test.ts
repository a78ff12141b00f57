/** The symbols of source files, by the real parser. */
import { expect, onTestFinished, test } from "vitest";
import { findGrammar } from "../../src/kit/syntax/grammars.ts";
import { findLanguage } from "../../src/kit/syntax/languages.ts";
import { Parser } from "../../src/kit/syntax/parser.ts";
import { createSyntaxSymbols } from "../../src/kit/syntax/symbols.ts";
import { spawn } from "./spawn.ts";

const places = { cwd: "/nowhere", agentDir: "/nowhere", isProjectTrusted: () => false };
const grammarOf = (name: string) => findGrammar(findLanguage(name)!, places)!;

const symbolsOf = async (path: string, text: string) => {
  const symbols = createSyntaxSymbols({ spawn, places });
  onTestFinished(() => symbols.close());
  const result = await symbols.list(path, text);
  return result.kind === "symbols"
    ? result.symbols.map(
        ({ kind, name, line, endLine, depth }) => `${"  ".repeat(depth)}${kind} ${name} ${line}-${endLine}`,
      )
    : result.message;
};

test("functions, classes, types and their members are listed, and what is inside of functions is not", async () => {
  const source = `import x from "y";
export const limit = 3;
export const add = (a: number) => {
  const inner = 1;
  return a + inner;
};
export default class Store<T> {
  #size = 0;
  get(key: string): T | undefined {
    return undefined;
  }
}
interface Shape { area(): number }
export type Name = string;
enum Color { Red }
namespace Deep {
  export function f() {}
}
`;
  expect(await symbolsOf("a.ts", source)).toEqual([
    "variable limit 2-2",
    "function add 3-6",
    "class Store 7-12",
    "  property #size 8-8",
    "  method get 9-11",
    "interface Shape 13-13",
    "type Name 14-14",
    "enum Color 15-15",
    "namespace Deep 16-18",
    "  function f 17-17",
  ]);
});

test("other languages have theirs, and a language without a grammar is named", async () => {
  expect(await symbolsOf("a.css", ".a, .b { color: red }\n")).toEqual(["rule .a, .b 1-1"]);
  expect(await symbolsOf("a.jsx", "function A() {\n  return <p/>;\n}\n")).toEqual(["function A 1-3"]);
  expect(await symbolsOf("a.py", "def f(): pass\n")).toMatch(/The grammar of Python is not installed/);
});

test("without the package of the parser the answer says what to install", async () => {
  const parser = new Parser({
    spawn,
    locate: () => {
      throw new Error("Cannot find module");
    },
  });
  const result = await parser.ask({ kind: "outline", grammar: grammarOf("TypeScript"), text: "" });
  expect(result).toMatchObject({ kind: "unavailable", message: expect.stringContaining("optional dependencies") });
});

test("a file that takes too long is given up, and the next one is parsed", async () => {
  const parser = new Parser({ spawn, fileTimeMs: 1_500 });
  onTestFinished(() => parser.close());
  const slow = parser.ask({
    kind: "match",
    grammar: grammarOf("HTML"),
    text: "<a>".repeat(100_000),
    pattern: "<a>",
    limit: 1,
  });
  const next = parser.ask({
    kind: "match",
    grammar: grammarOf("TypeScript"),
    text: "foo(1)",
    pattern: "foo($A)",
    limit: 1,
  });
  expect(await slow).toEqual({ kind: "failed", reason: "time" });
  expect(await next).toMatchObject({ kind: "matches", total: 1 });
});
