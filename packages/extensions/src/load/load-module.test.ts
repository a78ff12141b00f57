import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { maxCachedFiles } from "./compile-cache.ts";
import { loadExtensionModule } from "./load-module.ts";
import type { LoadSharedModule } from "./loaded-module.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tau-load-module-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

const shared: Record<string, Record<string, unknown>> = {
  "@mariozechner/pi-tui": { Text: function Text() {}, visibleWidth: (text: string) => text.length },
};
const loadShared: LoadSharedModule = (name) => (shared[name] ? Promise.resolve(shared[name]) : undefined);

const load = (name: string) =>
  loadExtensionModule(join(directory, name), { loadShared, cacheDirectory: join(directory, "cache") });

/** Calls the factory and answers with what it returns. */
async function run(name: string): Promise<unknown> {
  const loaded = await load(name);
  if (loaded.kind !== "factory") throw new Error(loaded.kind === "failed" ? loaded.message : loaded.kind);
  return await (loaded.factory as (argument: unknown) => unknown)("the api");
}

async function fail(name: string): Promise<string> {
  const loaded = await load(name);
  return loaded.kind === "failed" ? loaded.message : `It loaded as ${loaded.kind}.`;
}

test("an import waits for a file that another import has begun to run", async () => {
  write({
    "main.ts": `export default async () => {
      const load = async (name) => (await import("./" + name + ".ts")).value;
      return await Promise.all([load("slow"), load("slow"), load("next"), load("last")]);
    };`,
    "slow.ts": "await new Promise((done) => setImmediate(done)); export const value = 1;",
    "next.ts": `import { value as before } from "./slow.ts"; export const value = before + 1;`,
    "last.ts": `import { value as before } from "./next.ts"; await null; export const value = before + 1;`,
  });
  expect(await run("main.ts")).toEqual([1, 1, 2, 3]);
});

test("files that wait for each other at their top level do not wait for ever", async () => {
  write({
    "main.ts": `import { one } from "./one.ts"; export default () => one;`,
    "one.ts": `const { two } = await import("./two.ts"); export const one = two;`,
    "two.ts": `import * as first from "./one.ts"; await null; export const two = typeof first;`,
  });
  expect(await run("main.ts")).toBe("object");
});

test("files that are imported at the same time share what both import", async () => {
  write({
    "main.ts": `export default async () => {
      const [a, b] = await Promise.all(["a", "b"].map((name) => import("./" + name + ".ts")));
      return [a.next(), b.next()];
    };`,
    "a.ts": `export { next } from "./counter.ts";`,
    "b.ts": `export { next } from "./counter.ts";`,
    "counter.ts": "let count = 0; export const next = () => ++count;",
  });
  expect(await run("main.ts")).toEqual([1, 2]);
});

