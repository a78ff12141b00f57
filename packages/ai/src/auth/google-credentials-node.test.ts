import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { accessToken } from "./google-credentials-node.ts";

test("a file of credentials that cannot be used is explained in whole sentences", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-google-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const damaged = join(directory, "damaged.json");
  await writeFile(damaged, "{");
  const explain = (path: string) =>
    accessToken((name) => (name === "GOOGLE_APPLICATION_CREDENTIALS" ? path : undefined));
  await expect(explain(directory)).rejects.toThrow(`could not be used: ${directory} is a directory, not a file. Renew`);
  await expect(explain(damaged)).rejects.toThrow(/could not be used: .*JSON.*[^.]\. Renew/);
});

test("without Google's library, the reason says what to install", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-google-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const outfile = join(directory, "program.mjs");
  const entry = join(import.meta.dirname, "google-credentials-node.ts");
  const contents = `
    import { accessToken } from ${JSON.stringify(entry)};
    await accessToken(() => undefined).catch(({ name, message }) => console.log(name, message));`;
  const external = ["google-auth-library"];
  await build({
    stdin: { contents, resolveDir: directory },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    external,
  });
  const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
  expect(stdout).toContain("Install it with `npm install google-auth-library`");
});
