import { createFakeClock, type FakeClock } from "@tau/ai/testing";
import type { DeviceData, PairClaimData, PairRequestData } from "@tau/protocol/gateway";
import { expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway, type TestGateway } from "../../src/testing/index.ts";

interface Opened extends TestGateway {
  clock: FakeClock;
  post: (path: string, body: unknown) => Promise<{ status: number; body: unknown }>;
  request: (name?: string) => Promise<PairRequestData>;
  claim: (request: PairRequestData) => Promise<{ status: number; body: PairClaimData }>;
}

async function open(): Promise<Opened> {
  const clock = createFakeClock();
  const opened = await openTestGateway({ options: { clock } });
  onTestFinished(opened.close);
  const url = opened.gateway.url.replace("ws", "http");
  const post: Opened["post"] = async (path, body) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };
  return {
    ...opened,
    clock,
    post,
    request: async (name = "Phone") => (await post("/pair/request", { name })).body as PairRequestData,
    claim: async ({ requestId, secret }) => (await post("/pair/claim", { requestId, secret })) as never,
  };
}

test("a device that shows a code gets a token when a person has typed it, once", async () => {
  const { gateway, token, request, claim } = await open();
  const own = await connectRaw(gateway.url, { token });
  const asked = await request();
  expect(asked.code).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/);
  expect(await claim(asked)).toEqual({ status: 202, body: { state: "pending" } });
  expect(await own.must("devices.list")).toMatchObject({
    devices: [{ id: "local" }, { name: "Phone", state: "pending" }],
  });
  // As people type.
  const typed = `${asked.code.slice(0, 4).toLowerCase()}-${asked.code.slice(4)} `;
  const device = await own.must<DeviceData>("devices.approve", { code: typed });
  expect(device).toMatchObject({ name: "Phone", state: "paired", scopes: ["read", "write", "approve"] });
  const { status, body } = await claim(asked);
  expect(status).toBe(200);
  expect(body).toMatchObject({ state: "paired", deviceId: device.id, scopes: device.scopes });
  expect((await claim(asked)).status).toBe(404);
  const paired = body as Extract<PairClaimData, { state: "paired" }>;
  const phone = await connectRaw(gateway.url, { token: paired.token, deviceId: paired.deviceId });
  expect(await phone.call("devices.list")).toMatchObject({ ok: false, error: { code: "forbidden" } });
  for (const client of [own, phone]) client.close();
});

test("nobody gives more than they have", async () => {
  const { gateway, request } = await open();
  const { id, token } = await gateway.parts.devices.add({ name: "Porter", scopes: ["pair", "read"] });
  const porter = await connectRaw(gateway.url, { token, deviceId: id });
  const { code } = await request();
  for (const scopes of [["admin"], ["read", "write"]]) {
    const answer = await porter.call("devices.approve", { code, scopes });
    expect(answer).toMatchObject({ ok: false, error: { code: "forbidden" } });
  }
  expect(await porter.must("devices.approve", { code, name: "A name" })).toMatchObject({
    scopes: ["read"],
    name: "A name",
  });
  porter.close();
});

test("a code counts once, and not after five minutes", async () => {
  const { gateway, token, clock, request, claim } = await open();
  const own = await connectRaw(gateway.url, { token });
  const [first, second] = [await request(), await request()];
  await own.must("devices.approve", { code: first.code });
  expect(await own.call("devices.approve", { code: first.code })).toMatchObject({ error: { code: "not_found" } });
  await clock.advance(5 * 60_000);
  expect(await gateway.parts.pairing.list()).toEqual([]);
  const late = await connectRaw(gateway.url, { token });
  expect(await late.call("devices.approve", { code: second.code })).toMatchObject({ error: { code: "not_found" } });
  expect((await claim(second)).status).toBe(404);
  // What was approved and never taken is nobody's.
  await expect.poll(() => gateway.parts.devices.list().map(({ id }) => id)).toEqual(["local"]);
  for (const client of [own, late]) client.close();
});

test("a code that two type at the same time counts once", async () => {
  const { gateway, token, request } = await open();
  const own = await connectRaw(gateway.url, { token });
  const { code } = await request();
  const answers = await Promise.all([
    own.call("devices.approve", { code, scopes: ["admin"] }),
    own.call("devices.approve", { code, scopes: ["read"] }),
  ]);
  expect(answers.map(({ ok }) => ok)).toEqual([true, false]);
  expect(gateway.parts.devices.list()).toHaveLength(2);
});

