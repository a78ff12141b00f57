import { SessionManager } from "@tau/harness";
import { expect, test } from "vitest";
import { type Shared, waitForText } from "../kit.ts";

export function scrollingCases(shared: Shared): void {
  test("a transcript of thousands of entries costs less than a frame's time per frame, wherever it is scrolled", async () => {
    const { page, workspace, agentDir, url } = await shared.begin();
    const manager = await SessionManager.create(workspace, undefined, { agentDir, durability: "none" });
    const count = process.env["TAU_LONG"] ? 10_000 : 2_500;
    for (let index = 0; index < count; index++) {
      const content = `Entry ${index}.\n\n- with a *list*\n- and \`code\`\n\n${"word ".repeat(index % 60)}`;
      await manager.appendMessage({ role: "user", content, timestamp: index });
    }
    await manager.close();
    await page.goto(`${url}/#/session/${manager.getSessionId()}`);
    await waitForText(page, `Entry ${count - 1}.`);
    const log = page.getByRole("log", { name: "Transcript" });
    // Older entries come as the beginning comes near.
    await expect
      .poll(
        async () => {
          await log.evaluate((element) => (element.scrollTop = 0));
          return await log.getByText("Entry 0.", { exact: true }).count();
        },
        { interval: 30 },
      )
      .toBe(1);
    expect(await log.locator(".row").count()).toBeLessThan(80);
    const devtools = await page.context().newCDPSession(page);
    // The processor's time that our code and the layout take. Painting is left out: people's machines have a GPU for it.
    await devtools.send("Performance.setTimeDomain", { timeDomain: "threadTicks" });
    await devtools.send("Performance.enable");
    const getWorkMs = async () => {
      const { metrics } = await devtools.send("Performance.getMetrics");
      const parts = metrics.filter(({ name }) => /^(?:Script|Layout|RecalcStyle)Duration$/.test(name));
      return 1_000 * parts.reduce((sum, { value }) => sum + value, 0);
    };
    /** Scrolls by so much in each frame. Returns what a frame cost, and how many rows were added in one, on average. */
    const scroll = async (step: number, frames: number) => {
      await log.evaluate((element) => (element.scrollTop = 0));
      const before = await getWorkMs();
      const { moved, added } = await log.evaluate(
        async (element, [by, times]) => {
          let count = 0;
          const observer = new MutationObserver((changes) => {
            for (const { addedNodes } of changes) count += addedNodes.length;
          });
          observer.observe(element, { childList: true });
          for (let frame = 0; frame < times!; frame++) {
            element.scrollTop += by!;
            await new Promise((resolve) => requestAnimationFrame(resolve));
          }
          observer.disconnect();
          return { moved: element.scrollTop, added: count / times! };
        },
        [step, frames],
      );
      expect(moved).toBeGreaterThan(frames * step * 0.8);
      const frameMs = ((await getWorkMs()) - before) / frames;
      return { frameMs, added };
    };
    expect((await scroll(120, 150)).frameMs).toBeLessThan(1_000 / 60);
    // In a flick, only what is on the screen is drawn. On a busy machine a frame may take so long that the flick seems over:
    // here it is not. Two drawings fall into one frame now and then.
    await page.evaluate(() => {
      const wait = window.setTimeout.bind(window);
      const waitUnlessSettling = (fire: () => void, afterMs?: number) => (afterMs === 100 ? 0 : wait(fire, afterMs));
      window.setTimeout = waitUnlessSettling as typeof window.setTimeout;
    });
    expect((await scroll(3_000, 40)).added).toBeLessThan(8);
    await page.getByRole("button", { name: "Go to the end" }).click();
    await waitForText(page, `Entry ${count - 1}.`);
  });
}
