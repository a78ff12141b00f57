import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import type { IncomingMessage } from "@tau/extensions";
import { isSigned, maxAgeMs, sign } from "../../src/channels/webhook/signature.ts";
import { webhookChannel } from "../../src/channels/webhook/webhook-channel.ts";

const secret = "0123456789abcdef0123456789abcdef";
const nowMs = 1_700_000_000_000;

/** A server that answers with the statuses one after the other, and the channel that sends to it. */
async function openWebhook(answers: readonly [status: number, headers?: Record<string, string>][] = []) {
  const got: { headers: Record<string, unknown>; body: string }[] = [];
  const left = [...answers];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      got.push({ headers: request.headers, body });
      const [status, headers] = left.shift() ?? [200];
      response.writeHead(status, headers).end(JSON.stringify({ messageId: "77" }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const messages: IncomingMessage[] = [];
  const channel = await webhookChannel.open({
    accountId: "site",
    settings: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tau` },
    getSecret: async () => secret,
    clock: { ...systemClock, now: () => nowMs },
    log: () => {},
  });
  const closing = new AbortController();
  const onMessage = async (message: IncomingMessage) => {
    if (message.text === "too much") throw new Error("The disk is full.");
    messages.push(message);
  };
  const running = channel.run({ onMessage, onPress: async () => {}, onState: () => {} }, closing.signal);
  onTestFinished(async () => {
    closing.abort();
    server.closeAllConnections();
    server.close();
    await running;
  });
  return { channel, got, messages };
}

const seconds = String(nowMs / 1_000);
const post = (value: unknown, others: Record<string, string> = {}) => {
  const body = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  const signature = `v1=${sign(secret, seconds, body)}`;
  return { headers: { "x-tau-timestamp": seconds, "x-tau-signature": signature, ...others }, body };
};
const hello = { type: "message", id: "1", address: { channelId: "c" }, sender: { id: "ann" }, text: "Hello" };

test("only signed requests of the last minutes are taken", async () => {
  const { channel, messages } = await openWebhook();
  const late = String(nowMs / 1_000 - maxAgeMs / 1_000 - 1);
  const receive = channel.receiveRequest!.bind(channel);
  for (const request of [
    post(hello, { "x-tau-signature": "v1=00" }),
    post(hello, { "x-tau-signature": "" }),
    { ...post(hello), body: Buffer.from(JSON.stringify({ ...hello, text: "Other" })) },
    post(hello, { "x-tau-timestamp": late, "x-tau-signature": `v1=${sign(secret, late, JSON.stringify(hello))}` }),
    { headers: {}, body: Buffer.from("{}") },
  ]) {
    expect(await receive(request)).toEqual({ status: 401 });
  }
  expect(messages).toEqual([]);
  expect(await receive(post(hello))).toEqual({ status: 200, body: { received: "1" } });
  expect(messages.map(({ text }) => text)).toEqual(["Hello"]);
});

test("what cannot be read is refused, and what cannot be kept is to be sent again", async () => {
  const { channel } = await openWebhook();
  expect((await channel.receiveRequest!(post("[]"))).status).toBe(400);
  expect((await channel.receiveRequest!(post({ type: "message" }))).status).toBe(400);
  expect(await channel.receiveRequest!(post({ ...hello, text: "too much" }))).toEqual({
    status: 503,
    body: { reason: "The disk is full." },
  });
});

test("replies are signed, and the status says what came of them", async () => {
  const { channel, got } = await openWebhook([[200], [429, { "retry-after": "4" }], [410], [500]]);
  const send = () => channel.send({ address: { channelId: "c" }, text: "Hi 👋", nonce: "s/1/0" });
  expect(await send()).toEqual({ kind: "sent", messageId: "77" });
  expect(await send()).toMatchObject({ kind: "not_sent", retryAfterMs: 4_000 });
  expect(await send()).toMatchObject({ kind: "refused" });
  expect(await send()).toMatchObject({ kind: "unknown" });
  const { headers, body } = got[0]!;
  expect(JSON.parse(body)).toEqual({ type: "send", id: "s/1/0", address: { channelId: "c" }, text: "Hi 👋" });
  const [timestamp, signature] = [headers["x-tau-timestamp"], headers["x-tau-signature"]] as [string, string];
  expect(isSigned({ secret, timestamp, signature, body: Buffer.from(body), nowMs })).toBe(true);
  expect(headers["idempotency-key"]).toBe("s%2F1%2F0");
});

test("a short secret is refused", async () => {
  const options = { accountId: "x", settings: {}, clock: systemClock, log: () => {} };
  await expect(webhookChannel.open({ ...options, getSecret: async () => "short" })).rejects.toThrow("32 characters");
});

test("a file of many megabytes arrives whole, with its signature", async () => {
  const { channel, got } = await openWebhook();
  const bytes = Buffer.alloc(7 * 1024 * 1024, "figures ");
  expect(channel.limits.maxFileBytes).toBeGreaterThan(bytes.length);
  const file = { name: "report.bin", mimeType: "application/octet-stream", bytes };
  expect(await channel.sendFile!({ address: { channelId: "c" }, file, nonce: "f" })).toEqual({
    kind: "sent",
    messageId: "77",
  });
  const [{ headers, body }] = got as [(typeof got)[number]];
  expect(headers["x-tau-signature"]).toBe(`v1=${sign(secret, seconds, body)}`);
  expect(Buffer.from((JSON.parse(body) as { data: string }).data, "base64").equals(bytes)).toBe(true);
});
