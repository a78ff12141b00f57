import { text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import {
  createSession,
  getField,
  getFocused,
  openContext,
  say,
  type Shared,
  waitForOtherSession,
  waitForText,
} from "../kit.ts";

export function sessionCases(shared: Shared): void {
  test("a session is deleted and restored, and another page that shows it is told", async () => {
    const { page, browser, gateway } = await shared.begin([text("An answer.")]);
    await say(page, "/name Gone \u202e<i>x</i>");
    await say(page, "A question");
    await waitForText(page, "An answer.");
    const address = page.url();
    const other = await openContext(browser, gateway);
    onTestFinished(other.close);
    await other.page.goto(address);
    await other.pair();
    await waitForText(other.page, "An answer.");
    await getField(page).fill("Half written");
    await page.getByRole("button", { name: "Delete this session" }).click();
    const note = page.getByRole("status").filter({ hasText: "Deleted: Gone \ufffd<i>x</i>" });
    await note.waitFor();
    await page.getByText("Choose a session").waitFor();
    for (const each of [page, other.page]) {
      await each.getByRole("list", { name: "Sessions" }).getByText("Gone").waitFor({ state: "detached" });
    }
    await other.page.getByText("This session was deleted.").waitFor();
    await note.getByRole("button", { name: "Undo" }).click();
    await waitForText(page, "An answer.");
    expect([page.url(), await getField(page).inputValue()]).toEqual([address, "Half written"]);
    await getField(page).fill("");
    for (const each of [page, other.page]) {
      await each.getByRole("list", { name: "Sessions" }).getByText("Gone").waitFor();
    }
    await other.page.getByRole("button", { name: "Open again" }).click();
    await getField(other.page).waitFor();
    expect(other.problems).toEqual([]);
  });

  test("a search in messages links to each message, and the page goes there", async () => {
    const long = Array.from({ length: 80 }, (_unused, line) => `Line ${line}.`).join("\n\n");
    const { page } = await shared.begin([text("The zebra is <i>striped</i>.")], [text(long)]);
    await say(page, "What about it?");
    await waitForText(page, "zebra");
    await say(page, "More.");
    await waitForText(page, "Line 79.");
    await createSession(shared.kit);
    await page.getByLabel("In messages").check();
    const field = page.getByLabel("Search sessions");
    await field.fill("striped zebr");
    const link = page.getByRole("list", { name: "Messages" }).getByRole("link");
    await link.getByText("zebra").waitFor();
    expect(await link.locator("mark").allTextContents()).toEqual(["zebr", "striped"]);
    expect(await link.textContent()).toContain("The zebra is <i>striped</i>.");
    await link.click();
    const message = page.getByRole("log", { name: "Transcript" }).getByText("The zebra is");
    await message.waitFor();
    const isShown = () =>
      message.evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      });
    await expect.poll(isShown).toBe(true);
    await page.getByLabel("Go to the end").click();
    await expect.poll(isShown).toBe(false);
    // The address stays the same.
    await link.click();
    await expect.poll(isShown).toBe(true);
    await field.fill("nothing says this");
    await page.getByText("No message has all of this.").waitFor();
    await field.fill("");
    await page.getByLabel("In messages").uncheck();
    await page.getByRole("list", { name: "Sessions" }).waitFor();
  });

  test("each of two sessions with the same name can be restored", async () => {
    const { page } = await shared.begin([text("From the first.")], [text("From the second.")]);
    const addresses: string[] = [];
    for (const number of ["first", "second"]) {
      if (number === "second") await createSession(shared.kit);
      await say(page, "/name Twin");
      await page.getByRole("heading", { name: "Twin" }).waitFor();
      await say(page, "Who are you?");
      await waitForText(page, `From the ${number}.`);
      addresses.push(page.url());
    }
    for (const [index, address] of addresses.entries()) {
      await page.goto(address);
      await waitForText(page, index === 0 ? "From the first." : "From the second.");
      await page.getByRole("button", { name: "Delete this session" }).click();
      await page.getByText("Choose a session").waitFor();
    }
    const notes = page.getByRole("status").filter({ hasText: "Deleted: Twin" });
    await expect.poll(() => notes.count()).toBe(2);
    for (const number of ["first", "second"]) {
      await notes.first().getByRole("button", { name: "Undo" }).click();
      await waitForText(page, `From the ${number}.`);
    }
    await expect.poll(() => notes.count()).toBe(0);
  });

  test("a message is said otherwise in a new session, and the old one stays as it was", async () => {
    const { page } = await shared.begin([text("Answer one.")], [text("Answer two.")], [text("Answer three.")]);
    for (const number of ["one", "two"]) {
      await say(page, `Question ${number}`);
      await waitForText(page, `Answer ${number}.`);
    }
    const address = page.url();
    const message = page.getByRole("article", { name: "You" }).filter({ hasText: "Question two" });
    await message.hover();
    await message.getByRole("button", { name: "New session from this message" }).click();
    await waitForOtherSession(page, address);
    await waitForText(page, "Answer one.");
    expect(await getField(page).inputValue()).toBe("Question two");
    await expect.poll(() => getFocused(page)).toBe("Message");
    expect(await page.getByRole("log").getByText("Answer two.").count()).toBe(0);
    await say(page, "Question three");
    await waitForText(page, "Answer three.");
    await page.goto(address);
    await waitForText(page, "Answer two.");
    expect(await page.getByRole("log").getByText("Question three").count()).toBe(0);
  });
}