describe("forms of modules", () => {
  test.each([
    [
      "a.ts",
      "enum Kind { One = 1 }\nexport default function (tau: string): string { return tau + Kind.One; }",
      "the api1",
    ],
    ["a.mts", "const kind: number = 2;\nexport default (tau: string) => tau + kind;", "the api2"],
    ["a.js", "export default (tau) => tau + 3;", "the api3"],
    ["a.mjs", "export { main as default };\nasync function main(tau) { return tau + 4; }", "the api4"],
    ["a.cjs", "module.exports = (tau) => tau + 5;", "the api5"],
    ["a.js", "exports.default = (tau) => tau + 6;", "the api6"],
    ["a.cts", "import path = require('node:path');\nexport = (tau: string) => path.basename(tau) + 7;", "the api7"],
    ["a.js", "#!/usr/bin/env node\nmodule.exports = (tau) => tau + 8;", "the api8"],
    ["a.cjs", "sloppy = 9; delete globalThis.sloppy;\nmodule.exports = (tau) => tau + 9;", "the api9"],
  ])("%s: %s", async (name, source, answer) => {
    write({ [name]: source });
    expect(await run(name)).toBe(answer);
  });

  test("JSX uses the runtime that is installed beside the extension", async () => {
    write({
      "node_modules/react/jsx-runtime.js": "exports.jsx = (type, props) => `${type}:${props.children}`;",
      "a.tsx": "export default (): unknown => <text>hello</text>;",
    });
    expect(await run("a.tsx")).toBe("text:hello");
  });

  test("an object is told from a function", async () => {
    write({ "a.ts": "export default { name: 'x', version: '1.0.0' };" });
    expect(await load("a.ts")).toEqual({ kind: "object", object: { name: "x", version: "1.0.0" }, providers: [] });
  });

  test("a module without either is refused by its name", async () => {
    write({ "a.ts": "export const x = 1;" });
    expect(await fail("a.ts")).toBe(
      `${directory}/a.ts is not an extension: it does not export a valid factory function or an object with a name as its default, or a provider.`,
    );
  });

  test("import.meta.resolve gives addresses", async () => {
    write({
      "node_modules/lib/index.js": "",
      "a.ts":
        "export default () => ['./b c.js', '../d', 'lib', 'fs', 'node:fs'].map((name) => import.meta.resolve(name));",
    });
    const [url, above] = [pathToFileURL(directory).href, pathToFileURL(dirname(directory)).href];
    const files = [`${url}/b%20c.js`, `${above}/d`, `${url}/node_modules/lib/index.js`];
    expect(await run("a.ts")).toEqual([...files, "node:fs", "node:fs"]);
  });

  test("the path of a shared module is that of the program, and others are Node's", async () => {
    write({
      "node_modules/@mariozechner/pi-tui/index.js": "",
      "node_modules/lib/index.js": "",
      "a.ts":
        "export default () => ['@mariozechner/pi-tui', 'lib'].flatMap((name) => [import.meta.resolve(name), require.resolve(name)]);",
    });
    const locateShared = (name: string, importer: string) => (shared[name] ? `${importer}.shared` : undefined);
    const loaded = await loadExtensionModule(join(directory, "a.ts"), {
      loadShared,
      locateShared,
      cacheDirectory: undefined,
    });
    const found = (loaded as unknown as { factory: () => unknown }).factory();
    const paths = [join(directory, "a.ts.shared"), join(directory, "node_modules", "lib", "index.js")];
    expect(found).toEqual(paths.flatMap((path) => [pathToFileURL(path).href, path]));
  });

  test("import.meta is known, and the same words in a string are left alone", async () => {
    write({
      "a.ts":
        "const é = import . meta.url, text = `import.meta.url`; const __dirname = import.meta.dirname;\n" +
        "\texport default () => ['import.meta', é, import\n.meta.filename, __dirname, text]; // import.meta",
    });
    const path = `${directory}/a.ts`;
    expect(await run("a.ts")).toEqual(["import.meta", `file://${path}`, path, directory, "import.meta.url"]);
  });

  test("a module may wait at its top level, also one that another imports", async () => {
    write({
      "a.ts":
        "import { value } from './b.ts';\nconst more = await Promise.resolve(2);\nexport default () => value + more;",
      "b.ts": "export const value = await new Promise<number>((done) => setImmediate(() => done(40)));",
    });
    expect(await run("a.ts")).toBe(42);
  });

  test.each([
    "await (Promise.resolve(2))",
    "await [2][0]",
    "await `2`",
    "await +2",
    "(await import('./two.ts')).two",
    "await /2/.source",
    "(() => { for (const x of []) await(x); function await() {} return 2; })()",
  ])("waiting is told from calls of a function of that name: %s", async (expression) => {
    write({
      "a.ts": `const two = ${expression};\nexport default async () => Number(await two);`,
      "two.ts": "export const two = 2;",
    });
    expect(await run("a.ts")).toBe(2);
  });

  test("modules that wait may import each other, and one that fails is named", async () => {
    write({
      "a.ts":
        "import { b } from './b.ts';\nexport const a = await (Promise.resolve(1));\nexport default () => a + b();",
      "b.ts": "import { a } from './a.ts';\nawait Promise.resolve();\nexport const b = () => a + 1;",
      "c.ts": "import './d.ts';\nexport default () => {};",
      "d.ts": "import './c.ts';\nawait Promise.resolve();\nthrow new Error('broken');",
    });
    expect(await run("a.ts")).toBe(3);
    expect(await fail("c.ts")).toBe(`${directory}/d.ts:3: broken`);
  });

  test("a module may have a require of its own", async () => {
    write({
      "data.json": '{"x": 1}',
      "a.ts":
        "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n" +
        "export default () => require('./data.json').x;",
    });
    expect(await run("a.ts")).toBe(1);
  });
});

