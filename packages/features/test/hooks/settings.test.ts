import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SettingsManager } from "@tau/config/settings";
import { expect, onTestFinished, test } from "vitest";
import { hooks } from "../../src/index.ts";

async function open(text: string): Promise<SettingsManager> {
  const directory = await mkdtemp(join(tmpdir(), "tau-hook-settings-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, "settings.json"), text);
  return await SettingsManager.create(directory, directory, { watch: false, features: [hooks()] });
}

test.each([
  ["an event that does not exist", '{ "hooks": { "PreTooluse": [] } }'],
  ["a group that is not in a list", '{ "hooks": { "PreToolUse": { "hooks": [] } } }'],
  ["a command that is missing", '{ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command" }] }] } }'],
  ["a misspelled field", '{ "hooks": { "PreToolUse": [{ "matchers": "bash", "hooks": [{ "command": "true" }] }] } }'],
  ["something that is no object", '{ "hooks": [] }'],
])("with %s no session starts, because a guard could be missing", async (_what, text) => {
  const settings = await open(text);
  expect(() => settings.mustBeWhole()).toThrow("a setting that restricts it could be missing");
});

test("hooks without an error let a session start", async () => {
  const settings = await open(
    '{ "hooks": { "PreToolUse": [{ "matcher": "bash", "hooks": [{ "command": "true" }] }] } }',
  );
  settings.mustBeWhole();
  expect(settings.problems).toEqual([]);
});
