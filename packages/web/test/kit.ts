/** A real gateway with the built page, and a real browser in front of it. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestGateway, type TestGateway, type TestGatewayOptions } from "@tau/gateway/testing";
import type { GatewayScope } from "@tau/protocol/gateway";
import { type Browser, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { expect } from "vitest";

const executablePath = "/usr/bin/chromium";

/** Why the tests with a browser cannot run here; undefined if they can. */
export function findBrowserProblem(): string | undefined {
  return existsSync(executablePath) ? undefined : `there is no ${executablePath} (Debian's package chromium).`;
}

export interface PageKit {
  browser: Browser;
  /** The built page. */
  pageDirectory: string;
  close: () => Promise<void>;
}

/** Builds the page and starts the browser; both are shared by the tests of a file. */
export async function openPageKit(): Promise<PageKit> {
  const directory = await mkdtemp(join(tmpdir(), "tau-web-"));
  const pageDirectory = join(directory, "page");
  await build({
    configFile: join(import.meta.dirname, "..", "vite.config.mjs"),
    build: { outDir: pageDirectory },
  });
  const browser = await chromium.launch({
    executablePath,
    // Its sockets come and go: not where other tests look for sockets.
    env: { ...process.env, TMPDIR: directory } as Record<string, string>,
    // Containers have no user namespaces, and root may not use them.
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return {
    browser,
    pageDirectory,
    async close() {
      await browser.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export interface OpenContext {
  page: Page;
  /** What went wrong in the page: errors, and what its policy has blocked. */
  problems: string[];
  /** Every address that the page asked for. */
  requested: string[];
  /** Types the code that the page shows. */
  pair: (scopes?: GatewayScope[]) => Promise<void>;
  close: () => Promise<void>;
}

export type OpenPage = OpenContext &
  TestGateway & {
    /** Such as `http://127.0.0.1:40000`. */
    url: string;
  };

export interface ContextOptions {
  viewport?: { width: number; height: number };
  colorScheme?: "light" | "dark";
}

/** A browser that was never here before. */
export async function openContext(
  kit: PageKit,
  gateway: TestGateway["gateway"],
  { viewport = { width: 1280, height: 800 }, colorScheme = "light" }: ContextOptions = {},
): Promise<OpenContext> {
  const context = await kit.browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  const [problems, requested] = [[] as string[], [] as string[]];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("WebSocket connection")) problems.push(message.text());
  });
  page.on("request", (request) => requested.push(request.url()));
  page.on("websocket", (socket) => requested.push(socket.url()));
  return {
    page,
    problems,
    requested,
    async pair(scopes) {
      const code = await page.getByTestId("pairing-code").textContent();
      const approver = new Set<GatewayScope>(["read", "write", "approve", "admin", "pair"]);
      await gateway.parts.pairing.approve({ code: code!, approver, ...(scopes && { scopes }) });
      await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    },
    close: () => context.close(),
  };
}

/** A gateway that serves the page, and the page before it is paired. */
export async function openPage(kit: PageKit, options: TestGatewayOptions & ContextOptions = {}): Promise<OpenPage> {
  const opened = await openTestGateway({
    ...options,
    options: { pageDirectory: kit.pageDirectory, ...options.options },
  });
  const context = await openContext(kit, opened.gateway, options);
  return {
    ...opened,
    ...context,
    url: opened.gateway.url.replace(/^ws/, "http"),
    async close() {
      await context.close();
      await opened.close();
    },
  };
}

/** Waits for a text in the transcript. */
export async function waitForText(page: Page, text: string | RegExp): Promise<void> {
  await page.getByRole("log", { name: "Transcript" }).getByText(text).first().waitFor();
}

/** Begins a session with the page's own dialog. */
export async function createSession({ page, workspace }: OpenPage): Promise<void> {
  const before = page.url();
  await page.getByRole("button", { name: "New session" }).first().click();
  await page.getByLabel("Directory").fill(workspace);
  await page.getByRole("button", { name: "Create" }).click();
  await expect.poll(() => page.url()).not.toBe(before);
  await page.getByText("Nothing has been said yet.").waitFor();
}

/** Types a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.getByLabel("Message", { exact: true }).press("Enter");
}
