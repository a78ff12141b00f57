/** MCP servers of a run: what the model is shown of them, and that a flag leaves them out. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { createModelWorkspace, run, textReply } from "./kit.ts";

/** Ten servers of which each would fail if it were started, and one prompt. */
async function ask(args: readonly string[], prompt = "Hi") {
  const workspace = await createModelWorkspace([textReply("ok")]);
  const server = { command: "/no/such/program", trusted: true };
  const mcpServers = Object.fromEntries(Array.from({ length: 10 }, (_unused, index) => [`docs${index}`, server]));
  await writeFile(join(workspace.agentDir, "mcp.json"), JSON.stringify({ mcpServers }));
  const { code, err } = await run(workspace, [...args, "-p", prompt]);
  expect(code).toBe(exitCodes.done);
  return { request: JSON.stringify(workspace.server.requests[0]!.body), err };
}

test("servers are named in one line of the request, and none is started before it is used", async () => {
  const { request, err } = await ask([]);
  expect(request).toContain("tool_search");
  expect(request).toContain("docs0, docs1");
  expect(err).toBe("");
});

test("--no-mcp leaves them out: the request does not name them, and a mention is text", async () => {
  const { request, err } = await ask(["--no-mcp"], "See @docs0:mem");
  expect(request).not.toContain("docs1");
  expect(err).toBe("");
  expect((await ask([], "See @docs0:mem")).err).toContain("docs0");
});
