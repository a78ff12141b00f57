import { call, text, thinking } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { getField, say, type Shared, waitForText } from "../kit.ts";
import { createGate } from "../script.ts";

/** In the page: texts whose contrast is below WCAG's AA. What is disabled does not count. */
function findPaleTexts(): string[] {
  type Color = [red: number, green: number, blue: number, alpha: number];
  const parse = (color: string): Color => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = color.match(/[\d.]+/g)!.map(Number);
    return [red, green, blue, alpha];
  };
  const mix = (front: Color, back: Color): Color => {
    const part = (index: 0 | 1 | 2) => front[index] * front[3] + back[index] * (1 - front[3]);
    return [part(0), part(1), part(2), 1];
  };
  const getLuminance = (color: Color): number => {
    const [red, green, blue] = color.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.039_28 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  };
  const pale: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement!;
    const { width, height } = parent.getBoundingClientRect();
    if (!node.textContent?.trim() || width < 2 || height < 2 || parent.closest(":disabled")) continue;
    const backs: Color[] = [];
    let opacity = 1;
    for (let element: Element | null = parent; element; element = element.parentElement) {
      const style = getComputedStyle(element);
      opacity *= Number(style.opacity);
      backs.push(parse(style.backgroundColor));
      if (backs.at(-1)![3] === 1) break;
    }
    const back = backs.reduceRight((below, color) => mix(color, below), [255, 255, 255, 1] as Color);
    const [red, green, blue, alpha] = parse(getComputedStyle(parent).color);
    const shades = [getLuminance(mix([red, green, blue, alpha * opacity], back)), getLuminance(back)];
    const contrast = (Math.max(...shades) + 0.05) / (Math.min(...shades) + 0.05);
    if (contrast < 4.5) pale.push(`${contrast.toFixed(2)}: ${node.textContent.trim().slice(0, 40)}`);
  }
  return pale;
}

/** In the page: controls that are not wholly on the screen from left to right. */
const findCutControls = (): string[] =>
  [...document.querySelectorAll("button, input:not(.only-heard), textarea")]
    .filter((element) => element.checkVisibility())
    .filter((element) => {
      const { left, right, width } = element.getBoundingClientRect();
      return width > 0 && (left < 0 || right > innerWidth + 0.5);
    })
    .map((element) => element.getAttribute("aria-label") ?? element.textContent ?? "");

