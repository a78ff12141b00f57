import { text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { getField, openContext, say, type Shared, waitForText } from "../kit.ts";
import { createGate } from "../script.ts";

export function networkCases(shared: Shared): void {
  test("after the connection was cut the page comes back with what it missed, once", async () => {
    const gate = createGate([text("While you were away.")]);
    const { page, context, gateway } = await shared.begin(gate.turn, [text("Back again.")]);
    await say(page, "Begin.");
    await page.getByRole("button", { name: "Stop now" }).waitFor();
    // It would be back before anybody has looked.
    await context.setOffline(true);
    onTestFinished(() => context.setOffline(false));
    for (const client of gateway.parts.connections.list()) client.close(1012, "cut");
    await page.getByText("Not connected", { exact: true }).waitFor();
    gate.open();
    await context.setOffline(false);
    await waitForText(page, "While you were away.");
    await say(page, "Are you there?");
    await waitForText(page, "Back again.");
    expect(await page.getByRole("log").getByText("Are you there?").count()).toBe(1);
    expect(await page.getByRole("log").getByText("While you were away.").count()).toBe(1);
  });

  test("without a connection a message is shown until it is said, and not lost with another session; a stop is refused", async () => {
    const gate = createGate([text("Not stopped.")]);
    const { page, context } = await shared.begin(gate.turn, [text("Heard.")]);
    onTestFinished(gate.open);
    const address = page.url();
    await say(page, "Begin.");
    await page.getByRole("button", { name: "Stop now" }).waitFor();
    await context.setOffline(true);
    onTestFinished(() => context.setOffline(false));
    for (const client of shared.kit.gateway.parts.connections.list()) client.close(1012, "cut");
    await page.getByText("Not connected", { exact: true }).waitFor();
    // Later they would end another run.
    await page.getByRole("button", { name: "Stop now" }).click();
    await page.getByText("There is no connection to the gateway.").waitFor();
    await page.getByRole("button", { name: "Stop after step" }).click();
    await page.getByRole("button", { name: "I have read this" }).click();
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
    await outgoing.waitFor({ state: "detached" });
    gate.open();
    await waitForText(page, "Heard.");
    await waitForText(page, "Not stopped.");
    expect(await page.getByRole("log").getByText("Said into the void").count()).toBe(1);
    await getField(page).fill("");
  });

  test("a session that is deleted while the connection is cut can be restored", async () => {
    const { browser, gateway } = await shared.begin();
    const other = await openContext(browser, gateway);
    onTestFinished(other.close);
    const { page } = other;
    /** The id of the request whose answer is lost with its connection. */
    let lostId: string | undefined;
    let losses = 0;
    await page.routeWebSocket(/./, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        const frame = JSON.parse(String(message)) as { id?: string; method?: string };
        if (frame.method === "session.delete_session" && losses === 0) lostId = frame.id;
        server.send(message);
      });
      server.onMessage((message) => {
        const frame = JSON.parse(String(message)) as { type: string; id?: string };
        if (frame.type !== "res" || frame.id !== lostId || losses > 0) return socket.send(message);
        losses++;
        void socket.close({ code: 1012 });
        void server.close({ code: 1012 });
      });
    });
    await page.goto(shared.kit.page.url());
    await other.pair();
    await page.getByText("Nothing has been said yet.").waitFor();
    await page.getByRole("button", { name: "Delete this session" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await getField(page).waitFor();
    expect([losses, page.url(), other.problems]).toEqual([1, shared.kit.page.url(), []]);
  });
}
