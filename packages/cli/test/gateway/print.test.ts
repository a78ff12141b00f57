import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { SessionManager } from "@tau/harness";
import { connectToGateway } from "@tau/protocol/node";
import { expect, onTestFinished, test } from "vitest";
import { createModelWorkspace, createWorkspace, run, textReply, toolReply } from "../kit.ts";
import { createStreamedModel } from "../streamed-model.ts";
import { openGateway, startGateway } from "./kit.ts";

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

test("the session of this directory is found behind newer ones of the directories below", async () => {
  const workspace = await createModelWorkspace([textReply("One.")]);
  const create = async (cwd: string) => {
    const session = await SessionManager.create(cwd, undefined, { agentDir: workspace.agentDir, durability: "none" });
    await session.appendSessionInfo("Made before");
    await session.close();
    return session.id;
  };
  const first = await create(workspace.directory);
  await Promise.all(Array.from({ length: 101 }, () => create(join(workspace.directory, "below"))));
  await startGateway(workspace);
  const { out } = await run(workspace, ["--gateway", "--continue", "--output-format", "json", "Hello"]);
  expect(JSON.parse(out)).toMatchObject({ sessionId: first });
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

test("the lines are those of JSON mode without a gateway", async () => {
  const workspace = await openGateway([textReply("Hello."), textReply("Hello.")]);
  const read = async (...args: string[]) => {
    const { out } = await run(workspace, [...args, "--mode", "json", "Hello"]);
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    // The gateway has chosen the model before.
    const events = lines.slice(lines.findIndex(({ type }) => type === "agent_start"));
    return { header: lines[0], shapes: events.map((event) => [event["type"], Object.keys(event).sort()]), lines };
  };
  const [local, remote] = [await read(), await read("--gateway")];
  expect(remote.shapes).toEqual(local.shapes);
  expect(Object.keys(remote.header!)).toEqual(Object.keys(local.header!));
  expect(remote.header).toMatchObject({ type: "session", version: 3, cwd: workspace.directory });
  expect(remote.lines.find(({ type }) => type === "message_end")).toMatchObject({
    message: { role: "assistant", content: [{ type: "text", text: "Hello." }] },
  });
});

const silentServer: WireReply = { kind: "raw", chunks: [], ending: "hang" };

test("a run that took too long has failed, and the limit is told", async () => {
  const workspace = await createModelWorkspace([silentServer]);
  const settings = { defaultModel: "acme/small", limits: { runMs: 300 } };
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
  await startGateway(workspace);
  expect(await run(workspace, ["-p", "--gateway", "Hello"])).toEqual({
    code: 1,
    out: "",
    err: "tau: the run was stopped after 0.3 seconds.\n",
  });
});

test("Ctrl-C ends the run", async () => {
  const workspace = await openGateway([silentServer]);
  const controller = new AbortController();
  const ended = run(workspace, ["-p", "--gateway", "Hello"], { signal: controller.signal });
  await expect.poll(() => workspace.server.requests.length).toBe(1);
  controller.abort("SIGINT");
  await workspace.server.clientLeft();
  expect(await ended).toMatchObject({ code: 130, err: "tau: interrupted.\n" });
});

test("the run goes on when the terminal is closed", async () => {
  const model = await createStreamedModel();
  await startGateway(model);
  const controller = new AbortController();
  const ended = run(model, ["-p", "--gateway", "Hello"], { signal: controller.signal });
  await model.isAsked();
  controller.abort("SIGHUP");
  expect(await ended).toMatchObject({ code: 130, out: "" });
  model.send("Said when nobody looked.");
  model.end();
  const gateway = await connectToGateway({ agentDir: model.agentDir });
  onTestFinished(() => gateway.close());
  const { sessions } = await gateway.call("sessions.list", {});
  const session = gateway.session(sessions[0]!.id);
  const getAnswer = async () => (await session.call("get_last_assistant_text")).text;
  await expect.poll(getAnswer).toBe("Said when nobody looked.");
});

test("a prompt that was interrupted before it was sent is never sent", async () => {
  const workspace = await openGateway([textReply("Too late.")]);
  const { code, err } = await run(workspace, ["-p", "--gateway", "Hello"], { signal: AbortSignal.abort("SIGINT") });
  expect({ code, err, requests: workspace.server.requests }).toEqual({ code: 130, err: "", requests: [] });
});

test("--model means what it means without a gateway", async () => {
  const workspace = await openGateway([textReply("One."), textReply("Two.")]);
  const getSent = () => workspace.server.requests.at(-1)?.body;
  expect(await run(workspace, ["-p", "--gateway", "--model", "acme/large:high", "Hello"])).toMatchObject({ code: 0 });
  expect(getSent()).toMatchObject({ model: "large", reasoning_effort: "high" });
  expect(await run(workspace, ["-p", "--gateway", "--model", "small", "Hello"])).toMatchObject({ code: 0 });
  expect(getSent()).toMatchObject({ model: "small" });
  const unknown = await run(workspace, ["-p", "--gateway", "--model", "no-such-model", "Hello"]);
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("no-such-model") });
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
