/** The rule against exports without a use, on small workspaces. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
// @ts-expect-error: a script without types.
import { findUnusedExports } from "./unused-exports.mjs";

const manifest = (name: string, exports: object = {}, imports: object = {}) =>
  JSON.stringify({ name: `@tau/${name}`, exports, imports });

/** Lists the unused exports of a workspace as `path:line name`. */
function findIn(files: Readonly<Record<string, string>>): string[] {
  const root = mkdtempSync(join(tmpdir(), "tau-exports-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const texts = new Map<string, string>();
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (!name.endsWith(".json")) texts.set(path, text);
  }
  const found: { file: string; line: number; name: string }[] = findUnusedExports(root, texts);
  return found.map(({ file, line, name }) => `${relative(root, file)}:${line} ${name}`);
}

const a = "packages/a/src";

test("an export that no other file imports is found, of every kind of declaration", () => {
  const module = `import { one } from "node:x";
export const alpha = one;
export type Beta = 1;
export interface Gamma {}
export async function* delta() {}
export abstract class Epsilon {}
export default function zeta() {}
const eta = alpha;
export { eta, one as theta };
export * as iota from "node:y";
// export const kappa = 1;
`;
  expect(findIn({ "packages/a/package.json": manifest("a"), [`${a}/m.ts`]: module })).toEqual([
    `${a}/m.ts:2 alpha`,
    `${a}/m.ts:3 Beta`,
    `${a}/m.ts:4 Gamma`,
    `${a}/m.ts:5 delta`,
    `${a}/m.ts:6 Epsilon`,
    `${a}/m.ts:7 default`,
    `${a}/m.ts:9 eta`,
    `${a}/m.ts:9 theta`,
    `${a}/m.ts:10 iota`,
  ]);
});

test.each([
  ["a named import", `import { x } from "../src/m.ts";`],
  ["an import of its type", `import type { x } from "../src/m.ts";`],
  ["a renamed import among others on several lines", `import {\n  type other,\n  x as mine,\n} from "../src/m.ts";`],
  ["a namespace", `import * as m from "../src/m.ts";\nm.x();`],
  ["a namespace whose type is passed on", `import type * as m from "../src/m.ts";`],
  ["a dynamic import", `const { x } = await import("../src/m.ts");`],
  ["another copy of the module", `const { x } = await import("../src/m.ts?copy");`],
])("%s of a test is a use", (_name, text) => {
  const files = { "packages/a/package.json": manifest("a"), [`${a}/m.ts`]: "export const x = 1;\n" };
  expect(findIn({ ...files, "packages/a/test/m.test.ts": text })).toEqual([]);
  expect(findIn({ ...files, "packages/a/test/m.test.ts": text.replace("m.ts", "n.ts") })).toEqual([`${a}/m.ts:1 x`]);
});

test("an import without braces is a use of the default export, whatever that is called", () => {
  const files = {
    "packages/a/package.json": manifest("a"),
    [`${a}/m.ts`]: "export default class X {}\nexport const Y = 1;\n",
    [`${a}/n.ts`]: "export default async function z() {}\n",
  };
  const test = (text: string) => findIn({ ...files, "packages/a/test/m.test.ts": text });
  expect(test(`import Y from "../src/m.ts";\nimport z from "../src/n.ts";`)).toEqual([`${a}/m.ts:2 Y`]);
  expect(test(`import W, { Y } from "../src/m.ts";`)).toEqual([`${a}/n.ts:1 default`]);
});

test("a module does not use its own exports, and a name that is passed on needs a use of its own", () => {
  const files = {
    "packages/a/package.json": manifest("a"),
    [`${a}/m.ts`]: `import * as self from "./m.ts";\nexport const x = () => self.x;\nexport const y = x;\n`,
    [`${a}/index.ts`]: `export { y } from "./m.ts";\n`,
    [`${a}/all.ts`]: `export * from "./index.ts";\n`,
  };
  expect(findIn(files)).toEqual([`${a}/m.ts:2 x`, `${a}/index.ts:1 y`]);
  expect(findIn({ ...files, "bench/b.ts": `import { y } from "../packages/a/src/all.ts";` })).toEqual([
    `${a}/m.ts:2 x`,
  ]);
});

test("what the manifest names is public, except for what is internal", () => {
  const exports = {
    ".": { "@tau/source": "./src/index.ts", default: "./dist/index.js" },
    "./internal": { "@tau/source": "./src/internal/index.ts" },
    "./*": { "@tau/source": "./src/entries/*.ts" },
    "./package.json": "./package.json",
  };
  const imports = { "#platform": { "@tau/source": "./src/node.ts", browser: "./dist/browser.js" } };
  const files = {
    "packages/a/package.json": manifest("a", exports, imports),
    [`${a}/index.ts`]: `export * from "./m.ts";\nexport const open = 1;\n`,
    [`${a}/m.ts`]: `export const x = 1;\n`,
    [`${a}/entries/one.ts`]: `export const y = 1;\n`,
    [`${a}/internal/index.ts`]: `export const shared = 1;\nexport const alone = 1;\n`,
    [`${a}/node.ts`]: `export const port = 1;\n`,
    [`${a}/browser.ts`]: `export const port = 1;\nexport const extra = 1;\n`,
    [`${a}/use.ts`]: `import { port } from "#platform";\n`,
    "packages/b/package.json": manifest("b"),
    "packages/b/src/use.ts": `import { shared } from "@tau/a/internal";\n`,
  };
  expect(findIn(files)).toEqual([`${a}/internal/index.ts:2 alone`, `${a}/browser.ts:2 extra`]);
});

test("tests, scripts and generated files may export what they want", () => {
  const text = "export const x = 1;\n";
  const files = [`${a}/m.test.ts`, `${a}/schema.generated.ts`, "packages/a/test/kit.ts", "scripts/s.mjs"];
  expect(
    findIn({ "packages/a/package.json": manifest("a"), ...Object.fromEntries(files.map((file) => [file, text])) }),
  ).toEqual([]);
});
