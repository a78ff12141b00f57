import { SessionManager } from "@tau/harness";
import { openTestGateway } from "@tau/gateway/testing";
import { GatewayClient } from "@tau/protocol/client";
import { expect, onTestFinished, test } from "vitest";
import { SessionSidebar } from "../src/sessions/session-sidebar.ts";

test("a list that was made longer stays as long when it is asked for again, also above the longest page", async () => {
  const { gateway, token, workspace, agentDir, close } = await openTestGateway();
  onTestFinished(close);
  for (let index = 0; index < 130; index++) {
    const manager = await SessionManager.create(workspace, undefined, { agentDir, durability: "none" });
    await manager.appendMessage({ role: "user", content: `Session ${index}.`, timestamp: index });
    await manager.close();
  }
  const client = new GatewayClient({ url: gateway.url, deviceId: "local", key: token });
  onTestFinished(() => client.close());
  await client.connect();
  const pages = new SessionSidebar(client);
  await pages.refresh();
  expect(pages.sessions).toHaveLength(40);
  await pages.loadMore();
  await pages.loadMore();
  expect([pages.sessions.length, pages.hasMore]).toEqual([120, true]);
  await pages.refresh();
  expect([pages.sessions.length, pages.hasMore]).toEqual([120, true]);
  // One that is overtaken is not lost.
  await Promise.all([pages.loadMore(), pages.refresh()]);
  expect([new Set(pages.sessions.map(({ id }) => id)).size, pages.hasMore]).toEqual([130, false]);
});
