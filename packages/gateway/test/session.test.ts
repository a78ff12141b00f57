import { text } from "@tau/ai/testing";
import { scriptedModel } from "@tau/ai/testing";
import type { HelloData } from "@tau/protocol/gateway";
import { expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway } from "../src/testing/index.ts";

test("a client creates a session, follows it and gets the answer to a prompt as it arrives", async () => {
  const { gateway, token, workspace, close } = await openTestGateway({
    model: scriptedModel([[text("Hello there.")]]),
  });
  onTestFinished(close);
  const client = await connectRaw(gateway.url, { token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  await client.must("sessions.subscribe", { sessionId });
  await client.must("session.execute", { sessionId, prompt: "Say hello." });
  const names = client.events().map(({ event }) => event);
  expect(names.slice(0, 2)).toEqual(["connect.challenge", "session.snapshot"]);
  expect(names).toContain("session.message.delta");
  const numbered = client.events().flatMap((frame) => ("seq" in frame ? [frame.seq] : []));
  expect(numbered).toEqual(numbered.map((_seq, index) => index + numbered[0]!));
  client.close();
});

test("who has another token is told nothing", async () => {
  const { gateway, close } = await openTestGateway();
  onTestFinished(close);
  await expect(connectRaw(gateway.url, { token: "another" })).rejects.toMatchObject({ code: "unauthorized" });
});

test("a greeting names what the client may do", async () => {
  const { gateway, token, close } = await openTestGateway();
  onTestFinished(close);
  const client = await connectRaw(gateway.url, { token, connect: { scopes: ["read"] } });
  const hello = client.frames.find((frame) => frame.type === "res") as { payload: HelloData };
  expect(hello.payload).toMatchObject({ type: "hello-ok", protocol: 2, scopes: ["read"], deviceId: "local" });
  expect(hello.payload.features.events).toEqual(
    expect.arrayContaining(["session.snapshot", "session.message.delta", "gateway.stopping"]),
  );
  expect(await client.call("sessions.create", { cwd: "/" })).toMatchObject({ ok: false, error: { code: "forbidden" } });
});
