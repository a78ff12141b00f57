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
    say: (...args: string[]) => run(workspace, [...args, "-p", "Why is the page slow?"]),
    list: () => list(workspace),
    asked: () => workspace.server.requests.map(({ body }) => (body as { model: string }).model),
  };
}

test("after the first answer the model of smol names the session, once, and its cost is part of the session's", async () => {
  const {
    say,
    list: listAll,
    asked,
    server,
  } = await createWorkspace([textReply("Because of a query."), textReply('"Slow page"'), textReply("Yes.")]);
  expect(await say()).toMatchObject({ code: 0, out: "Because of a query.\n", err: "" });
  const [session] = await listAll();
  expect(session!.name).toBe("Slow page");
  const { messages } = server.requests[1]!.body as { messages: { content: string }[] };
  expect(messages.at(-1)!.content).toBe("User: Why is the page slow?\n\nAssistant: Because of a query.");
  await say("-c");
  expect(asked()).toEqual(["large", "small", "large"]);
  expect((await listAll())[0]!.name).toBe("Slow page");
});

test.each<[string, object, string[]]>([
  ["without a model of its own for the role smol", { defaultModel: "acme/large" }, []],
  ["when the feature is off", { ...smol, features: { titles: false } }, []],
  ["in print mode without a session", smol, ["--no-session"]],
  ["for a session that a person named", smol, ["--name", "Mine"]],
])("no title is made %s", async (_name, settings, args) => {
  const { say, asked, list: listAll } = await createWorkspace([textReply("Because of a query.")], settings);
  expect(await say(...args)).toMatchObject({ code: 0 });
  expect(asked()).toEqual(["large"]);
  expect((await listAll()).map(({ name }) => name)).not.toContain("Slow page");
});

test("--smol alone is enough, and a failure of that model does not fail the run", async () => {
  const {
    say,
    asked,
    list: listAll,
  } = await createWorkspace([textReply("Because of a query."), { kind: "status", status: 400, body: "no" }], {
    defaultModel: "acme/large",
  });
  expect(await say("--smol", "acme/small")).toMatchObject({ code: 0, out: "Because of a query.\n" });
  expect(asked()).toEqual(["large", "small"]);
  expect((await listAll())[0]!.name).toBeUndefined();
});

test("over RPC the title comes after the run, which does not wait for it", async () => {
  const { agentDir, directory, list: listAll } = await createWorkspace([textReply("Because."), textReply("Slow page")]);
  const { client, close } = connect({ agentDir, directory });
  await client.call("prompt", { message: "Why is the page slow?" });
  await expect.poll(async () => (await listAll())[0]?.name).toBe("Slow page");
  await close();
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
