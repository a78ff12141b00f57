import { text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { getFocused, say, type Shared, waitForText } from "../kit.ts";

export function keyboardCases(shared: Shared): void {
  test("with the keyboard alone: search, help, model, theme and a new name", async () => {
    const { page } = await shared.begin([text("Yes.")]);
    await expect.poll(() => getFocused(page)).toBe("Message");
    await say(page, "A question about parsers");
    await waitForText(page, "Yes.");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys and commands" });
    await help.getByText("New session", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    // Also from a field that browsers clear with it.
    await page.keyboard.press("m");
    await page.getByRole("searchbox", { name: "Search models" }).fill("x");
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    const getScheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    // A key right after the one that closes a dialog with a field is for the page.
    for (const scheme of ["dark", "light", "dark", "light"]) {
      await page.keyboard.press("m");
      await page.getByRole("searchbox", { name: "Search models" }).waitFor();
      await page.evaluate(() => {
        const send = (key: string) =>
          document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        document.querySelector("dialog")!.close();
        send("d");
      });
      await expect.poll(getScheme).toBe(scheme);
      await page.locator("dialog").waitFor({ state: "detached" });
    }
    // A dialog that is opened again before the browser reports that the first is closed stays open.
    await page.keyboard.press("m");
    await page.getByRole("searchbox", { name: "Search models" }).waitFor();
    await page.evaluate(async () => {
      const send = (key: string) =>
        document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      const first = document.querySelector("dialog")!;
      send("Escape");
      while (first.isConnected) await Promise.resolve();
      const reported = new Promise((resolve) => first.addEventListener("close", resolve));
      send("m");
      await reported;
      // Time for the page to draw what the report changes.
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    });
    expect(await page.getByRole("searchbox", { name: "Search models" }).isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    const rename = page.getByRole("button", { name: "Rename this session" });
    const before = await page.getByRole("heading", { level: 1 }).textContent();
    await rename.click();
    await page.keyboard.type("Never");
    await page.keyboard.press("Escape");
    await expect.poll(() => getFocused(page)).toBe("Rename this session");
    // The field has the keys as soon as it is there: before the next frame is drawn.
    const hasFocus = await page.evaluate(async () => {
      (document.activeElement as HTMLElement).click();
      await Promise.resolve();
      await Promise.resolve();
      return document.activeElement?.getAttribute("aria-label");
    });
    expect(hasFocus).toBe("Name of this session");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("Parsers of all kinds");
    expect(await page.getByRole("list", { name: "Sessions" }).getByText("Never").count()).toBe(0);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Parsers of all kinds" }).waitFor();
    expect(before).not.toContain("Never");
    await page.keyboard.press("/");
    await page.keyboard.type("nothing like it");
    await page.getByText("No sessions.").waitFor();
    await page.getByRole("searchbox", { name: "Search sessions" }).fill("");
  });
}
