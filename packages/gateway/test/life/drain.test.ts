/** How a gateway stops: nothing new begins, what runs may end, and what takes too long is ended. */
import { createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { GatewayClient } from "@tau/protocol/client";
import { gatewayMethods, methodScopes } from "@tau/protocol/gateway";
import { mayBeginWork } from "../../src/life/drain.ts";
import { connectRaw, openTestGateway } from "../../src/testing/index.ts";

/** A gateway with one session that runs until `finish` is called, and a client that follows it. */
async function openRunning() {
  const clock = createFakeClock();
  let finish = () => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const model = scriptedModel([
    async (_context, { signal }) => {
      const aborted = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
      await Promise.race([finished, aborted]);
      return [text("Done.")];
    },
  ]);
  const opened = await openTestGateway({ model, options: { clock } });
  onTestFinished(opened.close);
  const { gateway, token, workspace } = opened;
  const client = await connectRaw(gateway.url, { token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  await client.must("sessions.subscribe", { sessionId });
  await client.must("session.prompt", { sessionId, message: "Work." });
  await expect.poll(() => model.asked.length).toBe(1);
  return { ...opened, clock, client, sessionId, finish };
}

/** How the run of the session ended, as its client was told. */
const listEnds = (client: Awaited<ReturnType<typeof connectRaw>>) =>
  client
    .events()
    .flatMap(({ payload }) => ("eventType" in payload && payload.eventType === "agent_end" ? [payload] : []));

test("clients are told, nothing new begins, and the run comes to its end", async () => {
  const { gateway, client, clock, sessionId, workspace, token, finish } = await openRunning();
  const drained = gateway.drain();
  await expect.poll(() => client.events().some(({ event }) => event === "gateway.stopping")).toBe(true);
  expect(await client.call("sessions.create", { cwd: workspace })).toMatchObject({
    ok: false,
    error: { code: "unavailable", retryable: true },
  });
  expect((await client.call("session.get_state", { sessionId })).ok).toBe(true);
  await expect(connectRaw(gateway.url, { token })).rejects.toThrow("ECONNREFUSED");
  finish();
  let running: number | undefined;
  void drained.then((count) => (running = count));
  await expect
    .poll(async () => {
      await clock.advance(100);
      return running;
    })
    .toBe(0);
  // One that does not answer is cut off, and waited for.
  client.socket.pause();
  await gateway.stop();
  expect(gateway.parts.connections.list()).toEqual([]);
  client.socket.resume();
  expect(await client.closed).toBe(1001);
});

test("a client that follows a session goes on with it when the gateway was stopped and started again", async () => {
  const first = await openTestGateway();
  onTestFinished(first.close);
  const { token, workspace, agentDir } = first;
  const port = Number(new URL(first.gateway.url).port);
  const client = new GatewayClient({ url: first.gateway.url, deviceId: "local", key: token });
  onTestFinished(() => client.close());
  await client.connect();
  const { sessionId } = await client.call("sessions.create", { cwd: workspace });
  const session = client.session(sessionId);
  await expect.poll(() => session.isLoaded).toBe(true);
  const before = session.position!.epoch;
  await first.gateway.drain();
  await first.gateway.stop();
  expect(session.state).toEqual({ kind: "waiting" });
  const next = await openTestGateway({
    model: scriptedModel([[text("Here again.")]]),
    settings: { gateway: { port } },
    options: { agentDir, startDirectory: workspace },
  });
  onTestFinished(next.close);
  client.wake();
  await expect.poll(() => session.state).toEqual({ kind: "live" });
  expect(session.position!.epoch).not.toBe(before);
  await session.call("execute", { prompt: "Are you there?" });
  expect(JSON.stringify(session.view.log.entries)).toContain("Here again.");
});

test("a run that takes longer than 30 seconds is ended, and its client is told how", async () => {
  const { gateway, client, clock } = await openRunning();
  const drained = gateway.drain();
  await clock.advance(29_000);
  expect(listEnds(client)).toEqual([]);
  await clock.advance(1_100);
  expect(await drained).toBe(1);
  const stopped = gateway.stop();
  await clock.advance(1_000);
  await stopped;
  expect(await client.closed).toBe(1001);
  expect(JSON.stringify(listEnds(client))).toContain("gateway_disconnected");
});

test("a second request to stop waits for nothing", async () => {
  const { gateway, client } = await openRunning();
  const hurry = new AbortController();
  const drained = gateway.drain({ signal: hurry.signal });
  hurry.abort();
  expect(await drained).toBe(1);
  await gateway.stop();
  expect(await client.closed).toBe(1001);
});

test("a run that was not waited for is shown as interrupted after the next start, and its log says why", async () => {
  const { gateway, agentDir, workspace, sessionId, token } = await openRunning();
  await gateway.stop();
  const model = scriptedModel([[text("Going on.")]]);
  const next = await openTestGateway({ model, options: { agentDir, startDirectory: workspace } });
  onTestFinished(next.close);
  const client = await connectRaw(next.gateway.url, { token });
  const getStatus = async () =>
    (await client.must<{ sessions: { status: string }[] }>("sessions.list")).sessions.map(({ status }) => status);
  expect(await getStatus()).toEqual(["interrupted"]);
  await client.must("sessions.open", { sessionId });
  expect(await getStatus()).toEqual(["interrupted"]);
  expect(JSON.stringify(await client.must("session.get_entries", { sessionId }))).toContain("gateway_disconnected");
  await client.must("session.execute", { sessionId, prompt: "Go on." });
  expect(await getStatus()).toEqual(["idle"]);
});

test("a message that waits is not begun while it stops, and stays on the disk", async () => {
  const { gateway, client, clock, sessionId, model, finish } = await openRunning();
  model.add([text("Never said.")]);
  const later = client.call("session.prompt", { sessionId, message: "And then?", queueMode: "collect" });
  await expect.poll(async () => await client.must("health")).toMatchObject({ inbox: { waiting: 1 } });
  const drained = gateway.drain();
  expect(await later).toMatchObject({ ok: true, payload: { disposition: "accepted" } });
  finish();
  let running: number | undefined;
  void drained.then((count) => (running = count));
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return running;
    })
    .toBe(0);
  expect(await client.must("health")).toMatchObject({ inbox: { waiting: 1 } });
  expect(model.asked).toHaveLength(1);
  await gateway.stop();
});

test("while it stops, what only reads, answers or ends still works", () => {
  const working = gatewayMethods.filter((method) => !mayBeginWork(method));
  expect(working).toContain("session.abort");
  expect(working).toContain("agent.interrupt");
  const refused = gatewayMethods.filter((method) => mayBeginWork(method));
  expect(refused).toContain("session.prompt");
  expect(refused.every((method) => ["write", "admin"].includes(methodScopes[method]))).toBe(true);
});
