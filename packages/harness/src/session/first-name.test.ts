import { expect, test } from "vitest";
import { SessionManager } from "./session-manager.ts";

const open = () => SessionManager.inMemory("/project", { agentDir: "/none" });

test("a first name is written only where there never was one", async () => {
  const session = await open();
  expect(await session.appendFirstName("Title")).toBeDefined();
  expect(await session.appendFirstName("Other")).toBeUndefined();
  expect(await session.getSessionName()).toBe("Title");
});

test("a name that is being written when the first name comes stays, and so does a name that was removed", async () => {
  const session = await open();
  await Promise.all([session.appendSessionInfo("Mine"), session.appendFirstName("Title")]);
  expect(await session.getSessionName()).toBe("Mine");
  await Promise.all([session.appendSessionInfo(""), session.appendFirstName("Title")]);
  expect(await session.getSessionName()).toBeUndefined();
});
