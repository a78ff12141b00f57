import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWorkspace, run, textReply, toolReply } from "../kit.ts";
import { openGateway } from "./kit.ts";

test("a prompt runs in the gateway, and its answer is printed", async () => {
  const workspace = await openGateway([textReply("Hello from there.")]);
  const { code, out, err } = await run(workspace, ["--gateway", "Hello"], { input: "What I piped." });
  expect({ code, out, err }).toEqual({ code: 0, out: "Hello from there.\n", err: "" });
  expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("What I piped.");
});

test("what is piped is sent as it is: it attaches no file and begins no template", async () => {
  const workspace = await openGateway([textReply("Done.")]);
  await writeFile(join(workspace.directory, "secret.txt"), "Mine alone.");
  await mkdir(join(workspace.agentDir, "prompts"));
  await writeFile(join(workspace.agentDir, "prompts", "shout.md"), "SHOUT");
  const input = `/shout see @${join(workspace.directory, "secret.txt")}`;
  expect(await run(workspace, ["--gateway", "Summarise it."], { input })).toMatchObject({ code: 0, err: "" });
  const body = JSON.stringify(workspace.server.requests[0]?.body);
  expect(body).toContain(input);
  expect(body).toContain("<stdin>");
  expect(body).not.toContain("Mine alone.");
  expect(body).not.toContain("SHOUT");
});

test("files of the command line are attached, whatever their names, and one that is missing is a mistake", async () => {
  const workspace = await openGateway([textReply("Done.")]);
  await writeFile(join(workspace.directory, "my notes.md"), "Buy milk.");
  expect(await run(workspace, ["--gateway", "@my notes.md", "What is it?"])).toMatchObject({ code: 0, err: "" });
  expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("Buy milk.");
  const missing = await run(workspace, ["--gateway", "--quiet", "@none.md", "What is it?"]);
  expect(missing).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringMatching(/^tau: There is no file .*none\.md\.\n$/),
  });
});

test("the next prompt continues the session of this directory, or one that is named", async () => {
  const workspace = await openGateway([textReply("One."), textReply("Two."), textReply("Three.")]);
  const json = async (...args: string[]) => {
    const { out } = await run(workspace, ["--gateway", "--output-format", "json", ...args]);
    return JSON.parse(out) as { sessionId: string; answer: string; turns: number };
  };
  const first = await json("First");
  const second = await json("--continue", "Second");
  const third = await json("--session", first.sessionId, "Third");
  expect([first, second, third]).toMatchObject([{ answer: "One." }, { answer: "Two." }, { answer: "Three." }]);
  expect(new Set([first, second, third].map(({ sessionId }) => sessionId)).size).toBe(1);
});

test("what nobody can allow is denied, and the exit code says so", async () => {
  const workspace = await openGateway([toolReply("read", { path: "/etc/passwd" }), textReply("I could not.")]);
  const { code, out, err } = await run(workspace, ["-p", "--gateway", "Read it."]);
  expect({ code, out }).toEqual({ code: 3, out: "I could not.\n" });
  expect(err).toContain("a tool call was denied");
});

test("events are lines of JSON, and the last one is the result", async () => {
  const workspace = await openGateway([textReply("Hello.")]);
  const { out } = await run(workspace, ["--gateway", "--mode", "json", "Hello"]);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  expect(lines.map(({ type }) => type)).toEqual(expect.arrayContaining(["agent_start", "text_delta", "agent_end"]));
  expect(lines.at(-1)).toMatchObject({
    type: "result",
    answer: "Hello.",
    terminationReason: "no_tool_calls",
    turns: 1,
  });
});

test("a failed run is told in one line", async () => {
  const workspace = await openGateway([
    { kind: "status", status: 401, body: JSON.stringify({ error: { message: "No such key." } }) },
  ]);
  const { code, out, err } = await run(workspace, ["--gateway", "Hello"]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(/^tau: .*No such key.*\n$/);
});

test("without a gateway one sentence says how to start one", async () => {
  const { code, err } = await run(await createWorkspace(), ["--gateway", "Hello"]);
  expect({ code, err }).toEqual({
    code: 1,
    err: "tau: No gateway runs for this account. Start one with `tau gateway`.\n",
  });
});

test("flags that are about this process are refused", async () => {
  const { code, err } = await run(await createWorkspace(), ["--gateway", "--tools", "read", "Hello"]);
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("--gateway and --tools") });
});
