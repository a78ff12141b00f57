/** Every method with every scope: made from the one map, so that no method can be forgotten. */
import { gatewayMethods, type GatewayScope, gatewayScopes, methodScopes } from "@tau/protocol/gateway";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectRaw, openTestGateway, type RawClient, type TestGateway } from "../../src/testing/index.ts";

let opened: TestGateway;
const clients = new Map<GatewayScope | "none", RawClient>();

beforeAll(async () => {
  opened = await openTestGateway();
  const { gateway } = opened;
  for (const scope of [...gatewayScopes, "none"] as const) {
    const scopes = scope === "none" ? [] : [scope];
    const { id, token } = await gateway.parts.devices.add({ name: scope, scopes });
    clients.set(scope, await connectRaw(gateway.url, { token, deviceId: id }));
  }
});
afterAll(async () => {
  for (const client of clients.values()) client.close();
  await opened.close();
});

const rows = gatewayMethods.filter((method) => method !== "connect");

describe.each(rows)("%s", (method) => {
  test.each([...gatewayScopes, "none"] as const)("with the scope %s", async (scope) => {
    // Without parameters: what is allowed is refused for another reason, or only reads.
    const response = await clients.get(scope)!.call(method);
    const isForbidden = !response.ok && response.error.code === "forbidden";
    expect(isForbidden).toBe(methodScopes[method] !== scope);
    if (isForbidden) expect(response.error.message).toContain(methodScopes[method]);
  });
});

test("every method has a scope, and connect alone has none", () => {
  const without = gatewayMethods.filter((method) => !gatewayScopes.some((scope) => scope === methodScopes[method]));
  expect(without).toEqual(["connect"]);
});

test("a client that asks for more than its device has gets what the device has", async () => {
  const { gateway } = opened;
  const { id, token } = await gateway.parts.devices.add({ name: "low", scopes: ["read"] });
  const client = await connectRaw(gateway.url, { token, deviceId: id, connect: { scopes: ["read", "admin", "pair"] } });
  const hello = client.frames.find((frame) => frame.type === "res") as { payload: { scopes: string[] } };
  expect(hello.payload.scopes).toEqual(["read"]);
  expect(await client.call("config.get")).toMatchObject({ ok: false, error: { code: "forbidden" } });
  client.close();
});

test("a client that asked for less does not get more", async () => {
  const { gateway, token } = opened;
  const client = await connectRaw(gateway.url, { token, connect: { scopes: ["read"] } });
  expect(await client.call("devices.list")).toMatchObject({ ok: false, error: { code: "forbidden" } });
  client.close();
});

test("who may only look does not decide what happens to a run", async () => {
  const { gateway, workspace } = opened;
  const { sessionId } = (await clients.get("write")!.must("sessions.create", { cwd: workspace })) as {
    sessionId: string;
  };
  const reader = clients.get("read")!;
  for (const onDisconnect of ["stop", "continue"]) {
    const answer = await reader.call("sessions.open", { sessionId, onDisconnect });
    expect(answer).toMatchObject({ ok: false, error: { code: "forbidden" } });
  }
  expect(await reader.call("sessions.open", { sessionId })).toMatchObject({ ok: true });
  await gateway.parts.sessions.close(sessionId);
});

test("who may only look sees no token of a webhook, and who may change the settings does", async () => {
  const token = "0123456789-0123456789-0123456789-abcdef";
  const other = await openTestGateway({ settings: { gateway: { hooks: { deploy: { prompt: "Look.", token } } } } });
  const { gateway, workspace } = other;
  const { id, token: own } = await gateway.parts.devices.add({ name: "low", scopes: ["read", "write", "approve"] });
  const client = await connectRaw(gateway.url, { token: own, deviceId: id });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  for (const method of ["session.get_settings", "session.list_settings"]) {
    const text = JSON.stringify(await client.must(method, { sessionId }));
    expect(text).toContain("Look.");
    expect(text).not.toContain(token);
  }
  const owner = await connectRaw(gateway.url, { token: other.token });
  expect(JSON.stringify(await owner.must("config.get"))).toContain(token);
  client.close();
  owner.close();
  await other.close();
});
