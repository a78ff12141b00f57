/** Values that pi's documents have for settings of the same name. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SettingsManager } from "./settings-manager.ts";

test("a time limit may be disabled by its word", async () => {
  const agentDir = await mkdtemp(join(tmpdir(), "tau-pi-forms-"));
  onTestFinished(() => rm(agentDir, { recursive: true }));
  await writeFile(join(agentDir, "settings.json"), JSON.stringify({ httpIdleTimeoutMs: "disabled" }));
  const settings = await SettingsManager.create(agentDir, agentDir);
  onTestFinished(() => settings.close());
  expect(settings.problems).toEqual([]);
  expect(settings.get().httpIdleTimeoutMs).toBe(0);
});