describe("imports", () => {
  test("files are found by the names that TypeScript, Node and bundlers allow", async () => {
    write({
      "a.ts":
        "import { b } from './b.js'; import { c } from './c'; import { d } from './d/'; import e from './e.json';\n" +
        "import f from './f.cjs'; import { g } from './g.mjs'; import * as all from './b.ts';\n" +
        "export default () => [b, c, d, e.value, f.value, g, all.b];",
      "b.ts": "export const b = 1;",
      "c.ts": "export const c = 2;",
      "d/index.js": "export const d = 3;",
      "e.json": '{"value": 4}',
      "f.cjs": "exports.value = 5;",
      "g.mts": "export const g = 6;",
    });
    expect(await run("a.ts")).toEqual([1, 2, 3, 4, 5, 6, 1]);
  });

  test("a file is evaluated once in a load, and anew in the next", async () => {
    write({
      "a.ts":
        "import { next } from './count.ts'; import { more } from './b.ts';\nexport default () => [next(), more()];",
      "b.ts": "import { next } from './count.ts';\nexport const more = () => next();",
      "count.ts": "let count = 0;\nexport const next = () => ++count;",
    });
    expect(await run("a.ts")).toEqual([1, 2]);
    expect(await run("a.ts")).toEqual([1, 2]);
  });

  test("files may import each other", async () => {
    write({
      "a.ts":
        "import { isOdd } from './b.ts';\nexport const isEven = (n: number): boolean => n === 0 || isOdd(n - 1);\nexport default () => isEven(10);",
      "b.ts":
        "import { isEven } from './a.ts';\nexport const isOdd = (n: number): boolean => n !== 0 && isEven(n - 1);",
    });
    expect(await run("a.ts")).toBe(true);
  });

  test("packages beside the extension are found, for require and for import", async () => {
    write({
      "node_modules/old/package.json": '{"main": "lib.js"}',
      "node_modules/old/lib.js": "exports.value = 'old';",
      "node_modules/new/package.json": '{"type": "module", "exports": {"import": "./lib.js"}}',
      "node_modules/new/lib.js": "export const value = 'new';\nexport default 'by default';",
      "a.ts":
        "import { value } from 'old'; import byDefault, { value as other } from 'new';\nexport default () => [value, other, byDefault];",
    });
    expect(await run("a.ts")).toEqual(["old", "new", "by default"]);
  });

  test("names of the package's own lead to its files, with or without their endings, and to packages", async () => {
    write({
      "package.json": '{"imports": {"#src/*": "./src/*", "#old": "old"}}',
      "node_modules/old/index.js": "exports.value = 'old';",
      "src/b.ts": "export const value: string = 'file';",
      "a.ts":
        "import { value } from '#src/b'; import { value as same } from '#src/b.ts'; import old from '#old';\n" +
        "export default async () => [value, same, old.value, (await import('#src/b.js')).value];",
    });
    expect(await run("a.ts")).toEqual(["file", "file", "old", "file"]);
    write({ "a.ts": "import '#other';\nexport default () => 1;" });
    await expect(run("a.ts")).rejects.toThrow('"#other" is not defined');
  });

  test("a package that needs a module of ours gets it", async () => {
    write({
      "node_modules/lib/package.json":
        '{"type": "module", "main": "lib.js", "peerDependencies": {"@mariozechner/pi-tui": "*"}}',
      "node_modules/lib/lib.js":
        "import { visibleWidth } from '@mariozechner/pi-tui';\nexport const width = visibleWidth('four');",
      "a.ts": "import { width } from 'lib';\nexport default () => width;",
    });
    expect(await run("a.ts")).toBe(4);
  });

  test("import() finds files, packages and modules of ours, by names that are put together too", async () => {
    write({
      "node_modules/new/package.json": '{"type": "module", "exports": {"import": "./lib.js"}}',
      "node_modules/new/lib.js": "export default 'package';",
      "b.ts": "export const value: string = await Promise.resolve('file');",
      "a.ts":
        "export default async () => {\n  const names = ['./b', 'new', '@mariozechner/pi-tui', 'node:path'];\n" +
        "  const [b, c, tui, path] = await Promise.all(names.map((name) => import(name)));\n" +
        "  return [b.value, c.default, tui.visibleWidth('four'), path.sep, (await import('./b.ts', {})).value];\n};",
    });
    expect(await run("a.ts")).toEqual(["file", "package", 4, "/", "file"]);
  });

  test("a module that is missing fails only where it is needed", async () => {
    write({
      "a.ts":
        "let found = true;\ntry {\n  require('not-there');\n} catch (error) {\n  found = error.code !== 'MODULE_NOT_FOUND';\n}\nexport default () => found;",
      "b.ts": "import type { A } from 'a';\n\nimport { x } from 'not-there';\nexport default () => x as A;",
    });
    expect(await run("a.ts")).toBe(false);
    expect(await fail("b.ts")).toBe(
      `${directory}/b.ts:3: There is no package for "not-there", which ${directory}/b.ts imports. Run \`npm install\` in ${directory}.`,
    );
    write({ "c.ts": "import data from './d.json';\nexport default () => data;", "d.json": "{" });
    expect(await fail("c.ts")).toMatch(`${directory}/d.json: `);
    write({ "c.ts": "\nimport data from './gone.ts';\nexport default () => data;" });
    expect(await fail("c.ts")).toBe(
      `${directory}/c.ts:2: There is no module "./gone.ts", which ${directory}/c.ts imports.`,
    );
  });

  test("a name that a module of ours lacks fails the load, with the line of the import", async () => {
    write({
      "a.ts":
        "import type { Theme } from '@mariozechner/pi-tui';\nimport { Text, visibleWith, type Key } from '@mariozechner/pi-tui';\nexport default (key: Key) => new Text(visibleWith(key));",
      "b.js": "export { nope } from '@mariozechner/pi-tui';\nexport default () => {};",
      "c.js": "import tui from '@mariozechner/pi-tui';\nexport default () => tui;",
      "d.ts":
        "import { Text, Key, Theme } from '@mariozechner/pi-tui';\nexport type { Theme } from '@mariozechner/pi-tui';\nconst key: Key = 1;\nexport default () => Text.name;",
      "e.ts": "import * as tui from '@mariozechner/pi-tui';\nexport default () => 'nope' in tui || tui.nope;",
    });
    const message = "The module @mariozechner/pi-tui has no export";
    expect(await fail("a.ts")).toBe(`${directory}/a.ts:2: ${message} "visibleWith". Did you mean "visibleWidth"?`);
    expect(await fail("b.js")).toBe(`${directory}/b.js:1: ${message} "nope".`);
    expect(await fail("c.js")).toBe(`${directory}/c.js:1: ${message} "default".`);
    expect(await run("d.ts")).toBe("Text");
    expect(await run("e.ts")).toBe(undefined);
  });
});

