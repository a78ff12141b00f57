import { scriptedModel } from "@tau/ai/testing";
import { openTestGateway } from "@tau/gateway/testing";
import { GatewayClient } from "@tau/protocol/client";
import { expect, onTestFinished, test } from "vitest";
import { SessionInfo } from "../src/app/session-info.ts";

test("a page that comes back to a snapshot asks again for what is not in the view", async () => {
  const model = scriptedModel([], { model: { reasoning: true } });
  const { gateway, token, workspace, close } = await openTestGateway({ model });
  onTestFinished(close);
  const client = new GatewayClient({ url: gateway.url, deviceId: "local", key: token });
  onTestFinished(() => client.close());
  await client.connect();
  const { sessionId } = await client.call("sessions.create", { cwd: workspace });
  const session = client.session(sessionId);
  const info = new SessionInfo(session);
  onTestFinished(info.start());
  await expect.poll(() => info.state?.thinkingLevel).not.toBe(undefined);
  await client.call("sessions.close", { sessionId });
  await expect.poll(() => session.state.kind).toBe("closed");
  const level = info.state!.thinkingLevel === "low" ? "high" : "low";
  await client.call("session.set_thinking_level", { sessionId, level });
  session.reopen();
  await expect.poll(() => info.state?.thinkingLevel).toBe(level);
});
