/** Names of sessions: made after the first answer, and used to continue one. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { matchSessions } from "../src/commands/sessions-choose.ts";
import { parseSessionArgs } from "../src/start/args.ts";
import { list } from "./commands/sessions-kit.ts";
import { createModelWorkspace, run, textReply } from "./kit.ts";
import { connect } from "./rpc-kit.ts";
import type { WireReply } from "@tau/ai/testing";

const smol = { defaultModel: "acme/large", roles: { smol: "acme/small" } };

async function createWorkspace(replies: readonly WireReply[], settings: object = smol) {
  const workspace = await createModelWorkspace(replies);
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
  return {
    ...workspace,
    list: () => list(workspace),
    asked: () => workspace.server.requests.map(({ body }) => (body as { model: string }).model),
  };
}

async function say(workspace: Awaited<ReturnType<typeof createWorkspace>>, ...args: string[]) {
  const { client, close } = connect(workspace, args);
  await client.promptAndWait("Why is the page slow?");
  return { client, close };
}

test("after the first answer the model of smol names the session, once, and its cost is part of the session's", async () => {
  const replies = [textReply("Because of a query."), textReply('"Slow page"'), textReply("Yes."), textReply("No.")];
  const workspace = await createWorkspace(replies);
  const { client, close } = await say(workspace);
  await expect.poll(async () => (await workspace.list())[0]?.name).toBe("Slow page");
  const { messages } = workspace.server.requests[1]!.body as { messages: { content: string }[] };
  expect(messages.at(-1)!.content).toBe("User: Why is the page slow?\n\nAssistant: Because of a query.");
  await client.promptAndWait("Really?");
  await close();
  const again = await say(workspace, "-c");
  await again.close();
  expect(workspace.asked()).toEqual(["large", "small", "large", "large"]);
  expect((await workspace.list())[0]!.name).toBe("Slow page");
});

test.each<[string, object, string[]]>([
  ["without a model of its own for the role smol", { defaultModel: "acme/large" }, []],
  ["when the feature is off", { ...smol, features: { titles: false } }, []],
  ["for a session that a person named", smol, ["--name", "Mine"]],
])("no title is made %s", async (_name, settings, args) => {
  const workspace = await createWorkspace([textReply("Because of a query."), textReply("Yes.")], settings);
  const { client, close } = await say(workspace, ...args);
  await client.promptAndWait("Really?");
  await close();
  expect(workspace.asked()).toEqual(["large", "large"]);
});

test("--smol alone is enough, and a failure of that model leaves the session as it is", async () => {
  const replies: WireReply[] = [textReply("Because of a query."), { kind: "status", status: 400, body: "no" }];
  const workspace = await createWorkspace([...replies, textReply("Yes.")], { defaultModel: "acme/large" });
  const { client, close } = await say(workspace, "--smol", "acme/small");
  await expect.poll(workspace.asked).toEqual(["large", "small"]);
  await client.promptAndWait("Really?");
  await close();
  expect((await workspace.list())[0]!.name).toBeUndefined();
});

test.each([
  ["print", ["-p"]],
  ["JSON", ["--mode", "json"]],
])("in %s mode the program ends with its answer, and a later one makes the title", async (_name, mode) => {
  const workspace = await createWorkspace([textReply("Because."), textReply("Yes."), textReply("Slow page")]);
  expect(await run(workspace, [...mode, "Why is the page slow?"])).toMatchObject({ code: 0, err: "" });
  expect(workspace.asked()).toEqual(["large"]);
  const { close } = await say(workspace, "-c");
  await expect.poll(async () => (await workspace.list())[0]?.name).toBe("Slow page");
  await close();
});

test("a run over RPC does not wait for a title that never comes, and neither does the end", async () => {
  const workspace = await createWorkspace([
    textReply("Because."),
    { kind: "raw", chunks: [], ending: "hang" },
    textReply("Yes."),
  ]);
  const { client, close } = await say(workspace);
  await expect.poll(workspace.asked).toEqual(["large", "small"]);
  expect((await client.promptAndWait("Really?")).answer).toBe("Yes.");
  expect(await close()).toBe(0);
  expect((await workspace.list())[0]!.name).toBeUndefined();
});

const sessions = [
  { id: "a-1", name: "Slow page", firstMessage: "Why?" },
  { id: "a-2", name: "Slow pages of the shop", firstMessage: "Look at the shop." },
  { id: "b-3", firstMessage: "Fix the\n login" },
  { id: "slow", name: "Other", firstMessage: "" },
];

test.each([
  ["slow page", ["a-1"]],
  ["Slow pages", ["a-2"]],
  ["page", ["a-1", "a-2"]],
  ["fix the login", ["b-3"]],
  ["slow", ["slow"]],
  ["b-", ["b-3"]],
  ["a", ["a-1", "a-2"]],
  ["nothing", []],
  ["  ", []],
])("the name %j means the sessions %j", (text, ids) => {
  expect(matchSessions(text, sessions).map(({ id }) => id)).toEqual(ids);
});

test("-r NAME continues the session with that name, and several matches are listed", async () => {
  const workspace = await createModelWorkspace([textReply("one"), textReply("two"), textReply("three")]);
  await run(workspace, ["--name", "Slow page", "-p", "The first."]);
  await run(workspace, ["--name", "Slow shop", "-p", "The second."]);
  expect(await run(workspace, ["-r", "slow page", "-p", "Go on."])).toMatchObject({ code: 0, out: "three\n" });
  expect(JSON.stringify(workspace.server.requests[2]!.body)).toContain("The first.");
  const several = await run(workspace, ["-r", "slow", "-p", "Go on."]);
  expect(several.code).toBe(2);
  expect(several.err).toMatch(/"slow" matches several sessions.*\n +\S+ +Slow page\n +\S+ +Slow shop\n$/);
  const none = await run(workspace, ["--resume=fast", "-p", "Go on."]);
  expect(none).toMatchObject({ code: 2, err: expect.stringContaining('There is no session "fast"') });
  expect(workspace.server.requests.length).toBe(3);
});

test("where a person can answer, several matches are a question", async () => {
  const workspace = await createModelWorkspace([textReply("one"), textReply("two"), textReply("three")]);
  await run(workspace, ["--name", "Slow page", "-p", "The first."]);
  await run(workspace, ["--name", "Slow shop", "-p", "The second."]);
  const terminal = { input: true, err: true };
  const { code } = await run(workspace, ["-r", "slow", "-p", "Go on."], { input: "2\n", terminal });
  expect(code).toBe(0);
  expect(JSON.stringify(workspace.server.requests[2]!.body)).toContain("The first.");
});

test.each([
  [["-r"], true, ""],
  [["-r", "-p", "Go"], true, "Go"],
  [["-r", "slow page", "go", "on"], "slow page", "go on"],
  [["--resume=slow"], "slow", ""],
])("%j resumes %j", (args, resume, message) => {
  expect(parseSessionArgs(args)).toMatchObject({ kind: "session", options: { resume, message } });
});
