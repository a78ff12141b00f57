import { SessionManager } from "@tau/harness";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { openContext, type Shared, waitForFrames } from "../kit.ts";

/** Requests about a session besides its messages. When they are answered, the page draws again. */
const facts = new Set(["session.get_state", "session.get_session_stats", "session.get_tools"]);

export function linkCases(shared: Shared): void {
  test("a link to a message goes there, although nothing makes the page draw again", async () => {
    await follow(shared, async (manager) => {
      await say(manager, "Before.");
      const entryId = await say(manager, target);
      await say(manager, "Line.\n\n".repeat(80));
      return entryId;
    });
  });

  test("a link to a message that is not loaded yet goes there", async () => {
    await follow(shared, async (manager) => {
      for (let index = 0; index < 3; index++) await say(manager, "Before.");
      const entryId = await say(manager, target);
      for (let index = 0; index < 700; index++) await say(manager, "After.");
      return entryId;
    });
  });

  test("a link goes to its message, and not to the end, when what is above it is shorter than estimated", async () => {
    await follow(shared, async (manager) => {
      await say(manager, "Before.");
      for (let index = 0; index < 100; index++) await manager.appendThinkingLevelChange("high");
      const entryId = await say(manager, target);
      for (let index = 0; index < 12; index++) await say(manager, "After.");
      return entryId;
    });
  });
}

const target = "The message of the link.";

const say = (manager: SessionManager, content: string): Promise<string> =>
  manager.appendMessage({ role: "user", content, timestamp: 0 });

/** Writes a session, opens it by a link to the entry that `write` returns, and waits until this is at the top. */
async function follow(shared: Shared, write: (manager: SessionManager) => Promise<string>): Promise<void> {
  const { page } = await openWithoutFacts(shared);
  const { workspace, agentDir, url } = shared.kit;
  const manager = await SessionManager.create(workspace, undefined, { agentDir, durability: "none" });
  const entryId = await write(manager);
  await manager.close();
  await page.goto(`${url}/#/session/${manager.getSessionId()}/${entryId}`);
  await expect.poll(() => getDistance(page)).toBeLessThan(100);
  // It stays there after everything is measured.
  await waitForFrames(page);
  expect(await getDistance(page)).toBeLessThan(100);
}

/** A page that gets messages and nothing else, so that nothing but what the test is about makes it draw again. */
async function openWithoutFacts({ kit }: Shared) {
  const opened = await openContext(kit.browser, kit.gateway);
  onTestFinished(async () => {
    await opened.close();
    expect(opened.problems).toEqual([]);
  });
  await opened.page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      if (!facts.has((JSON.parse(String(message)) as { method: string }).method)) server.send(message);
    });
  });
  await opened.page.goto(kit.url);
  await opened.pair(["read"]);
  return opened;
}

/** How far the message is from the top of the transcript, in pixels. Infinite if it begins above, or is not drawn. */
const getDistance = (page: Page): Promise<number> =>
  page.evaluate((text) => {
    const log = document.querySelector("[role=log]");
    const message = [...(log?.querySelectorAll(".user") ?? [])].find(({ textContent }) => textContent?.includes(text));
    if (!log || !message) return Infinity;
    const distance = message.getBoundingClientRect().top - log.getBoundingClientRect().top;
    return distance < 0 ? Infinity : distance;
  }, target);
