import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

test.each(["index.ts", "client/index.ts", "surface/index.ts"])(
  "in a browser %s needs nothing of Node, and nothing of other packages but their types",
  async (entry) => {
    const { metafile, outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, "..", "src", entry)],
      bundle: true,
      format: "esm",
      platform: "browser",
      conditions: ["@tau/source"],
      outdir: "out",
      write: false,
      metafile: true,
      external: ["node:*", "@tau/*"],
    });
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
    expect(outputFiles[0]!.text).not.toMatch(/\bprocess\.|\bBuffer\b|\brequire\(/);
  },
);
