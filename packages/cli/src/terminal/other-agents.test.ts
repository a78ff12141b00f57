import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createIo, createWorkspace } from "../../test/kit.ts";
import { describeOtherAgents } from "./other-agents.ts";

async function createHome(...names: readonly string[]) {
  const workspace = await createWorkspace();
  for (const name of names) await mkdir(join(workspace.directory, name), { recursive: true });
  return { ...workspace, describe: () => describeOtherAgents(createIo(workspace).io) };
}

test("the first start names the agents that were used here, in one line", async () => {
  const { describe } = await createHome(".codex", ".pi/agent", ".local/share/opencode");
  expect(await describe()).toEqual([
    "Found on this machine: pi, codex, opencode. To bring over sessions, settings and more: tau import",
  ]);
});

test("later starts say nothing, nor does a machine without them", async () => {
  const { describe, agentDir } = await createHome(".codex");
  await mkdir(agentDir);
  expect(await describe()).toEqual([]);
  expect(await (await createHome(".config")).describe()).toEqual([]);
});
