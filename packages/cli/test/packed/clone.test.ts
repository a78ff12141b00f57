/** `./tau` of a clone, with a build of our own. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../kit.ts";

const execute = promisify(execFile);
const script = join(import.meta.dirname, "..", "..", "..", "..", "tau");

/** A clone whose dependencies are installed, and whose build is this program. */
async function createClone(build: string): Promise<string> {
  const directory = await temporaryDirectory();
  for (const path of ["packages/cli/src", "packages/cli/dist", "packages/ai/catalog", "scripts", "node_modules"]) {
    await mkdir(join(directory, path), { recursive: true });
  }
  await copyFile(script, join(directory, "tau"));
  await writeFile(join(directory, "scripts", "build.mjs"), build);
  for (const name of ["package-lock.json", "node_modules/.package-lock.json"]) {
    await writeFile(join(directory, name), "{}");
  }
  return directory;
}

test("two that are started at the same moment both build and run", async () => {
  // A build ends when both have begun.
  const directory = await createClone(`
    import { readdirSync, writeFileSync } from "node:fs";
    const dist = new URL("../packages/cli/dist/", import.meta.url);
    writeFileSync(new URL(String(process.pid), dist), "");
    while (readdirSync(dist).filter((name) => name !== "tau.cjs").length < 2);
    writeFileSync(new URL("tau.cjs", dist), "console.log('runs')");
  `);
  const start = () => execute("sh", [join(directory, "tau")]);
  const outputs = await Promise.all([start(), start()]);
  expect(outputs.map(({ stdout }) => stdout)).toEqual(["runs\n", "runs\n"]);
  expect((await readdir(join(directory, "node_modules"))).toSorted()).toEqual([".package-lock.json", ".tau-build"]);
});

test("a build that fails is told, and is tried again by the next start", async () => {
  const directory = await createClone("process.exit(1);");
  for (let times = 0; times < 2; times++) {
    const stderr = expect.stringContaining("tau: the build failed; see above.") as string;
    await expect(execute("sh", [join(directory, "tau")])).rejects.toMatchObject({ code: 1, stderr });
  }
  expect(await readdir(join(directory, "node_modules"))).toEqual([".package-lock.json"]);
});
