import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
