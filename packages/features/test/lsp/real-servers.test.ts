/**
 * The tool `lsp` with real servers, all of its actions. TypeScript 7 is a dependency of this project. The others are used if they are in
 * `PATH`, or in `bin` or `node_modules/.bin` of the directory that `TAU_LSP_SERVERS` names, which must not be below `/tmp`: a sandbox has
 * its own.
 */
import { mkdir, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { call } from "@tau/ai/testing";
import { expect, test, vi } from "vitest";
import { isProgram } from "../../src/kit/programs.ts";
import type { LspArguments } from "../../src/lsp/arguments.ts";
import { lspCall, makeDirectory, runCalls, writeFiles } from "./kit.ts";

const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
const serversDirectory = process.env["TAU_LSP_SERVERS"];
const path = [
  ...(serversDirectory === undefined
    ? []
    : [join(serversDirectory, "bin"), join(serversDirectory, "node_modules/.bin")]),
  // Without the programs of this project.
  ...(process.env["PATH"] ?? "").split(delimiter).filter((directory) => !directory.endsWith("node_modules/.bin")),
];

/** Says why a test is skipped. */
function isMissing(command: string, install: string): boolean {
  const isHere = path.some((directory) => isProgram(join(directory, command)));
  if (!isHere) console.log(`Skipped: ${command} is not installed (${install}, see TAU_LSP_SERVERS).`);
  return !isHere;
}

// A server that is JavaScript takes seconds of CPU to load, which a busy machine may not have for a minute.
const timeoutMs = 120_000;
const timeout = 600_000;

/** Makes calls in a project. */
async function ask(cwd: string, files: Readonly<Record<string, string>>, calls: readonly LspArguments[]) {
  vi.stubEnv("PATH", path.join(delimiter));
  await writeFiles(cwd, files);
  const { results } = await runCalls(
    calls.map((args, index) => lspCall({ timeoutMs, ...args }, String(index))),
    { cwd },
  );
  return {
    texts: results.map(({ text }) => text),
    errors: results.flatMap(({ isError }, index) => (isError ? [calls[index]!.action] : [])),
    read: (name: string) => readFile(join(cwd, name), "utf8"),
  };
}

const scriptFiles = {
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      module: "esnext",
      moduleResolution: "bundler",
      types: [],
    },
  }),
  "shape.ts": `export interface Shape { area(): number }
export class Square implements Shape {
  area(): number { return 4; }
}
export const unit = 1;
`,
  "main.ts": `import { type Shape, Square } from "./shape.ts";
const square: Shape = new Square();
export const size: string = square.area();
export const twice = 2 * unit;
`,
};

const scriptCalls: LspArguments[] = [
  { action: "hover", file: "main.ts", line: 2, symbol: "square" },
  { action: "definition", file: "main.ts", line: 3, symbol: "square" },
  { action: "type_definition", file: "main.ts", line: 3, symbol: "square" },
  { action: "implementation", file: "shape.ts", line: 1, symbol: "Shape" },
  { action: "references", file: "shape.ts", line: 2, symbol: "Square" },
  { action: "symbols", file: "shape.ts" },
  { action: "symbols", query: "Square" },
  { action: "diagnostics", file: ["main.ts", "shape.ts"] },
  { action: "code_actions", file: "main.ts", line: 4 },
  { action: "code_actions", file: "main.ts", line: 4, query: "import", apply: true },
  { action: "rename", file: "shape.ts", line: 2, symbol: "Square", new_name: "Box" },
  { action: "rename_file", file: "shape.ts", new_name: "forms.ts" },
  { action: "capabilities", file: "main.ts" },
  { action: "request", query: "textDocument/foldingRange", file: "forms.ts" },
  { action: "status" },
  { action: "reload" },
  { action: "diagnostics", file: "main.ts" },
  { action: "diagnostics", file: "*" },
];

