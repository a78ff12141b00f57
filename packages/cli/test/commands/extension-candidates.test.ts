/** Extensions that have earned trust are listed as candidates; only a person trusts them. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { findExtensions } from "@tau/extensions";
import { openSettings, recordExtensionRun } from "@tau/config/trust";
import { expect, test } from "vitest";
import { createModelWorkspace, run } from "../kit.ts";

test("an acknowledged extension that ran 50 times without a refusal is a candidate, and stays acknowledged", async () => {
  const workspace = await createModelWorkspace([]);
  const { agentDir, directory: cwd } = workspace;
  const pack = join(cwd, "guest");
  await mkdir(join(pack, "extensions"), { recursive: true });
  await writeFile(join(pack, "package.json"), JSON.stringify({ name: "guest", version: "1.0.0" }));
  await writeFile(join(pack, "extensions", "guest.ts"), "export default function () {}\n");
  expect((await run(workspace, ["install", "./guest", "--yes"])).out).toContain("(acknowledged)");
  const settings = await openSettings({ cwd, agentDir, watch: false });
  const { extensions } = await findExtensions({ cwd, agentDir, settings, includesUntrusted: true });
  const { source } = extensions[0]!;
  const list = async () => (await run(workspace, ["extensions", "list"])).out;
  const record = (isRefused: boolean) => recordExtensionRun(source, { isRefused }, { agentDir, ids: systemIds });
  for (let runs = 0; runs < 49; runs++) await record(false);
  expect(await list()).not.toContain("without a refusal");
  await record(false);
  expect(await list()).toContain(
    `${source.name} ran 50 times without a refusal. To trust it: tau extensions trust ${source.name}\n`,
  );
  const { out } = await run(workspace, ["extensions", "list", "--json"]);
  expect(JSON.parse(out)).toMatchObject({ name: source.name, state: "acknowledged", runs: 50, isCandidate: true });
  await record(true);
  expect(await list()).not.toContain("without a refusal");
});
