import type { GatewayScope } from "@tau/protocol/gateway";
import { expect, onTestFinished, test } from "vitest";
import { openContext, type Shared } from "../kit.ts";

export function channelCases(shared: Shared): void {
  test("accounts are shown with their health, and people are let in and out", async () => {
    const { gateway, desk } = shared.kit;
    const { page, dialog } = await openPanel(shared, ["read", "pair"]);
    const { peers } = gateway.parts.channels;
    const name = "Ann <b>here</b>";
    await desk.receive({ id: "ann", name }, "Hello?");
    await expect.poll(() => desk.sent.length).toBe(1);
    const [, code = ""] = /pair (\w+)/.exec(desk.sent.shift()!) ?? [];
    const accounts = dialog.getByRole("list", { name: "Accounts" });
    await accounts.getByText("connected", { exact: true }).waitFor();
    await accounts.getByText("desk · last message").waitFor();
    await accounts.getByText("There is no channel of the type pigeon.").waitFor();
    const people = dialog.getByRole("list", { name: "People" });
    // Names are text, whatever is in them.
    await people.getByText(name).waitFor();
    await people.getByText("has a code").waitFor();
    expect(await people.getByRole("button").count()).toBe(0);
    await dialog.getByLabel("Code that somebody got").fill("WRONG");
    await dialog.getByRole("button", { name: "Let in" }).click();
    await dialog.getByRole("alert").getByText("Nobody waits with this code").waitFor();
    await dialog.getByLabel("Code that somebody got").fill(` ${code.toLowerCase()}`);
    await dialog.getByRole("button", { name: "Let in" }).click();
    await people.getByText("paired", { exact: true }).waitFor();
    expect(peers.isPaired("desk", "ann")).toBe(true);
    await people.getByRole("button", { name: "Unpair Ann" }).click();
    await people.getByText("Nobody has written yet.").waitFor();
    expect(peers.isPaired("desk", "ann")).toBe(false);
    expect(await page.locator("b").getByText("here").count()).toBe(0);
  });

  test("replies that are not delivered are sent again or dropped, also those that came while somebody looks", async () => {
    const { gateway, desk } = shared.kit;
    const { dialog } = await openPanel(shared, ["read", "admin"]);
    const { outbox } = gateway.parts.channels;
    const refuse = async (text: string) => {
      desk.nextDeliveries.push({ kind: "refused", reason: "The <i>desk</i> is closed." });
      const address = { channelId: "ann" };
      await outbox.add([{ id: text, sessionId: "", accountId: "desk", address, text, recordedAt: Date.now() }]);
    };
    const replies = dialog.getByRole("list", { name: "Replies" });
    await replies.getByText("Everything is delivered.").waitFor();
    await refuse("Yes.");
    await refuse("No.");
    await replies.getByText("The <i>desk</i> is closed.").nth(1).waitFor();
    await dialog.getByRole("list", { name: "Accounts" }).getByText("2 not delivered").waitFor();
    await replies.getByRole("button", { name: "Drop No." }).click();
    await replies.getByText("No.", { exact: true }).waitFor({ state: "detached" });
    expect(desk.sent).toEqual([]);
    await replies.getByRole("button", { name: "Send again Yes." }).click();
    await replies.getByText("Everything is delivered.").waitFor();
    expect(desk.sent.splice(0)).toEqual(["Yes."]);
  });

  test("a device that may only read sees the accounts, and neither people nor replies", async () => {
    const { dialog } = await openPanel(shared, ["read"]);
    await dialog.getByText("connected", { exact: true }).waitFor();
    expect(await dialog.getByRole("list").count()).toBe(1);
    expect(await dialog.getByRole("alert").count()).toBe(0);
  });
}

/** Opens the panel on a device with these scopes. What the page does wrong fails the test at its end. */
async function openPanel({ kit }: Shared, scopes: GatewayScope[]) {
  const { page, pair, problems, close } = await openContext(kit.browser, kit.gateway);
  onTestFinished(async () => {
    await close();
    expect(problems).toEqual([]);
  });
  await page.goto(kit.url);
  await pair(scopes);
  await page.getByRole("button", { name: "Channels" }).click();
  return { page, dialog: page.getByRole("dialog", { name: "Channels" }) };
}
