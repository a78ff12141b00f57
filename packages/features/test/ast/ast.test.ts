/** `ast_grep` and `ast_edit` in real sessions, with the real parser. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { call, text } from "@tau/ai/testing";
import type { ToolResultMessage } from "@tau/ai";
import { parsePlaces } from "@tau/protocol/surface";
import { expect, onTestFinished, test } from "vitest";
import { ast, discovery } from "../../src/index.ts";
import { createTestSession, type TestSession, type TestSessionParams } from "../kit.ts";

type Call = ["ast_grep" | "ast_edit", object];

/** A session whose model makes these calls one after the other. */
async function run(files: Record<string, string>, calls: readonly Call[], params: TestSessionParams = {}) {
  const turns = [...calls.map(([name, args]) => [call(name, args)]), [text("Done.")]];
  const opened = await createTestSession(turns, { files, features: [discovery(), ast()], ...params });
  onTestFinished(() => opened.dispose());
  return opened;
}

const getResults = ({ session }: TestSession): ToolResultMessage[] =>
  session.messages.filter((message) => message.role === "toolResult") as ToolResultMessage[];

const getText = (result: ToolResultMessage | undefined) =>
  result?.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");

const source = `// foo(1) in a comment, and "foo(2)" in a text: neither is code
const ä = "😀"; foo(1);
foo(
  bar,
  "two",
);
`;

test("finds code by its structure, whatever its line breaks, with the place of each match", async () => {
  const opened = await run(
    { "a.ts": source, "b.tsx": "const x = <p>{foo(3)}</p>;\n", "c.js": "foo(4)\n", "d.py": "foo(5)\n" },
    [["ast_grep", { pattern: "foo($$$ARGS)" }]],
  );
  await opened.prompt("go");
  const [result] = getResults(opened);
  expect(result!.isError).toBe(false);
  const { places } = parsePlaces(result!.details);
  expect(places.map(({ path, line, column, endLine }) => [path, line, column, endLine])).toEqual([
    ["a.ts", 2, 17, 2],
    ["a.ts", 3, 1, 6],
    ["b.tsx", 1, 15, 1],
    ["c.js", 1, 1, 1],
  ]);
  expect(places[1]!.excerpt!.lines).toEqual(
    ["foo(", "  bar,", '  "two",', ")"].map((line) => (line === ")" ? ");" : line)),
  );
  expect(getText(result)).toContain("a.ts:3:1\n3: foo(");
});

test("ignored files, files of other places and files that may not be read are not searched", async () => {
  const opened = await run(
    { ".gitignore": "out\n", "out/a.ts": "foo(1)\n", "src/b.ts": "foo(2)\n", "lib/c.ts": "foo(3)\n" },
    [
      ["ast_grep", { pattern: "foo($A)" }],
      ["ast_grep", { pattern: "foo($A)", path: "src" }],
      ["ast_grep", { pattern: "foo($A)", glob: "!lib/**" }],
      ["ast_grep", { pattern: "foo($A)", path: "/etc" }],
    ],
  );
  await opened.prompt("go");
  const [all, one, excluded, outside] = getResults(opened);
  const paths = (result: ToolResultMessage | undefined) => parsePlaces(result!.details).places.map(({ path }) => path);
  expect([paths(all), paths(one), paths(excluded)]).toEqual([["lib/c.ts", "src/b.ts"], ["src/b.ts"], ["src/b.ts"]]);
  expect(outside!.isError).toBe(true);
});

