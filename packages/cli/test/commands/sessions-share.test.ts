/** `tau sessions share`: a page without secrets, and links. */
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@tau/harness";
import { Shares } from "@tau/gateway";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createModelWorkspace, run, type ModelWorkspace } from "../kit.ts";

const key = "acme-key-0123456789";

async function createSession(): Promise<ModelWorkspace & { id: string }> {
  const workspace = await createModelWorkspace([]);
  const manager = await SessionManager.create(workspace.directory, undefined, { agentDir: workspace.agentDir });
  await manager.appendMessage({ role: "user", content: `Why does ${key} fail, and variable-secret-42?`, timestamp: 1 });
  await manager.appendMessage({
    role: "assistant",
    content: [
      { type: "thinking", thinking: "a hidden thought" },
      { type: "text", text: "It has expired." },
    ],
    api: "openai-completions",
    provider: "acme",
    model: "small",
    stopReason: "stop",
    timestamp: 2,
    usage: {
      input: 1,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 2,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
  });
  await manager.close();
  return { ...workspace, id: manager.id };
}

const env = { MY_API_TOKEN: "variable-secret-42" };

test("the page has no secret, and no more than was chosen; only its owner may read the file", async () => {
  const workspace = await createSession();
  const { id, directory } = workspace;
  const file = `tau-share-${id}.html`;
  expect(await run(workspace, ["sessions", "share"], { env })).toMatchObject({
    code: exitCodes.done,
    out: "",
    err: expect.stringContaining(file) as string,
  });
  const page = await readFile(join(directory, file), "utf8");
  expect(page).toContain("It has expired.");
  expect(page).toContain("a hidden thought");
  for (const secret of [key, "variable-secret-42"]) expect(page).not.toContain(secret);
  expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
  const shown = await run(workspace, ["sessions", "share", id, "--without", "thinking,images", "-o", "-"]);
  expect(shown.out).toContain("It has expired.");
  expect(shown.out).not.toContain("a hidden thought");
  await writeFile(join(directory, file), "mine");
  expect(await run(workspace, ["sessions", "share"], { input: "" })).toMatchObject({ code: exitCodes.usage });
  expect(await readFile(join(directory, file), "utf8")).toBe("mine");
  expect(await run(workspace, ["sessions", "share", "--without", "jokes"])).toMatchObject({
    code: exitCodes.usage,
    err: expect.stringContaining("only thinking, images, output") as string,
  });
});

test("a link is refused until the setting allows it, and is listed and taken back", async () => {
  const workspace = await createSession();
  const { agentDir, id } = workspace;
  const refused = await run(workspace, ["sessions", "share", "--link"]);
  expect(refused).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(refused.err).toContain("tau config set gateway.shares true");
  expect(await readdir(agentDir)).not.toContain("gateway");

  await writeFile(
    join(agentDir, "settings.json"),
    JSON.stringify({ defaultModel: "acme/small", gateway: { shares: true } }),
  );
  const shared = await run(workspace, ["sessions", "share", "--link"], { env });
  expect(shared).toMatchObject({ code: exitCodes.done });
  const [, token] = /^http:\/\/127\.0\.0\.1:7433\/share\/([\w-]{43})\n$/.exec(shared.out)!;
  expect(shared.err).toContain("No gateway of yours is running");
  const page = (await new Shares({ agentDir }).open(token!))!.toString();
  expect(page).toContain("It has expired.");
  for (const secret of [key, "variable-secret-42"]) expect(page).not.toContain(secret);

  const { out } = await run(workspace, ["sessions", "share", "--list", "--json"]);
  const share = JSON.parse(out) as { id: string; sessionId: string };
  expect(share).toMatchObject({ sessionId: id });
  expect(out).not.toContain(token);
  expect((await run(workspace, ["sessions", "share", "--list"])).out).toContain(share.id);
  expect(await run(workspace, ["sessions", "share", "--revoke", share.id])).toMatchObject({ code: exitCodes.done });
  expect(await run(workspace, ["sessions", "share", "--revoke", share.id])).toMatchObject({ code: exitCodes.usage });
  expect(await new Shares({ agentDir }).open(token!)).toBeUndefined();
  expect((await run(workspace, ["sessions", "share", "--list"])).out).toBe("Nothing is shared.\n");
  expect((await run(workspace, ["audit", "tail"])).out).toMatch(/share\s+made[\s\S]*share\s+revoked/);
});