describe("errors", () => {
  test("what is thrown while a file runs is told with its line", async () => {
    write({
      "a.ts": "import './b.ts';\nexport default () => {};",
      "b.ts": "interface A {\n  b: 1;\n}\nthrow new Error('broken');",
    });
    expect(await fail("a.ts")).toBe(`${directory}/b.ts:4: broken`);
  });

  test.each([
    ["a.ts", "const a: number = 1;\nconst b = ;\n", 2],
    ["a.js", "const a = 1;\nconst a = 2;\nmodule.exports = 1;", 2],
    ["a.js", "module.exports = 1;\n\nreturn return;", 3],
    ["a.ts", "await 1;\nawait await;\nexport default 1;", 2],
  ])("a mistake in %s is told with its line: %s", async (name, source, line) => {
    write({ [name]: source });
    expect(await fail(name)).toMatch(new RegExp(`^${directory}/${name}:${line}: `));
  });

  test.each([
    ["export default (tau: object) => {\n  const a = 1;\n  const b = ;\n};", 3],
    [
      'export default (tau) => {\n  tau.on("a", async ({ b }: { b: string }): Promise<void> => {\n    if (b {\n  });\n};',
      3,
    ],
    ["const f = x => {\n  return x;\n};\nexport default () => {\n  const y = 1 +;\n};", 5],
  ])("an error in an arrow function is told with its own line", async (source, line) => {
    write({ "a.ts": source });
    expect(await fail("a.ts")).toContain(`a.ts:${line}: `);
  });

  test("a namespace with values is refused, and one of types is not", async () => {
    write({
      "a.ts": "\nexport namespace Shapes {\n  export const sides = 4;\n}\nexport default () => Shapes.sides;",
      "b.ts":
        "declare namespace Global { const x: number }\nnamespace Types {\n  export type A = number;\n}\n" +
        "/**\n * See Types.A.\n */\nexport default (a: Types.A = 1) => a;",
      "c.ts": "const seal = (target: unknown) => target;\n@seal\nclass A {}\nexport default A;",
    });
    expect(await fail("a.ts")).toBe(
      `${directory}/a.ts:2: Namespaces with values are not supported. Make Shapes an object or a file.`,
    );
    expect(await run("b.ts")).toBe("the api");
    expect(await fail("c.ts")).toMatch(`${directory}/c.ts:2: `);
  });

  test("an error that a factory throws later names the line of the source", async () => {
    write({
      "a.ts":
        "interface A {\n  b: 1;\n}\nimport {\n  join,\n} from 'node:path';\nexport default () => {\n  throw new Error(join('a', 'b'));\n};",
    });
    const error = await run("a.ts").catch((thrown: unknown) => thrown);
    expect((error as Error).stack).toContain(`${directory}/a.ts:8:`);
  });

  test("a file that does not exist is named", async () => {
    expect(await fail("a.ts")).toContain(`${directory}/a.ts`);
  });
});

