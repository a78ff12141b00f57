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