test("a pattern that is not code, and a language without a grammar, are answered with what to do", async () => {
  const opened = await run({ "a.ts": "foo; bar\n", "a.py": "foo()\n", "a.cob": "foo\n" }, [
    ["ast_grep", { pattern: "foo; bar" }],
    ["ast_grep", { pattern: "foo()", language: "python" }],
    ["ast_grep", { pattern: "foo()", path: "a.py" }],
    ["ast_grep", { pattern: "absent($A)" }],
    ["ast_grep", { pattern: "foo()", language: "cobol" }],
    ["ast_grep", { pattern: "foo()", path: "a.cob" }],
  ]);
  await opened.prompt("go");
  const [bad, python, file, none, cobol, other] = getResults(opened).map(getText);
  expect(bad).toContain("This is not a pattern of TypeScript");
  const install = /The grammar of Python is not installed.*npm install .*grammars tree-sitter-python/;
  expect(python).toMatch(install);
  expect(file).toMatch(install);
  expect(cobol).toMatch(/cobol is a language without a grammar.*TypeScript, TSX, JavaScript, HTML, CSS/);
  expect(other).toMatch(/no grammar for .*a\.cob/);
  expect(none).toContain("No code matches");
});

test("rewrites all matches in all files, keeping byte order marks and line ends, and reports the diff", async () => {
  const opened = await run(
    { "a.ts": "\ufefffoo(1, 2);\r\nx = foo(foo(3));\r\n", "b.js": "foo( );\n", "c.ts": "other();\n" },
    [["ast_edit", { pattern: "foo($$$A)", rewrite: "bar($$$A)" }]],
  );
  await opened.prompt("go");
  const [result] = getResults(opened);
  expect(getText(result)).toBe("Rewrote 3 places in 2 files: a.ts (2), b.js (1).");
  const read = (name: string) => readFileSync(join(opened.session.cwd, name), "utf8");
  expect([read("a.ts"), read("b.js"), read("c.ts")]).toEqual([
    "\ufeffbar(1, 2);\r\nx = bar(foo(3));\r\n",
    "bar();\n",
    "other();\n",
  ]);
  expect(result!.details).toMatchObject({ diff: expect.stringContaining("+x = bar(foo(3));") });
});

test("a rewrite with a name that the pattern does not have changes nothing", async () => {
  const files = { "a.ts": "foo(1, 2);\n" };
  const refused: [pattern: string, rewrite: string, name: string][] = [
    ["foo($$$A)", "bar($$$B)", "$$$B"],
    ["foo($$$A)", "bar($A)", "$A"],
    ["foo($A, $B)", "bar($$$A)", "$$$A"],
    ["foo($_A, $B)", "bar($_A)", "$_A"],
  ];
  const opened = await run(
    files,
    refused.map(([pattern, rewrite]): Call => ["ast_edit", { pattern, rewrite }]),
  );
  await opened.prompt("go");
  for (const [index, result] of getResults(opened).entries()) {
    expect(result.isError).toBe(true);
    expect(getText(result)).toContain(`The pattern has no ${refused[index]![2]}, which the rewrite uses.`);
  }
  expect(readFileSync(join(opened.session.cwd, "a.ts"), "utf8")).toBe(files["a.ts"]);
});

test("a preview changes nothing, and the change that follows is refused if a file changed in between", async () => {
  const args = { pattern: "foo($A)", rewrite: "bar($A)" };
  const preview: Call = ["ast_edit", { ...args, preview: true }];
  const opened = await run({ "a.ts": "foo(1);\n", "b.ts": "foo(2);\n" }, [
    preview,
    ["ast_edit", args],
    preview,
    ["ast_edit", args],
  ]);
  const path = join(opened.session.cwd, "a.ts");
  let count = 0;
  opened.session.onSessionEvent((event) => {
    if (event.type === "tool_execution_end" && ++count === 1) {
      expect(readFileSync(path, "utf8")).toBe("foo(1);\n");
      writeFileSync(path, "foo(1); foo(3);\n");
    }
  });
  await opened.prompt("go");
  const [first, refused, second, done] = getResults(opened).map(getText);
  expect(first).toContain("-foo(1);\n+bar(1);");
  expect(refused).toContain("a.ts has changed since the preview. Nothing was changed");
  expect(second).toContain("+bar(1); bar(3);");
  expect(done).toContain("Rewrote 3 places in 2 files");
  expect(readFileSync(path, "utf8")).toBe("bar(1); bar(3);\n");
});