test("a device that is turned away while its code is typed is not let in", async () => {
  const { gateway, token, request, claim } = await open();
  const own = await connectRaw(gateway.url, { token });
  const asked = await request();
  const [approved, refused] = await Promise.all([
    own.call("devices.approve", { code: asked.code }),
    own.call("devices.revoke", { deviceId: asked.requestId }),
  ]);
  expect(refused.ok).toBe(true);
  expect(approved).toMatchObject({ ok: false, error: { code: "not_found" } });
  expect(gateway.parts.devices.list()).toHaveLength(1);
  expect((await claim(asked)).status).toBe(404);
});

test("a device that asks can be turned away", async () => {
  const { gateway, token, request, claim } = await open();
  const own = await connectRaw(gateway.url, { token });
  const asked = await request();
  await own.must("devices.revoke", { deviceId: asked.requestId });
  expect(gateway.parts.pairing.list()).toEqual([]);
  expect((await claim(asked)).status).toBe(404);
  own.close();
});

test("only who asked can claim", async () => {
  const { gateway, token, request, post } = await open();
  const { requestId, code } = await request();
  const own = await connectRaw(gateway.url, { token });
  await own.must("devices.approve", { code });
  expect(await post("/pair/claim", { requestId, secret: "guess" })).toMatchObject({ status: 401 });
  expect(await post("/pair/claim", { requestId, secret: code })).toMatchObject({ status: 401 });
  expect(await post("/pair/claim", { requestId: "another", secret: "guess" })).toMatchObject({ status: 404 });
  own.close();
});

test("few can wait at a time, and none ask without end", async () => {
  const { request, post, clock } = await open();
  for (let count = 0; count < 3; count++) await request();
  const refused = await post("/pair/request", { name: "One more" });
  expect(refused).toMatchObject({ status: 429, body: { error: { code: "rate_limited", retryable: true } } });
  await clock.advance(5 * 60_000);
  const statuses: number[] = [];
  for (let count = 0; count < 6; count++) statuses.push((await post("/pair/request", { name: "x" })).status);
  expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
});

test("what a stranger calls itself is one short line", async () => {
  const { gateway, request } = await open();
  await request("Your\u001b[2J bank\n\u202etxt.exe");
  await request("x".repeat(10_000));
  await request("\u200b \u0000");
  expect(gateway.parts.pairing.list().map(({ name }) => name)).toEqual([
    "Your [2J bank txt.exe",
    "x".repeat(60),
    "A device",
  ]);
});

test.each([{}, { name: 1 }, { name: "" }, { name: "x", scopes: ["admin"] }, [], null, "x"])(
  "a request with %j is refused",
  async (body) => {
    const { post } = await open();
    expect(await post("/pair/request", body)).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_parameters" } },
    });
  },
);

test("who is revoked is closed at once, and their token counts no more", async () => {
  const { gateway, token } = await open();
  const { id, token: phoneToken } = await gateway.parts.devices.add({ name: "Phone", scopes: ["read", "pair"] });
  const own = await connectRaw(gateway.url, { token });
  const phones = await Promise.all([1, 2].map(() => connectRaw(gateway.url, { token: phoneToken, deviceId: id })));
  await own.must("devices.revoke", { deviceId: id });
  expect(await Promise.all(phones.map(({ closed }) => closed))).toEqual([1008, 1008]);
  await expect(connectRaw(gateway.url, { token: phoneToken, deviceId: id })).rejects.toMatchObject({
    code: "unauthorized",
  });
  expect(await own.call("devices.revoke", { deviceId: id })).toMatchObject({ error: { code: "not_found" } });
  own.close();
});

test("the own account is not revoked: it gets another token", async () => {
  const { gateway, token } = await open();
  const own = await connectRaw(gateway.url, { token });
  own.socket.send(JSON.stringify({ type: "req", id: "x", method: "devices.revoke", params: { deviceId: "local" } }));
  expect(await own.closed).toBe(1008);
  const next = gateway.parts.devices.getOwnToken()!;
  expect(next).not.toBe(token);
  (await connectRaw(gateway.url, { token: next })).close();
});
