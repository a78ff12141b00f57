import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("in a browser the package needs nothing of Node, and nothing of other packages but their types", async () => {
  const { metafile, outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "..", "src", "index.ts")],
    bundle: true,
    format: "esm",
    platform: "browser",
    outdir: "out",
    write: false,
    metafile: true,
    external: ["node:*", "@tau/*"],
  });
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  expect(outputFiles[0]!.text).not.toMatch(/\bprocess\.|\bBuffer\b|\brequire\(/);
});