describe("the cache", () => {
  const files = () => readdirSync(join(directory, "cache")).map((name) => join(directory, "cache", name));

  test("compiled code is kept in a file that only its owner may read, and is used", async () => {
    write({ "a.ts": "export default (): string => 'compiled';" });
    expect(await run("a.ts")).toBe("compiled");
    const [file, ...others] = files();
    expect(others).toEqual([]);
    expect(statSync(file!).mode & 0o777).toBe(0o600);
    await run("a.ts");
    expect(files()).toEqual([file]);
    write({ "a.ts": "export default (): string => 'changed';" });
    expect(await run("a.ts")).toBe("changed");
    expect(files()).toHaveLength(2);
  });

  test("a damaged file is ignored and written again", async () => {
    write({ "a.ts": "import { join } from 'node:path';\nexport default (): string => join('a', 'b');" });
    await run("a.ts");
    const file = files()[0]!;
    const whole = readFileSync(file);
    const changed = Buffer.from(whole);
    changed[changed.length - 100]! ^= 1;
    for (const damaged of ["", "\n", whole.subarray(0, 40), whole.subarray(0, -3), changed, `x${whole.toString()}`]) {
      writeFileSync(file, damaged);
      expect(await run("a.ts")).toBe("a/b");
      expect(readFileSync(file).equals(Buffer.from(damaged))).toBe(false);
    }
  });

  test("compiled code that was put in the place of another file's is not run", async () => {
    write({ "a.ts": "export default (): string => 'a';" });
    await run("a.ts");
    const [first] = files();
    write({ "b.ts": "export default (): string => 'b';" });
    await run("b.ts");
    const second = files().find((file) => file !== first)!;
    writeFileSync(second, readFileSync(first!));
    expect(await run("b.ts")).toBe("b");
    expect(readFileSync(second).equals(readFileSync(first!))).toBe(false);
  });

  test("the same content at two paths keeps its own path", async () => {
    const text = "export default () => {\n  throw new Error(import.meta.filename);\n};";
    write({ "a.ts": text, "b/b.ts": text });
    for (const name of ["a.ts", "b/b.ts", "a.ts"]) {
      const error = await run(name).catch((thrown: unknown) => thrown as Error);
      expect(error).toMatchObject({ message: `${directory}/${name}` });
      expect((error as Error).stack).toContain(`${directory}/${name}:2:`);
    }
  });

  test("what the cache gives is what was compiled: names, waiting, and plain code", async () => {
    write({
      "a.ts": "import { nope } from '@mariozechner/pi-tui';\nexport default () => nope;",
      "b.ts": "import { é } from './c.cjs';\nconst two = await Promise.resolve(2);\nexport default () => é + two;",
      "c.cjs": "exports.é = 'ü';",
    });
    for (let turn = 0; turn < 2; turn++) {
      expect(await fail("a.ts")).toContain('a.ts:1: The module @mariozechner/pi-tui has no export "nope".');
      expect(await run("b.ts")).toBe("ü2");
    }
    expect(files()).toHaveLength(3);
  });

  test("the oldest files are removed when there are many", async () => {
    write(Object.fromEntries(Array.from({ length: maxCachedFiles }, (_unused, index) => [`cache/${index}.bin`, ""])));
    for (const [index, file] of files().entries()) utimesSync(file, 1_000 + index, 1_000 + index);
    const [first, second] = [files()[0]!, files()[100]!];
    write({ "a.ts": "export default (): number => 1;" });
    expect(await run("a.ts")).toBe(1);
    expect(files()).toHaveLength(maxCachedFiles + 1 - maxCachedFiles / 10);
    expect(files()).not.toContain(first);
    expect(files()).toContain(second);
  });

  test("a directory that cannot be written costs nothing but time", async () => {
    write({ "a.ts": "export default (): number => 1;", cache: "a file" });
    expect(await run("a.ts")).toBe(1);
  });
});

