/** The search and the filters of an exported page, in a real browser. */
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSessionHtml } from "../../src/export/session-html.ts";
import type { SessionEntry } from "../../src/session/entry.ts";

const executablePath = "/usr/bin/chromium";
const hasBrowser = existsSync(executablePath);
if (!hasBrowser) process.stderr.write(`SKIPPED: there is no ${executablePath}, so exported pages are not searched.\n`);

const entries = [
  { id: "0", parentId: null, message: { role: "user", content: "Why does the kite fall?" } },
  {
    id: "1",
    parentId: "0",
    message: {
      role: "assistant",
      content: [{ type: "toolCall", id: "c", name: "read", arguments: { path: "tail.md" } }],
    },
  },
  {
    id: "2",
    parentId: "1",
    message: {
      role: "toolResult",
      toolCallId: "c",
      toolName: "read",
      content: [{ type: "text", text: "No ballast." }],
    },
  },
  { id: "3", parentId: "2", message: { role: "assistant", content: [{ type: "text", text: "Its tail is short." }] } },
  { id: "4", parentId: "0", message: { role: "assistant", content: [{ type: "text", text: "Another BALLAST." }] } },
].map((entry) => ({ type: "message", timestamp: "2026-01-01T00:00:00.000Z", ...entry }));
const label = { type: "label", id: "5", parentId: "3", timestamp: "", targetId: "0", label: "the question" };

describe.skipIf(!hasBrowser)("the page of a session", () => {
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    page = await browser.newPage();
    page.on("pageerror", ({ message }) => problems.push(message));
    page.on("console", (message) => void (message.type() === "error" && problems.push(message.text())));
    const header = { type: "session" as const, version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/p" };
    const source = { header, entries: [...entries, label] as unknown as SessionEntry[], leafId: "5" };
    await page.setContent(createSessionHtml(source));
  }, 60_000);
  afterAll(() => browser?.close());

  const listShown = async () =>
    await page.$$eval("nav a", (links) =>
      links.filter((link) => link.checkVisibility()).map((link) => link.getAttribute("href")),
    );

  test("is searched in all texts, also of small steps and of other branches, and shows how many have the words", async () => {
    await page.fill("#search", "ballast");
    expect(await listShown()).toEqual(["#e4", "#e2"]);
    expect(await page.textContent("#found")).toBe("2 of 6 entries");
    await page.fill("#search", "BALLAST read");
    expect(await listShown()).toEqual(["#e2"]);
    await page.fill("#search", "nothing of it");
    expect(await listShown()).toEqual([]);
    await page.fill("#search", "");
    expect(await page.textContent("#found")).toBe("");
    expect(await listShown()).toContain("#e0");
  });

  test("is filtered by kind, together with the search", async () => {
    await page.fill("#search", "");
    await page.selectOption("#kinds", { label: "Yours" });
    expect(await listShown()).toEqual(["#e0"]);
    await page.selectOption("#kinds", { label: "With labels" });
    expect(await listShown()).toEqual(["#e0"]);
    await page.selectOption("#kinds", { label: "Without tools" });
    await page.fill("#search", "ballast");
    expect(await listShown()).toEqual(["#e4"]);
    await page.click('nav a[href="#e4"]');
    expect(await page.isVisible("#e4")).toBe(true);
    expect(problems).toEqual([]);
  });
});
