import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWorkspace, run } from "../kit.ts";

test("the token of a webhook is printed, and stays the same", async () => {
  const workspace = await createWorkspace();
  const token = "0123456789abcdef0123456789abcdef";
  await mkdir(workspace.agentDir, { recursive: true });
  await writeFile(
    join(workspace.agentDir, "settings.json"),
    JSON.stringify({ gateway: { hooks: { deploy: {}, fixed: { token } } } }),
  );
  const first = await run(workspace, ["gateway", "hook-token", "deploy"]);
  expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^[\w-]{43}\n$/) });
  expect(await run(workspace, ["gateway", "hook-token", "deploy"])).toMatchObject({ out: first.out });
  expect(await run(workspace, ["gateway", "hook-token", "fixed"])).toMatchObject({ code: 0, out: `${token}\n` });
  const unknown = await run(workspace, ["gateway", "hook-token", "nothing"]);
  expect(unknown).toMatchObject({ code: 2, out: "", err: expect.stringContaining("There is no webhook") });
  const own = await run(workspace, ["gateway", "token"]);
  expect(own.out).not.toBe(first.out);
});
