import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

const bundle = async (platform: "browser" | "node") => {
  const { metafile, outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "..", "src", "index.ts")],
    bundle: true,
    splitting: true,
    format: "esm",
    platform,
    conditions: ["@tau/source"],
    outdir: "out",
    write: false,
    metafile: true,
    logLevel: "silent",
    external: ["node:*", "google-auth-library"],
  });
  const imports = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  return {
    node: imports.filter((path) => path.startsWith("node:")),
    text: outputFiles.map(({ text }) => text).join("\n"),
  };
};

test("in a browser the package needs nothing of Node, also not in what it loads later", async () => {
  const { node, text } = await bundle("browser");
  expect(node).toEqual([]);
  expect(text).not.toMatch(/\bprocess\.|\bBuffer\b|\brequire\(/);
});

test("the check would notice: under Node's conditions it does need Node", async () => {
  const { node } = await bundle("node");
  expect(node).toContain("node:http");
});