export function layoutCases(shared: Shared): void {
  test("on a screen of 320 pixels nothing is wider, every control has a name, and both themes can be read", async () => {
    const wide = "x".repeat(300);
    const answer = `# A\n\n\`code\` [link](https://example.com/)\n\n> quote\n\n\`\`\`\n${wide}\n\`\`\`\n\n${wide}\n\n|a|b|\n|-|-|\n|${wide}|1234567|`;
    const gate = createGate([text(answer)]);
    const { page, gateway } = await shared.begin(
      [thinking("Hm."), call("missing", {}), call("read", { path: "no" })],
      gate.turn,
    );
    onTestFinished(async () => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: "light" });
    });
    await page.setViewportSize({ width: 320, height: 700 });
    const open = gateway.parts.sessions.find(page.url().split("/").at(-1)!);
    await open!.hosted.session.sessionManager.appendSessionInfo(wide);
    await say(page, wide);
    await page.getByRole("button", { name: "Stop now" }).waitFor();
    expect(await page.evaluate(findCutControls)).toEqual([]);
    // The buttons below the field are in one line, also those that are as large as a finger needs them.
    const row = page.locator(".composer-row");
    await row.evaluate((element) => {
      for (const button of element.querySelectorAll<HTMLElement>(".icon-button, .send, .stop, .stop-later"))
        button.style.minWidth = "44px";
    });
    expect(await row.evaluate((element) => element.clientHeight)).toBeLessThan(60);
    gate.open();
    await page.locator(".markdown table").waitFor();
    expect(await page.evaluate(findCutControls)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    // A number is not cut into its digits.
    const cell = page.getByRole("cell", { name: "1234567" });
    expect(await cell.evaluate((element) => element.scrollWidth)).toBeGreaterThan(50);
    await page.emulateMedia({ colorScheme: null });
    for (const theme of ["light", "dark"]) {
      await page.evaluate((name) => (document.documentElement.dataset["theme"] = name), theme);
      const log = page.getByRole("log", { name: "Transcript" });
      for (const position of [0, 1e6]) {
        await log.evaluate((element, top) => (element.scrollTop = top), position);
        expect(await page.evaluate(findPaleTexts)).toEqual([]);
      }
    }
    const nameless = /^\s*- (?:button|textbox|searchbox|link|combobox|heading)(?::| \[|$)/m;
    expect(await page.locator(".shell").ariaSnapshot()).not.toMatch(nameless);
    await page.getByRole("button", { name: "Rename this session" }).waitFor();
    await page.getByRole("button", { name: "All sessions" }).click();
    await page.getByRole("searchbox", { name: "Search sessions" }).waitFor();
    expect(await page.evaluate(findCutControls)).toEqual([]);
    expect(await page.evaluate(findPaleTexts)).toEqual([]);
    expect(await page.locator(".shell").ariaSnapshot()).not.toMatch(nameless);
  });

  test("on a phone a message that was not sent can be read, and a long name does not cover the page", async () => {
    const { page, gateway } = await shared.begin();
    onTestFinished(() => page.setViewportSize({ width: 1280, height: 800 }));
    await page.setViewportSize({ width: 320, height: 568 });
    const long = "W".repeat(20_000);
    await say(page, `/unknown ${long}`);
    const problem = page.getByRole("list", { name: "Messages on their way" }).getByRole("alert");
    await problem.waitFor();
    // A few lines of words, and not one letter below the other.
    expect(await problem.evaluate((element) => element.clientHeight)).toBeLessThan(120);
    expect(await page.evaluate(findCutControls)).toEqual([]);
    await page.getByRole("button", { name: "Change" }).click();
    const open = gateway.parts.sessions.find(page.url().split("/").at(-1)!);
    await open!.hosted.session.sessionManager.appendSessionInfo(long);
    await page.getByRole("heading", { name: "WWW" }).waitFor();
    await say(page, "/name");
    const note = page.getByRole("status").filter({ hasText: "Name: WWW" });
    await note.waitFor();
    expect(await note.evaluate((element) => element.clientHeight)).toBeLessThan(300);
    expect((await page.title()).length).toBeLessThan(300);
    await note.getByRole("button", { name: "I have read this" }).click();
    await say(page, "/settings");
    const value = page.locator(".setting-value").first();
    await value.waitFor();
    expect(await value.evaluate((element) => element.clientWidth)).toBeGreaterThan(60);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("the field grows with what is written, and a long question does not make the page higher than the screen", async () => {
    const long = [text(`${"A line.\n\n".repeat(40)}The last.`)];
    const { page } = await shared.begin(long, [call("read", { path: "/etc/os-release" })], [text("Read.")]);
    onTestFinished(() => page.setViewportSize({ width: 1280, height: 800 }));
    await say(page, "Say much.");
    await waitForText(page, "The last.");
    const field = getField(page);
    const getHeights = () => field.evaluate(({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight]);
    const [empty] = await getHeights();
    await field.fill("one\ntwo\nthree\nfour");
    await expect.poll(async () => (await getHeights())[0]).toBeGreaterThan(2 * empty!);
    const [full, content] = await getHeights();
    expect(full).toBe(content);
    await field.fill("one\ntwo\nthree\nfour and more");
    // The transcript stays at its end while somebody writes.
    const getRest = () =>
      page
        .getByRole("log")
        .evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);
    await expect.poll(getRest).toBeLessThanOrEqual(1);
    expect(await page.getByRole("button", { name: "Go to the end" }).count()).toBe(0);
    // Firefox and Safari do not have it.
    expect(await field.evaluate((element) => getComputedStyle(element).getPropertyValue("field-sizing"))).toBe("fixed");
    // One line, until the phone is turned.
    await field.fill("word ".repeat(12));
    await expect.poll(getHeights).toEqual([empty, empty]);
    await page.setViewportSize({ width: 320, height: 568 });
    await expect.poll(async () => (await getHeights())[0]).toBeGreaterThan(empty!);
    const [wrapped, words] = await getHeights();
    expect(wrapped).toBe(words);
    await field.fill("");
    await expect.poll(async () => (await getHeights())[0]).toBeLessThan(wrapped!);
    await say(page, "Read it.");
    await page.getByRole("alertdialog", { name: "A question" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(568);
    await page.getByRole("button", { name: "No", exact: true }).click();
    await waitForText(page, "Read.");
  });
}