test("files that are made to stall or crash the parser cost their own answer only", async () => {
  const files = {
    // So many that the parser looks at all of them together first.
    ...Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`many/${index}.ts`, "foo;\n"])),
    "a.ts": "foo(1);\n",
    "crash.ts": `foo;${"{a:".repeat(200_000)}`,
    "large.ts": `foo(2);${" ".repeat(1024 * 1024)}`,
    "z.ts": "foo(3);\n",
  };
  const opened = await run(files, [["ast_grep", { pattern: "foo($A)" }]]);
  await opened.prompt("go");
  const [result] = getResults(opened);
  expect(parsePlaces(result!.details).places.map(({ path }) => path)).toEqual(["a.ts", "z.ts"]);
  // Which of the two comes first depends on the size of the stack.
  expect(getText(result)).toMatch(/Not searched, (could not be parsed|took too long to parse): crash\.ts/);
  expect(getText(result)).toContain("larger than 1 MiB: large.ts");
}, 60_000);

test("among many files those with a match are found, and those that cannot be searched are named", async () => {
  const many = Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`many/${index}.ts`, "other(1);\n"]));
  const files = {
    ...many,
    "mark.ts": "\ufefffoo(1);\n",
    "last.ts": "other(1);\nfoo(2);\n",
    "large.ts": `foo(3);\n${"// long\n".repeat(200_000)}`,
    ".env.ts": "foo(4);\n",
  };
  const opened = await run(files, [
    ["ast_grep", { pattern: "foo($A)" }],
    ["ast_grep", { pattern: "$A(7)" }],
    ["ast_grep", { pattern: "$A(2)", path: "." }],
    ["ast_grep", { pattern: "a; b" }],
  ]);
  await opened.prompt("go");
  const [named, absent, found, refused] = getResults(opened);
  expect(getText(named)).toMatch(/last\.ts:2:1\n.*\n\nmark\.ts:1:1\n/s);
  expect(getText(absent)).toMatch(/^No code matches "\$A\(7\)" in 13[23] parsed files\./);
  expect(getText(absent)).toContain("[Not searched, larger than 1 MiB: large.ts.]");
  expect(parsePlaces(found!.details)?.places.map(({ path }) => path)).toEqual(["last.ts"]);
  expect(refused!.isError).toBe(true);
});

test("a grammar of a trusted project serves search and edits of its language", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "tau-ast-"));
  const packages = join(cwd, "node_modules", "@vscode");
  mkdirSync(packages, { recursive: true });
  const { resolve } = createRequire(import.meta.url);
  symlinkSync(dirname(resolve("@vscode/tree-sitter-wasm/package.json")), join(packages, "tree-sitter-wasm"));
  const opened = await run(
    { "a.py": 'def f():\n    print("a")\n', "a.ts": "print(1)\n" },
    [
      ["ast_grep", { pattern: "print($A)" }],
      ["ast_edit", { pattern: "print($A)", rewrite: "log($A)" }],
    ],
    { cwd },
  );
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  await opened.prompt("go");
  const [found, edited] = getResults(opened).map(getText);
  expect(found).toContain('a.py:2:5\n2:     print("a")');
  expect(edited).toBe("Rewrote 2 places in 2 files: a.py (1), a.ts (1).");
  expect(readFileSync(join(cwd, "a.py"), "utf8")).toBe('def f():\n    log("a")\n');
});

test("in plan mode nothing is rewritten", async () => {
  const opened = await run({ "a.ts": "foo(1);\n" }, [["ast_edit", { pattern: "foo($A)", rewrite: "bar($A)" }]], {
    planMode: true,
  });
  await opened.prompt("go");
  expect(getResults(opened)[0]!.isError).toBe(true);
  expect(readFileSync(join(opened.session.cwd, "a.ts"), "utf8")).toBe("foo(1);\n");
});
