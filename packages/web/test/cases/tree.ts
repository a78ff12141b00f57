import { text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { getField, say, type Shared, waitForOtherSession, waitForText } from "../kit.ts";
import { createGate } from "../script.ts";

export function treeCases(shared: Shared): void {
  test("a run is stopped, and one goes back in the tree to say it otherwise", async () => {
    const gate = createGate([text("Never.")]);
    const { page } = await shared.begin([text("Answer one.")], gate.turn, [text("Answer three.")]);
    onTestFinished(gate.open);
    await say(page, "Question one");
    await waitForText(page, "Answer one.");
    await say(page, "Question two");
    await page.getByRole("button", { name: "Stop now" }).click();
    await page.getByText("Ready").waitFor();
    await page.getByRole("button", { name: "Tree of the session" }).click();
    await page.getByRole("dialog", { name: "Tree" }).getByText("Question two").click();
    await page.getByRole("button", { name: "Go here", exact: true }).click();
    await expect.poll(() => getField(page).inputValue()).toBe("Question two");
    await say(page, "Question three");
    await waitForText(page, "Answer three.");
    expect(await page.getByRole("log").getByText("Question two").count()).toBe(0);
    await page.getByRole("button", { name: "Tree of the session" }).click();
    await page.getByRole("dialog", { name: "Tree" }).locator(".depth-1").getByText("Question two").waitFor();
    await page.getByRole("dialog", { name: "Tree" }).getByText("Answer one.").click();
    const before = page.url();
    await page.getByRole("button", { name: "New session from here" }).click();
    await waitForOtherSession(page, before);
    await waitForText(page, "Answer one.");
    expect(await page.getByRole("log").getByText("Question three").count()).toBe(0);
  });
}
