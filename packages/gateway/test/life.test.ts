/** A killed gateway: its files, and what the next one makes of them. */
import { existsSync } from "node:fs";
import { createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { customTypes, type View } from "@tau/protocol";
import type { InboxMessageData } from "@tau/protocol/gateway";
import { expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway, type RawClient, type TestGatewayOptions } from "../src/testing/index.ts";
import { createPlace, readSessions, startChild, useChildren } from "./fixtures/child.ts";

useChildren();

const sessionCount = 50;

const create = async (client: RawClient, cwd: string) =>
  (await client.must<{ sessionId: string }>("sessions.create", { cwd })).sessionId;

/** The view that a client gets when it begins to follow a session. */
async function follow(client: RawClient, sessionId: string): Promise<View> {
  await client.must("sessions.subscribe", { sessionId });
  const isSnapshot = (frame: { event: string; payload: unknown }) =>
    frame.event === "session.snapshot" && (frame.payload as { sessionId: string }).sessionId === sessionId;
  await expect.poll(() => client.events().some(isSnapshot)).toBe(true);
  return (client.events().find(isSnapshot)!.payload as { view: View }).view;
}

test(`${sessionCount} sessions that run when the gateway is killed are interrupted, and each can go on`, async () => {
  const place = createPlace();
  const first = await startChild(place, "never");
  const ids = [];
  for (let index = 0; index < sessionCount; index++) ids.push(await create(first.client, place.workspace));
  await Promise.all(
    ids.map((sessionId) => first.client.must("session.prompt", { sessionId, message: `Go ${sessionId}.` })),
  );
  // On a busy machine some prompts are answered before their runs begin.
  const countRunning = async () => (await first.client.must<{ runningSessions: number }>("health")).runningSessions;
  await expect.poll(countRunning).toBe(sessionCount);
  await first.end("SIGKILL");
  const second = await startChild(place, "answers");
  const listed = await second.client.must<{ sessions: { id: string; status: string }[] }>("sessions.list", {});
  expect(listed.sessions.map(({ status }) => status)).toEqual(ids.map(() => "interrupted"));
  const [one = "", other = ""] = ids;
  const { live, log } = await follow(second.client, one);
  expect([live.run, live.ended]).toEqual([undefined, { reason: "gateway_disconnected" }]);
  expect(log.entries.at(-1)).toMatchObject({ customType: customTypes.runEnded });
  const status = async (sessionId: string) =>
    (await second.client.must<typeof listed>("sessions.list", {})).sessions.find(({ id }) => id === sessionId)?.status;
  expect(await status(one)).toBe("interrupted");
  for (const sessionId of [one, other]) {
    await second.client.must("session.prompt", { sessionId, message: "Go on." });
    await expect.poll(() => status(sessionId)).toBe("idle");
  }
  await second.end("SIGTERM");
  const sessions = readSessions(place);
  for (const sessionId of [one, other]) {
    const ends = sessions
      .get(sessionId)!
      .filter((entry) => entry.type === "custom" && entry.customType === customTypes.runEnded);
    expect(ends).toHaveLength(1);
  }
});

test("a question that was open when the gateway was killed is closed, and its call is not executed", async () => {
  const place = createPlace();
  const first = await startChild(place, "asks");
  const sessionId = await create(first.client, place.workspace);
  await first.client.must("sessions.subscribe", { sessionId });
  await first.client.must("session.prompt", { sessionId, message: "Write it." });
  const approvals = async ({ client }: typeof first) =>
    (await client.must<{ approvals: { approval: { id: string } }[] }>("approvals.list", {})).approvals;
  await expect.poll(async () => (await approvals(first)).length).toBe(1);
  const [question] = await approvals(first);
  await first.end("SIGKILL");
  const second = await startChild(place, "answers");
  const { live, log } = await follow(second.client, sessionId);
  expect([live.approvals, await approvals(second)]).toEqual([[], []]);
  const late = { sessionId, approvalId: question!.approval.id, decision: "allow" };
  expect(await second.client.call("session.approve", late)).toMatchObject({ ok: false });
  const results = log.entries.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "toolResult" ? [entry.message] : [],
  );
  expect(results).toMatchObject([{ isError: true }]);
  expect(existsSync("/outside.txt")).toBe(false);
  await second.end("SIGTERM");
});

