/** A gateway that continues on another machine, where only its storage is as before. */
import { readdirSync } from "node:fs";
import { createMemoryStorage } from "@tau/harness/session";
import { scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { createStoredCopies } from "../src/channels/file-copies.ts";
import { connectRaw } from "../src/testing/raw-client.ts";
import { openChannelGateway, TestChannel } from "./channels/kit.ts";

const shared = createMemoryStorage();
const channel = new TestChannel();
const hooks = { deploy: { token: "a-token-of-more-than-thirty-two-letters", session: "a" } };

async function open(answers: readonly string[], paired: readonly string[] = []) {
  const model = scriptedModel(answers.map((answer) => [text(answer)]));
  const opened = await openChannelGateway({ channel, model, paired, gateway: { hooks }, options: { storage: shared } });
  const connect = async (deviceId: string, token: string) => {
    const client = await connectRaw(opened.gateway.url, { deviceId, token });
    onTestFinished(() => client.close());
    return client;
  };
  const post = async () => {
    const url = `${opened.gateway.url.replace(/^ws/, "http")}/hooks/deploy`;
    const headers = { authorization: `Bearer ${hooks.deploy.token}` };
    const response = await fetch(url, { method: "POST", headers, body: "{}" });
    return ((await response.json()) as { sessionId: string }).sessionId;
  };
  return { ...opened, connect, post };
}

test("devices, people and sessions of webhooks are as before, and files have only what is this machine's", async () => {
  const first = await open(["Noted.", "Hello."], ["ann"]);
  const phone = await first.gateway.parts.devices.add({ name: "Phone", scopes: ["read"] });
  await (await first.connect(phone.id, phone.token)).must("health");
  const sessionId = await first.post();
  await expect.poll(() => first.gateway.parts.inbox.counts).toEqual({ waiting: 0, dead: 0 });
  await channel.receive("Hello?");
  await expect.poll(() => channel.textsTo()).toEqual(["Hello."]);
  await first.gateway.stop();
  const isFile = (name: string) => !["gateway", "channels", "channels/chat"].includes(name);
  expect(readdirSync(first.agentDir, { recursive: true }).map(String).filter(isFile)).toEqual(["gateway/local.token"]);

  channel.forgetSent();
  const second = await open(["Again.", "Noted."]);
  await (await second.connect(phone.id, phone.token)).must("health");
  await (await second.connect("local", second.token)).must("health");
  await expect(second.connect("local", first.token)).rejects.toThrow(/token/);
  await channel.receive("Still there?");
  await expect.poll(() => channel.textsTo()).toEqual(["Again."]);
  expect(await second.post()).toBe(sessionId);
  expect(await second.gateway.parts.devices.revoke(phone.id)).toBe(true);
  await second.gateway.stop();

  const third = await open([]);
  await expect(third.connect(phone.id, phone.token)).rejects.toThrow(/token/);
});

test("a gateway refuses to start with a list of devices that is damaged, and keeps it", async () => {
  const storage = createMemoryStorage();
  const log = await storage.open("gateway/devices");
  await log.replace(Buffer.from("{ torn"));
  await log.close();
  const starting = openChannelGateway({ paired: [], options: { storage } });
  await expect(starting).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("damaged") });
  expect((await storage.list("gateway")).find(({ key }) => key === "gateway/devices")).toMatchObject({ size: 6 });
});

test("a file that was not sent yet is there for the next gateway, and is removed once it is old and no reply has it", async () => {
  const storage = createMemoryStorage();
  const path = await createStoredCopies(storage).add("one", Buffer.from("figures"));
  const next = createStoredCopies(storage);
  expect((await next.read(path))?.toString()).toBe("figures");
  const late = Date.now() + 365 * 24 * 60 * 60_000;
  await next.removeUnused([{ file: { path, name: "a.txt", mimeType: "text/plain" } }], late);
  await next.removeUnused([], Date.now());
  expect(await next.read(path)).toBeDefined();
  await next.removeUnused([], late);
  expect([await next.read(path), await storage.list("gateway")]).toEqual([undefined, []]);
  // The path of a file of another gateway leads nowhere.
  expect(await next.read("/etc/hostname")).toBeUndefined();
});
