import { text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { openContext, say, type Shared, waitForText } from "../kit.ts";

export function usageCases(shared: Shared): void {
  test("the view of use is loaded when it is opened, with a chart, tables and the limits", async () => {
    const { page: first, browser, gateway, workspace } = await shared.begin([text("Counted.")]);
    await say(first, "Count this");
    await waitForText(first, "Counted.");
    const { page, pair, requested, problems, close } = await openContext(browser, gateway);
    onTestFinished(async () => {
      await close();
      expect(problems).toEqual([]);
    });
    await page.goto(first.url());
    await pair(["read", "write", "admin"]);
    await gateway.parts.settings.update("global", { budgets: { day: { cost: 5 } } });
    onTestFinished(() => gateway.parts.settings.update("global", { budgets: { day: { cost: undefined } } } as never));
    const isContent = (address: string) => /usage-panel-[\w-]+\.js$/.test(address);
    expect(requested.filter(isContent)).toEqual([]);
    await page.getByRole("button", { name: "Use", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Use" });
    await dialog.getByText("Limit of today: $0.00 of $5.00 are spent, $5.00 are left").waitFor();
    expect(requested.filter(isContent)).toHaveLength(1);
    for (const name of ["By day", "By project", "By model", "By tool", "By agent"]) {
      expect(await dialog.getByRole("table", { name }).count()).toBe(1);
    }
    const projects = dialog.getByRole("table", { name: "By project" });
    await projects.getByRole("row").filter({ hasText: workspace }).waitFor();
    expect(await dialog.locator(".chart rect").count()).toBe(30);
    await dialog.getByRole("button", { name: "Today" }).click();
    await expect.poll(() => dialog.locator(".chart rect").count()).toBe(1);
    await dialog.getByRole("button", { name: "Close" }).click();
    await say(page, "/stats");
    await dialog.getByRole("table", { name: "By model" }).waitFor();
  });

  test("a device without the scope admin has no view of use", async () => {
    const { kit } = shared;
    const { page, pair, close } = await openContext(kit.browser, kit.gateway);
    onTestFinished(close);
    await page.goto(kit.url);
    await pair(["read", "write"]);
    await page.getByRole("button", { name: "Schedules" }).waitFor();
    expect(await page.getByRole("button", { name: "Use", exact: true }).count()).toBe(0);
  });
}
