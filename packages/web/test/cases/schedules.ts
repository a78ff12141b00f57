import { text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { type Shared, waitForText } from "../kit.ts";

export function scheduleCases(shared: Shared): void {
  test("schedules are shown with their runs, started, paused and removed", async () => {
    const { page, gateway, model, workspace } = await shared.begin();
    const { schedules } = gateway.parts;
    const name = "Look <b>here</b>";
    await schedules.add({
      cron: "0 7 * * *",
      timeZone: "Europe/Berlin",
      prompt: "Look.",
      name,
      cwd: workspace,
      rights: {},
    });
    await page.getByRole("button", { name: "Schedules" }).click();
    const dialog = page.getByRole("dialog", { name: "Schedules" });
    const listed = dialog.getByRole("list", { name: "Schedules" });
    // Names are text, whatever is in them.
    await listed.getByText(name).waitFor();
    await listed.getByText("cron 0 7 * * * (Europe/Berlin)").waitFor();
    await dialog.getByRole("button", { name: "Pause Look" }).click();
    await listed.getByText("paused").waitFor();
    await dialog.getByRole("button", { name: "Resume Look" }).click();
    await listed.getByText("waiting").waitFor();
    model.add([text("All is well.")]);
    await dialog.getByRole("button", { name: "Run Look" }).click();
    await expect.poll(async () => (await schedules.list())[0]?.runs).toBe(1);
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Schedules" }).click();
    const runs = dialog.getByRole("list", { name: "Runs" });
    await runs.getByText("All is well.").waitFor();
    await dialog.getByRole("button", { name: "Remove Look" }).click();
    await dialog.getByText("There are none.").waitFor();
    await runs.getByRole("button", { name: "Open" }).click();
    await waitForText(page, "All is well.");
    expect(await page.locator("b").getByText("here").count()).toBe(0);
  });
}