async function checkScript(cwd: string, { name, source }: { name: string; source: string }): Promise<void> {
  const { texts, errors, read } = await ask(cwd, scriptFiles, scriptCalls);
  expect(errors).toEqual([]);
  const assignment = `error: Type 'number' is not assignable to type 'string'. (${source} 2322)`;
  expect(texts[0]).toContain("const square: Shape");
  expect(texts[1]).toMatch(/^main\.ts:2:7\n/);
  expect(texts[2]).toMatch(/^shape\.ts:1:18\n/);
  expect(texts[3]).toMatch(/^shape\.ts:2:14\n/);
  expect(texts[4]!.split("\n").map((line) => line.split(": ")[0])).toEqual([
    "shape.ts:2:14",
    "main.ts:1:22",
    "main.ts:2:27",
  ]);
  expect(texts[5]).toContain("method Square.area");
  expect(texts[6]).toMatch(/shape\.ts:2:\d+: class Square/);
  expect(texts[7]).toBe(
    `2 errors:\nmain.ts:3:14: ${assignment}\nmain.ts:4:26: error: Cannot find name 'unit'. (${source} 2304)`,
  );
  expect(texts[8]).toMatch(/import/i);
  expect(texts[9]).toMatch(/^Changed main\.ts\./);
  // The server decides in which order it names files.
  expect(texts[10]).toMatch(/^Changed (?:shape\.ts, main\.ts|main\.ts, shape\.ts)\./);
  expect(texts[11]).toMatch(/^Changed (?:shape\.ts, main\.ts|main\.ts, shape\.ts)\./);
  expect(texts[12]).toContain("renameProvider");
  expect(texts[13]).toContain('"startLine": 1');
  expect(texts[14]).toContain(`${name} `);
  expect(texts[15]).toBe(`Restarted: ${name}.`);
  expect(texts[16]).toBe(`1 error:\nmain.ts:3:14: ${assignment}`);
  expect(texts[17]).toMatch(/tsc --noEmit --pretty false: 1 error\nmain\.ts:3:14: error: .* \(TS2322\)$/s);
  expect((await read("main.ts")).split("\n")[0]).toMatch(/^import \{ type Shape, Box, unit \} from "\.\/forms\.ts";$/);
  expect(await read("forms.ts")).toContain("export class Box implements Shape {");
}

test("TypeScript 7", { timeout }, async () => {
  const cwd = await makeDirectory();
  await mkdir(join(cwd, "node_modules/.bin"), { recursive: true });
  await symlink(typescript, join(cwd, "node_modules/typescript"));
  await symlink("../typescript/bin/tsc", join(cwd, "node_modules/.bin/tsc"));
  await checkScript(cwd, { name: "typescript", source: "ts" });
});

test.skipIf(isMissing("typescript-language-server", "npm install typescript-language-server typescript@5"))(
  "typescript-language-server",
  { timeout },
  async () => {
    await checkScript(await makeDirectory(), { name: "typescript-language-server", source: "typescript" });
  },
);

test.skipIf(isMissing("pyright-langserver", "npm install pyright"))("pyright", { timeout }, async () => {
  const files = {
    "pyproject.toml": "",
    "shape.py": "class Shape:\n    pass\n\n\nclass Square(Shape):\n    def area(self) -> int:\n        return 4\n",
    "main.py": "from shape import Square\n\nsquare = Square()\nsize: str = square.area()\n",
  };
  const { texts, errors, read } = await ask(await makeDirectory(), files, [
    { action: "hover", file: "main.py", line: 3, symbol: "square" },
    { action: "definition", file: "main.py", line: 4, symbol: "square" },
    { action: "type_definition", file: "main.py", line: 4, symbol: "square" },
    { action: "implementation", file: "shape.py", line: 1, symbol: "Shape" },
    { action: "references", file: "shape.py", line: 5, symbol: "Square" },
    { action: "symbols", file: "shape.py" },
    { action: "symbols", query: "Square" },
    { action: "diagnostics", file: ["main.py", "shape.py"] },
    { action: "code_actions", file: "main.py", line: 4 },
    { action: "rename", file: "shape.py", line: 5, symbol: "Square", new_name: "Box" },
    { action: "capabilities", file: "main.py" },
    { action: "request", query: "textDocument/documentHighlight", file: "main.py", line: 3, symbol: "square" },
    { action: "status" },
    { action: "reload" },
    { action: "diagnostics", file: "*" },
    { action: "rename_file", file: "shape.py", new_name: "forms.py" },
  ]);
  expect(errors).toEqual(["implementation"]);
  expect(texts[0]).toContain("(variable) square: Square");
  expect(texts[1]).toMatch(/^main\.py:3:1\n/);
  expect(texts[2]).toMatch(/^shape\.py:5:7\n/);
  expect(texts[3]).toBe("pyright cannot find implementations.");
  expect(texts[4]!.split("\n")).toHaveLength(3);
  expect(texts[5]).toContain("method Square.area");
  expect(texts[6]).toContain("shape.py:5:7: class Square");
  expect(texts[7]).toMatch(/^1 error:\nmain\.py:4:13: error: Type "int" is not assignable/);
  expect(texts[9]).toMatch(/^Changed (?:main\.py, shape\.py|shape\.py, main\.py)\./);
  expect(texts[10]).toContain("renameProvider");
  expect(texts[11]).toContain('"line": 2');
  expect(texts[13]).toBe("Restarted: pyright.");
  expect(texts[14]).toMatch(/pyright: 1 error\nmain\.py:4:13: error/);
  expect(texts[15]).toContain("pyright does not update other files");
  expect(await read("main.py")).toContain("square = Box()");
  expect(await read("forms.py")).toContain("class Box(Shape):");
});

