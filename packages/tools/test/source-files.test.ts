import { basename } from "node:path";
import { expect, test } from "vitest";
import { createFiles } from "../src/platform/files.ts";
import { createSpawn } from "../src/platform/spawn.ts";
import { listSourceFiles } from "../src/search/source-files.ts";
import { tree } from "./grep-kit.ts";

test("files are listed by their endings up to a limit, and it is known whether that is all", async () => {
  const cwd = tree({ "a.ts": "x", "b.ts": "x", "c.js": "x" });
  const list = async (maxFiles: number) => {
    const ports = { cwd, files: createFiles(), spawn: createSpawn() };
    const { paths, isWhole, notices } = await listSourceFiles(ports, { path: cwd, extensions: ["ts"], maxFiles });
    return { names: paths.map((path) => basename(path)), isWhole, notices };
  };
  expect(await list(2)).toEqual({ names: ["a.ts", "b.ts"], isWhole: true, notices: [] });
  expect(await list(1)).toMatchObject({
    names: ["a.ts"],
    isWhole: false,
    notices: [expect.stringContaining("1 more files") as unknown],
  });
});