test("what is too old when the gateway is started again is given up, listed, and can be replayed", async () => {
  const model = scriptedModel([() => new Promise(() => {}), [text("Heard.")], [text("Heard too.")]]);
  const place = createPlace();
  const open = async (clock: ReturnType<typeof createFakeClock>) => {
    const { agentDir } = place;
    const own: TestGatewayOptions = { model, options: { agentDir, clock }, params: { agentDir } };
    const kit = await openTestGateway({ ...own, settings: { gateway: { roots: [place.workspace] } } });
    return { ...kit, client: await connectRaw(kit.gateway.url, { token: kit.token }) };
  };
  const firstClock = createFakeClock(Date.now());
  const first = await open(firstClock);
  const sessionId = await create(first.client, place.workspace);
  const prompt = (message: string, queueMode: string) =>
    first.client.must("session.prompt", { sessionId, message, queueMode });
  await prompt("Begin.", "steer");
  await prompt("In the session.", "followup");
  await prompt("In the inbox.", "collect");
  await first.close();
  const second = await open(createFakeClock(firstClock.now() + 20 * 60_000));
  onTestFinished(second.close);
  const list = async () => (await second.client.must<{ messages: InboxMessageData[] }>("inbox.list", {})).messages;
  await expect
    .poll(async () => (await list()).map(({ text: words, state }) => [words, state]))
    .toEqual([
      ["In the session.", "dead"],
      ["In the inbox.", "dead"],
    ]);
  expect((await second.client.must<{ inbox: object }>("health")).inbox).toEqual({ waiting: 0, dead: 2 });
  const { hosted } = await second.gateway.parts.sessions.open(sessionId);
  expect(hosted.session.queue).toEqual({ steering: [], followUps: [] });
  const [inSession] = await list();
  await second.client.must("inbox.replay", { id: inSession!.id });
  await expect.poll(() => hosted.session.messages.at(-1)).toMatchObject({ role: "assistant" });
  const said = hosted.session.messages.flatMap(({ role, ...message }) =>
    role === "user" ? [(message as { content: unknown }).content] : [],
  );
  expect(said).toEqual([[text("Begin.")], [text("In the session.")]]);
  await expect.poll(async () => (await list()).map((message) => message.text)).toEqual(["In the inbox."]);
});

test("a request with a key has one effect, whatever the connection", async () => {
  const { gateway, token, workspace, close } = await openTestGateway();
  onTestFinished(close);
  const client = await connectRaw(gateway.url, { token });
  const other = await connectRaw(gateway.url, { token });
  const request = { cwd: workspace, idempotencyKey: "k" };
  const [one, two] = await Promise.all([
    client.must<{ sessionId: string }>("sessions.create", request),
    other.must<{ sessionId: string }>("sessions.create", request),
  ]);
  expect(one.sessionId).toBe(two.sessionId);
  expect(await client.call("sessions.create", { ...request, name: "Another" })).toMatchObject({
    ok: false,
    error: { code: "conflict", retryable: false },
  });
  expect(await client.call("sessions.create", { ...request, idempotencyKey: "" })).toMatchObject({
    error: { code: "invalid_parameters" },
  });
  // What only reads gives the present answer.
  const list = { idempotencyKey: "list" };
  expect((await client.must<{ sessions: unknown[] }>("sessions.list", list)).sessions).toHaveLength(1);
  await client.must("sessions.create", { cwd: workspace });
  expect((await client.must<{ sessions: unknown[] }>("sessions.list", list)).sessions).toHaveLength(2);
});