test.skipIf(isMissing("pyright-langserver", "npm install pyright"))(
  "pyright resolves an import once a tool has written the file",
  { timeout },
  async () => {
    vi.stubEnv("PATH", path.join(delimiter));
    const cwd = await makeDirectory();
    await writeFiles(cwd, { "pyproject.toml": "", "main.py": "from shape import Square\n\nsquare = Square()\n" });
    const check = (id: string) => lspCall({ action: "diagnostics", file: "main.py", timeoutMs }, id);
    const write = call("write", { path: "shape.py", content: "class Square:\n    pass\n" }, "write");
    const { results } = await runCalls([check("before"), write, check("after")], { cwd });
    expect(results[0]!.text).toContain('Import "shape" could not be resolved');
    expect(results[2]!.text).toBe("No problems.");
  },
);

test.skipIf(isMissing("clangd", "apt install clangd"))("clangd", { timeout }, async () => {
  const files = {
    "compile_flags.txt": "-Wall\n",
    "shape.h": "struct shape { int side; };\nint area(struct shape shape);\n",
    "shape.c": '#include "shape.h"\n\nint area(struct shape shape) {\n  return shape.side * shape.side;\n}\n',
    "main.c": '#include "shape.h"\n\nint main(void) {\n  struct shape square = {2};\n  return area(square)\n}\n',
  };
  const { texts, errors, read } = await ask(await makeDirectory(), files, [
    { action: "hover", file: "main.c", line: 4, symbol: "square" },
    { action: "definition", file: "main.c", line: 5, symbol: "area" },
    { action: "type_definition", file: "main.c", line: 5, symbol: "square" },
    { action: "implementation", file: "main.c", line: 5, symbol: "area" },
    { action: "references", file: "shape.c", line: 3, symbol: "area" },
    { action: "symbols", file: "shape.c" },
    { action: "symbols", query: "area" },
    { action: "diagnostics", file: ["main.c", "shape.c"] },
    { action: "code_actions", file: "main.c", line: 6 },
    { action: "code_actions", file: "main.c", line: 6, query: "insert ';'", apply: true },
    { action: "rename", file: "main.c", line: 4, symbol: "square", new_name: "box" },
    { action: "rename_file", file: "shape.c", new_name: "forms.c" },
    { action: "capabilities", file: "main.c" },
    { action: "request", query: "textDocument/documentHighlight", file: "main.c", line: 4, symbol: "box" },
    { action: "status" },
    { action: "reload" },
    { action: "diagnostics", file: "main.c" },
  ]);
  expect(errors).toEqual([]);
  expect(texts[0]).toContain("struct shape square");
  expect(texts[1]).toMatch(/^shape\.[ch]:/);
  expect(texts[2]).toMatch(/^shape\.h:1:8\n/);
  expect(texts[4]).toContain("shape.c:3:5");
  expect(texts[5]).toBe("shape.c:3:5: function area");
  expect(texts[6]).toContain("function area");
  expect(texts[7]).toMatch(/^1 error:\nmain\.c:\d:\d+: error: Expected ';'/);
  expect(texts[8]).toContain("insert ';'");
  expect(texts[9]).toMatch(/^Changed main\.c\./);
  expect(texts[10]).toMatch(/^Changed main\.c\./);
  expect(texts[11]).toContain("clangd does not update other files");
  expect(texts[12]).toContain("renameProvider");
  expect(texts[14]).toContain("clangd ");
  expect(texts[15]).toBe("Restarted: clangd.");
  expect(texts[16]).toBe("No problems.");
  expect(await read("main.c")).toContain("  return area(box);\n");
});
