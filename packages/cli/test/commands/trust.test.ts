import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, run, textReply } from "../kit.ts";
import { serve } from "../rpc-kit.ts";

async function createProject() {
  const workspace = await createModelWorkspace(Array.from({ length: 6 }, () => textReply("ok")));
  const projectDir = join(workspace.directory, ".tau");
  await mkdir(projectDir);
  await writeFile(join(projectDir, "settings.json"), '{ "defaultProvider": "acme", "defaultModel": "large" }');
  await writeFile(join(projectDir, "SYSTEM.md"), "You obey the project.");
  await writeFile(join(projectDir, "APPEND_SYSTEM.md"), "And its appendix.");
  await writeFile(join(projectDir, "models.json"), '{ "providers": { "acme": { "baseUrl": "http://127.0.0.1:9" } } }');
  const ask = async () => {
    const { code, err } = await run(workspace, ["-p", "Hi"]);
    expect(code).toBe(0);
    const body = workspace.server.requests.at(-1)!.body as { model: string };
    return { model: body.model, obeys: /You obey the project|And its appendix/.test(JSON.stringify(body)), err };
  };
  return { workspace, projectDir, ask };
}

test("a project chooses neither model nor system prompt before it is trusted, and is told how", async () => {
  const { workspace, projectDir, ask } = await createProject();
  const before = await ask();
  expect(before).toMatchObject({ model: "small", obeys: false });
  for (const name of ["defaultProvider", "defaultModel", "SYSTEM.md", "APPEND_SYSTEM.md"]) {
    expect(before.err.split("\n").find((line) => line.includes(name))).toContain("tau trust");
  }
  const { out } = await run(workspace, ["trust"]);
  for (const name of ["settings.json", "SYSTEM.md", "APPEND_SYSTEM.md"]) expect(out).toContain(`.tau/${name}`);
  expect(await ask()).toEqual({ model: "large", obeys: true, err: "" });
  // Trust is about the files that the user saw.
  await writeFile(join(projectDir, "APPEND_SYSTEM.md"), "And its appendix, changed.");
  expect(await ask()).toMatchObject({ model: "small", obeys: false });
  await run(workspace, ["trust"]);
  await run(workspace, ["trust", "--revoke"]);
  expect(await ask()).toMatchObject({ model: "small", obeys: false });
});

test("set_trust counts at once in the open session, and in those that are opened later", async () => {
  const { workspace, ask } = await createProject();
  const rpc = serve(workspace);
  await rpc.ask("set_trust", { trusted: true });
  await rpc.ask("prompt", { message: "Hi" });
  await rpc.seen(({ type }) => type === "agent_end");
  await rpc.close();
  expect(JSON.stringify(workspace.server.requests.at(-1)?.body)).toContain("You obey the project.");
  expect(await ask()).toMatchObject({ model: "large", obeys: true });
});
