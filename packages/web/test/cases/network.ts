import { text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { getField, say, type Shared, waitForText } from "../kit.ts";
import { createGate } from "../script.ts";

export function networkCases(shared: Shared): void {
  test("after the connection was cut the page comes back with what it missed, once", async () => {
    const gate = createGate([text("While you were away.")]);
    const { page, gateway } = await shared.begin(gate.turn, [text("Back again.")]);
    await say(page, "Begin.");
    await page.getByRole("button", { name: "Stop now" }).waitFor();
    for (const client of gateway.parts.connections.list()) client.close(1012, "cut");
    await page
      .getByText(/Not connected|Connecting/)
      .first()
      .waitFor();
    gate.open();
    await waitForText(page, "While you were away.");
    await say(page, "Are you there?");
    await waitForText(page, "Back again.");
    expect(await page.getByRole("log").getByText("Are you there?").count()).toBe(1);
    expect(await page.getByRole("log").getByText("While you were away.").count()).toBe(1);
  });

  test("a message that is written without a connection is shown until it is said, and not lost with another session", async () => {
    const { page, context } = await shared.begin([text("Heard.")]);
    const address = page.url();
    await context.setOffline(true);
    onTestFinished(() => context.setOffline(false));
    for (const client of shared.kit.gateway.parts.connections.list()) client.close(1012, "cut");
    await page.getByText("Not connected", { exact: true }).waitFor();
    await say(page, "Said into the void");
    const outgoing = page.getByRole("list", { name: "Messages on their way" });
    await outgoing.getByText("Said into the void").waitFor();
    await getField(page).fill("Half written");
    await page.evaluate(() => (location.hash = "#/"));
    await getField(page).waitFor({ state: "detached" });
    await page.goto(address);
    await outgoing.getByText("Said into the void").waitFor();
    expect(await getField(page).inputValue()).toBe("Half written");
    await context.setOffline(false);
    await waitForText(page, "Heard.");
    expect(await page.getByRole("log").getByText("Said into the void").count()).toBe(1);
    await outgoing.waitFor({ state: "detached" });
    await getField(page).fill("");
  });
}
