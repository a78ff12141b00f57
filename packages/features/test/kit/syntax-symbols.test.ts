/** The symbols of source files, by the real parser. */
import { spawn as startProcess } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { Parser } from "../../src/kit/syntax/parser.ts";
import { createSyntaxSymbols } from "../../src/kit/syntax/symbols.ts";

/** Starts programs without a sandbox, as `tau.spawn` would inside of one. */
const spawn: ConstructorParameters<typeof Parser>[0]["spawn"] = async (command, args) => {
  const child = startProcess(command, args, { stdio: "pipe" });
  const exit = new Promise<{ kind: "exited"; code: number }>((resolve) =>
    child.once("exit", (code) => resolve({ kind: "exited", code: code ?? -1 })),
  );
  const { stdin, stdout, stderr } = child;
  const end = async () => {
    child.kill("SIGKILL");
    await exit;
  };
  return { pid: child.pid!, stdin, stdout, stderr, exit, getExcess: () => undefined, end };
};

const symbolsOf = async (path: string, text: string) => {
  const symbols = createSyntaxSymbols({ spawn });
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
  expect(await symbolsOf("a.py", "def f(): pass\n")).toMatch(/no grammar for a\.py/);
});

test("without the package of the parser the answer says what to install", async () => {
  const parser = new Parser({
    spawn,
    locate: () => {
      throw new Error("Cannot find module");
    },
  });
  const result = await parser.ask({ kind: "outline", grammar: "TypeScript", text: "" });
  expect(result).toMatchObject({ kind: "unavailable", message: expect.stringContaining("optional dependencies") });
});

test("a file that takes too long is given up, and the next one is parsed", async () => {
  const parser = new Parser({ spawn, fileTimeMs: 1_500 });
  onTestFinished(() => parser.close());
  const slow = parser.ask({ kind: "match", grammar: "Html", text: "<a>".repeat(100_000), pattern: "<a>", limit: 1 });
  const next = parser.ask({ kind: "match", grammar: "TypeScript", text: "foo(1)", pattern: "foo($A)", limit: 1 });
  expect(await slow).toEqual({ kind: "failed", reason: "time" });
  expect(await next).toMatchObject({ kind: "matches", total: 1 });
});
