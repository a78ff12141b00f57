/** The features of tau over its surfaces: print, JSON, RPC and the gateway. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { connectToGateway } from "@tau/protocol/node";
import { openGateway } from "./gateway/kit.ts";
import { createModelWorkspace, run, textReply, toolReply } from "./kit.ts";
import { type Json, serve } from "./rpc-kit.ts";

const todos = [
  { content: "one", status: "completed" },
  { content: "two", status: "pending" },
];
const replies = () => [toolReply("todo", { todos }), textReply("Done.")];

interface Body {
  tools: { function: { name: string } }[];
  messages: { role: string; content: unknown }[];
}

test("in print mode the model keeps a list, and gets it back", async () => {
  const workspace = await createModelWorkspace(replies());
  const { out, err, code } = await run(workspace, ["-p", "Go."]);
  expect({ out, err, code }).toEqual({ out: "Done.\n", err: "", code: 0 });
  const sent = workspace.server.requests.at(-1)!.body as Body;
  expect(JSON.stringify(sent.messages.at(-1))).toContain("[x] one\\n[ ] two");
});

test("in JSON mode its call and its result are events like those of any tool", async () => {
  const workspace = await createModelWorkspace(replies());
  const { out } = await run(workspace, ["--mode", "json", "-p", "Go."]);
  const events = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const end = events.find(({ type }) => type === "tool_execution_end")!;
  expect(end).toMatchObject({ success: true, output: "[x] one\n[ ] two" });
});

test("over RPC the list is a widget during the run, and a line afterwards", async () => {
  const client = serve(await createModelWorkspace(replies()));
  await client.ask("prompt", { message: "Go." });
  const isWidget =
    (...widgetLines: string[]) =>
    (record: Json) =>
      record["method"] === "setWidget" && isDeepStrictEqual(record["widgetLines"], widgetLines);
  expect(await client.seen(isWidget("[x] one", "[ ] two"))).toMatchObject({ widgetKey: "todo" });
  expect(await client.seen(isWidget("1 of 2 done · next: two"))).toMatchObject({ widgetKey: "todo" });
});

test("the setting features turns one off", async () => {
  const workspace = await createModelWorkspace([textReply("Done.")]);
  const settings = { defaultModel: "acme/small", features: { todo: false } };
  writeFileSync(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
  await run(workspace, ["-p", "Go."]);
  const { tools } = workspace.server.requests[0]!.body as Body;
  expect(tools.map((tool) => tool.function.name)).not.toContain("todo");
});

test("over the socket of the gateway its call is in the view, and its list is a widget", async () => {
  const { agentDir, directory } = await openGateway(replies());
  const gateway = await connectToGateway({ agentDir, abilities: { approvals: true, ui: true } });
  onTestFinished(() => gateway.close());
  const { sessionId } = await gateway.call("sessions.create", { cwd: directory });
  const session = gateway.session(sessionId);
  await session.call("execute", { prompt: "Go." });
  await expect.poll(() => JSON.stringify(session.view)).toContain("[x] one\\n[ ] two");
  await expect.poll(() => JSON.stringify([...session.ui.widgets.values()])).toContain("1 of 2 done");
});

test("over the socket of the gateway a sub-agent is listed with its parent, and its events are its own", async () => {
  const { agentDir, directory } = await openGateway([
    toolReply("task", { description: "look", prompt: "Look around." }),
    toolReply("ls", { path: "./" }),
    textReply("I looked."),
    textReply("All done."),
  ]);
  const gateway = await connectToGateway({ agentDir, abilities: { approvals: true, ui: true } });
  onTestFinished(() => gateway.close());
  const { sessionId } = await gateway.call("sessions.create", { cwd: directory });
  const session = gateway.session(sessionId);
  await session.call("execute", { prompt: "Go." });
  const { sessions } = await gateway.call("sessions.list", {});
  const child = sessions.find(({ startedBy }) => startedBy === sessionId)!;
  expect(child).toMatchObject({ firstMessage: "Look around.", cwd: directory });
  const { sessions: own } = await gateway.call("sessions.list", { children: false });
  expect(own.map(({ id }) => id)).toEqual([sessionId]);
  await expect.poll(() => JSON.stringify(session.view)).toContain("All done.");
  // The answer of the task is in the view, what the sub-agent did for it is not.
  expect(JSON.stringify(session.view)).toContain("I looked.");
  expect(JSON.stringify(session.view)).not.toContain('"path":"./"');
  await gateway.call("sessions.open", { sessionId: child.sessionId });
  await expect.poll(() => JSON.stringify(gateway.session(child.sessionId).view)).toContain('"path":"./"');
});

test("a template is used instead of a feature's command of the same name", async () => {
  const workspace = await createModelWorkspace([textReply("One.")]);
  const prompts = join(workspace.agentDir, "prompts");
  mkdirSync(prompts);
  writeFileSync(join(prompts, "context.md"), "Explain the context of $1.");
  const client = serve(workspace);
  // The code of the feature that has this one is not loaded by it.
  await client.ask("prompt", { message: "/context a.ts" });
  await expect.poll(() => workspace.server.requests.length).toBe(1);
  expect(JSON.stringify(workspace.server.requests[0]!.body)).toContain("Explain the context of a.ts.");
  const { data } = (await client.ask("get_commands")) as { data: { commands: { name: string; source: string }[] } };
  expect(data.commands.filter(({ name }) => name === "context")).toMatchObject([{ source: "prompt" }]);
});

test("commands of features print what they show to standard error in print mode, and are notes over RPC", async () => {
  const workspace = await createModelWorkspace([]);
  const printed = await run(workspace, ["-p", "/context"]);
  expect(printed).toMatchObject({ code: 0, out: "" });
  expect(printed.err).toMatch(/About [\d.]+k of 64k tokens of acme\/small/);
  const client = serve(workspace);
  await client.ask("prompt", { message: "/context" });
  const note = await client.seen((record) => record["method"] === "notify");
  expect(note["message"]).toMatch(/System prompt +[\d.]+k?/);
});