describe("modules of ours are asked only for the exports that an extension uses", () => {
  const module = "@mariozechner/pi-coding-agent";
  /** The second file is a package that needs the module. */
  const askedFor = async (source: string, name = "main.ts") => {
    write({
      [name]: source,
      "node_modules/other/package.json": JSON.stringify({ main: "index.js", dependencies: { [module]: "1" } }),
      "node_modules/other/index.js": `exports.value = require("${module}").value;`,
    });
    const asked: (readonly string[] | undefined)[] = [];
    const load: LoadSharedModule = (wanted, names) => {
      if (wanted !== module) return undefined;
      asked.push(names);
      return Promise.resolve(Object.fromEntries((names ?? ["value", "all"]).map((key) => [key, [key]])));
    };
    const cacheDirectory = join(directory, "cache");
    const loaded = await loadExtensionModule(join(directory, name), { loadShared: load, cacheDirectory });
    if (loaded.kind !== "factory") throw new Error(loaded.kind === "failed" ? loaded.message : loaded.kind);
    const result = await (loaded.factory as unknown as () => unknown)();
    return { asked, result };
  };

  test.each([
    ["values", `import { value, type Other } from "${module}"; export default () => value;`, ["value"]],
    ["renamed", `import { value as own } from "${module}"; export default () => ({ own }).own;`, ["value"]],
    ["spread", `import { value } from "${module}"; export default () => [...value];`, ["value"]],
    ["exported", `export { value as own } from "${module}"; export default () => ["value"];`, ["value"]],
    [
      "two declarations",
      `import { value } from "${module}"; import { more } from "${module}"; export default () => (value, more, value);`,
      ["value", "more"],
    ],
  ])("%s", async (_form, source, names) => {
    const first = await askedFor(source);
    expect(first).toEqual({ asked: [names], result: ["value"] });
    // From the cache.
    expect(await askedFor(source)).toEqual(first);
  });

  test("only types: nothing is loaded", async () => {
    const source = `import type { A } from "${module}"; import { B } from "${module}"; export default (b?: B & A) => b;`;
    expect((await askedFor(source)).asked).toEqual([]);
  });

  test.each([
    ["a namespace", `import * as pi from "${module}"; export default () => pi["al" + "l"];`],
    ["all exported again", `export * from "${module}"; export default () => ["all"];`],
    ["a call of require", `export default () => require("${module}").all;`],
    ["plain CommonJS", `module.exports = () => require("${module}").all;`, "main.cjs"],
    ["a late import", `export default async () => (await import("${module}")).all;`],
  ] as [string, string, string?][])("%s: all of them", async (_form, source, name) => {
    expect(await askedFor(source, name)).toEqual({ asked: [undefined], result: ["all"] });
  });

  test("a late import beside a declaration gets all of them", async () => {
    const source = `import { value } from "${module}";
      export default async () => [value, (await import("${module}")).all, value].flat();`;
    expect(await askedFor(source)).toEqual({ asked: [["value"], undefined], result: ["value", "all", "value"] });
  });

  test("whether a package needs the module is asked without loading any of them", async () => {
    const source = `import { value } from "other"; export default () => value;`;
    expect(await askedFor(source)).toEqual({ asked: [[], undefined], result: ["value"] });
  });
});
