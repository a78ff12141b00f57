import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel, text } from "@tau/ai/testing";
import { openTestGateway } from "@tau/gateway/testing";
import { expect, onTestFinished, test } from "vitest";
import { GatewayClient } from "../../src/client/index.ts";
import { connectToGateway } from "../../src/node/index.ts";

test("a client follows a session over a real socket, and goes on after the socket was cut", async () => {
  const model = scriptedModel([[text("First.")], [text("Second.")]]);
  const { gateway, token, workspace, close } = await openTestGateway({ model });
  onTestFinished(close);
  const client = new GatewayClient({ url: gateway.url, deviceId: "local", key: token, random: () => 0 });
  onTestFinished(() => client.close());
  expect((await client.connect()).scopes).toContain("admin");
  const { sessionId } = await client.call("sessions.create", { cwd: workspace });
  const session = client.session(sessionId);
  await expect.poll(() => session.state.kind).toBe("live");
  expect(await session.call("execute", { prompt: "One." })).toMatchObject({ answer: "First." });
  for (const connected of gateway.parts.connections.list()) connected.close(1012, "cut");
  expect(await session.call("execute", { prompt: "Two." })).toMatchObject({ answer: "Second." });
  await expect.poll(() => JSON.stringify(session.view.log.entries.at(-1))).toContain("Second.");
  expect(JSON.stringify(session.view.log.entries)).toContain("First.");
});

test("a client knows the place in the line of a session that waits for a run", async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const model = scriptedModel([async () => (await gate, [text("First.")]), [text("Second.")]]);
  const settings = { gateway: { lanes: { global: 1 } } };
  const { gateway, token, workspace, close } = await openTestGateway({ model, settings });
  onTestFinished(close);
  const client = new GatewayClient({ url: gateway.url, deviceId: "local", key: token, random: () => 0 });
  onTestFinished(() => client.close());
  await client.connect();
  const open = async () => client.session((await client.call("sessions.create", { cwd: workspace })).sessionId);
  const [running, waiting] = [await open(), await open()];
  await expect.poll(() => waiting.state.kind).toBe("live");
  await running.call("prompt", { message: "One." });
  await waiting.call("prompt", { message: "Two." });
  await expect.poll(() => waiting.placeInLine).toBe(1);
  expect(running.placeInLine).toBeUndefined();
  release();
  await expect.poll(() => waiting.placeInLine).toBeUndefined();
  await expect.poll(() => JSON.stringify(waiting.view.log.entries.at(-1))).toContain("Second.");
});

test("what a client has said that it can do holds after the socket was cut", async () => {
  const { gateway, token, workspace, close } = await openTestGateway();
  onTestFinished(close);
  const client = new GatewayClient({ url: gateway.url, deviceId: "local", key: token, random: () => 0 });
  onTestFinished(() => client.close());
  await client.connect();
  const { sessionId } = await client.call("sessions.create", { cwd: workspace });
  await client.session(sessionId).call("initialize", { approvals: true });
  const [before] = gateway.parts.connections.list();
  before!.close(1012, "cut");
  // Waits for the next connection.
  await client.call("sessions.list");
  const [after] = gateway.parts.connections.list().filter((connected) => connected !== before);
  expect(after?.abilities).toEqual({ approvals: true, ui: false });
});

test("in Node a client finds the gateway of its account, or says how to start one", async () => {
  const { gateway, token, close } = await openTestGateway();
  onTestFinished(close);
  const agentDir = await mkdtemp(join(tmpdir(), "tau-client-"));
  onTestFinished(() => rm(agentDir, { recursive: true, force: true, maxRetries: 10 }));
  await expect(connectToGateway({ agentDir })).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("tau gateway"),
  });
  await mkdir(join(agentDir, "gateway"), { mode: 0o700 });
  await writeFile(join(agentDir, "gateway", "address.json"), JSON.stringify({ url: gateway.url, pid: process.pid }), {
    mode: 0o600,
  });
  await writeFile(join(agentDir, "gateway", "local.token"), `${token}\n`, { mode: 0o600 });
  const client = await connectToGateway({ agentDir });
  onTestFinished(() => client.close());
  expect(await client.call("health")).toMatchObject({ ok: true });
});

test("a client finds the gateway of its account again when that listens elsewhere", async () => {
  const first = await openTestGateway();
  onTestFinished(first.close);
  const { agentDir } = first;
  const address = join(agentDir, "gateway", "address.json");
  const tell = (url: string) => writeFile(address, JSON.stringify({ url, pid: process.pid }), { mode: 0o600 });
  await tell(first.gateway.url);
  const client = await connectToGateway({ agentDir, random: () => 0 });
  onTestFinished(() => client.close());
  await first.gateway.stop();
  const second = await openTestGateway({ options: { agentDir } });
  onTestFinished(second.close);
  await tell(second.gateway.url);
  expect(second.gateway.url).not.toBe(first.gateway.url);
  await expect.poll(() => (client.wake(), client.state.kind)).toBe("open");
});
