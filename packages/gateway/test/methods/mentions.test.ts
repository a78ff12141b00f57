/** Files that clients mention are read with the rights of the model's tools. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway, type RawClient } from "../../src/testing/index.ts";

async function open({ approvals }: { approvals: boolean }) {
  const model = scriptedModel([]);
  // With a clock that stands still, an answer waits for what the session does with the prompt.
  const kit = await openTestGateway({ model, options: { clock: createFakeClock(Date.now()) } });
  onTestFinished(kit.close);
  // Everything below the directory for temporary files is open to tools.
  const outside = await mkdtemp(join(homedir(), ".tau-mentions-test-"));
  onTestFinished(() => rm(outside, { recursive: true, force: true }));
  const file = join(outside, "plan.txt");
  await writeFile(file, "the plan");
  const client = await connectRaw(kit.gateway.url, { token: kit.token, connect: { abilities: { approvals } } });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: kit.workspace });
  await client.must("sessions.subscribe", { sessionId });
  const getPrompts = () => JSON.stringify(model.asked.map(({ context }) => context.messages));
  return { ...kit, model, outside, file, client, sessionId, getPrompts };
}

const listQuestions = (client: RawClient) =>
  client
    .events()
    .flatMap((frame) =>
      frame.event === "session.approval.requested" ? [frame.payload as { approval: { id: string } }] : [],
    );

test("outside the workspace nothing is read if nobody is asked, and the sender is told why", async () => {
  const { client, sessionId, file, model, getPrompts } = await open({ approvals: false });
  expect(await client.call("session.execute", { sessionId, prompt: "Look", files: [file] })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("outside the workspace") },
  });
  model.add([text("Seen.")]);
  const answer = await client.must<{ notices: string[] }>("session.prompt", { sessionId, message: `Read @${file}.` });
  expect(answer.notices).toEqual([
    expect.stringMatching(/plan\.txt needs permission: it is outside the workspace.*No person is there to ask/),
  ]);
  await expect.poll(() => model.left).toBe(0);
  expect(getPrompts()).not.toContain("the plan");
});

test.each([
  ["allow", true],
  ["deny", false],
] as const)("a question goes to who follows the session, and its answer counts: %s", async (decision, isRead) => {
  const { client, sessionId, file, model, getPrompts } = await open({ approvals: true });
  model.add([text("Seen.")]);
  const ended = client.must("session.execute", { sessionId, prompt: `Read @${file}, and tell me.` });
  await expect.poll(() => listQuestions(client).length).toBe(1);
  const [question] = listQuestions(client);
  expect(JSON.stringify(question)).toContain("plan.txt");
  expect(model.asked).toEqual([]);
  const approvalId = question!.approval.id;
  await client.must("session.approve", { sessionId, approvalId, decision });
  await ended;
  expect(getPrompts().includes("the plan")).toBe(isRead);
});

test("an abort ends the question, and nothing is read", async () => {
  const { client, sessionId, file, model } = await open({ approvals: true });
  const ended = client.call("session.execute", { sessionId, prompt: `Read @${file}` });
  await expect.poll(() => listQuestions(client).length).toBe(1);
  await client.must("session.abort", { sessionId });
  await ended;
  expect(model.asked).toEqual([]);
});

test("what is in the workspace is attached, and what a link in it leads to is outside", async () => {
  const { client, sessionId, workspace, file, model, getPrompts } = await open({ approvals: false });
  await writeFile(join(workspace, "notes.txt"), "my notes");
  await symlink(file, join(workspace, "link.txt"));
  model.add([text("Seen.")]);
  const answer = await client.must<{ notices: string[] }>("session.prompt", {
    sessionId,
    message: "Compare @notes.txt and @link.txt",
  });
  expect(answer.notices).toHaveLength(1);
  await expect.poll(() => model.left).toBe(0);
  expect(getPrompts()).toContain("my notes");
  expect(getPrompts()).not.toContain("the plan");
});

test("completions name only what may be read without a question", async () => {
  const { client, sessionId, workspace, outside } = await open({ approvals: true });
  await mkdir(join(workspace, "src"));
  await writeFile(join(workspace, "src", "main.ts"), "");
  await symlink(outside, join(workspace, "linked"));
  const complete = async (message: string, paths = false) => {
    const params = { sessionId, text: message, cursor: message.length, paths };
    const answer = async () =>
      await client.must<{ items: { value: string }[]; incomplete?: boolean }>("session.complete", params);
    await expect.poll(async () => (await answer()).incomplete ?? false).toBe(false);
    return (await answer()).items.map(({ value }) => value);
  };
  expect(await complete("@main")).toEqual(["src/main.ts"]);
  expect(await complete("@plan")).toEqual([]);
  expect(await complete(`@${outside}/`)).toEqual([]);
  expect(await complete("@linked/")).toEqual([]);
  expect(await complete("@~/")).toEqual([]);
  expect(await complete("look /etc/pass", true)).toEqual([]);
  expect(await complete(`look ${workspace}/s`, true)).toEqual([`${workspace}/src/`]);
});

test("an import and an export outside the workspace need an answer too", async () => {
  const { client, sessionId, outside, file } = await open({ approvals: false });
  const denied = { ok: false, error: { code: "denied" } };
  expect(await client.call("session.import_session", { sessionId, path: file })).toMatchObject(denied);
  const outputPath = join(outside, "session.html");
  expect(await client.call("session.export_html", { sessionId, outputPath })).toMatchObject(denied);
  expect(await client.call("session.export_html", { sessionId })).toMatchObject({ ok: true });
});
