/** A gateway with the built page, and a browser with a paired page in front of it, for all tests. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ScriptedModel, scriptedModel, type ScriptedTurn } from "@tau/ai/testing";
import { undo } from "@tau/features";
import { openTestGateway, type TestGateway } from "@tau/gateway/testing";
import type { GatewayScope } from "@tau/protocol/gateway";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { expect, onTestFailed, onTestFinished } from "vitest";
import { DeskChannel } from "./desk-channel.ts";
import { vectors } from "./cases/xss-vectors.ts";
import { Pace } from "./script.ts";

const executablePath = "/usr/bin/chromium";

/** Why the tests with a browser cannot run here; undefined if they can. */
export function findBrowserProblem(): string | undefined {
  return existsSync(executablePath) ? undefined : `there is no ${executablePath} (Debian's package chromium).`;
}

interface OpenPage {
  page: Page;
  /** Problems of the page: errors, and what its policy has blocked. */
  problems: string[];
  /** Every address that the page asked for. */
  requested: string[];
}

export interface OpenContext extends OpenPage {
  context: BrowserContext;
  /** Types the code that the page shows. */
  pair: (scopes?: GatewayScope[]) => Promise<void>;
  close: () => Promise<void>;
}

export interface PageKit extends OpenContext, TestGateway {
  browser: Browser;
  /** The built page. */
  pageDirectory: string;
  /** Such as `http://127.0.0.1:40000`. */
  url: string;
  model: ScriptedModel;
  /** Decides when the model continues. */
  pace: Pace;
  /** The account `desk`. The account `broken` is of a type that does not exist. */
  desk: DeskChannel;
  /** The answers to `/ask` of the extension in every session. */
  answers: unknown[];
}

/** Shared by the tests. The kit is there while they run. */
export interface Shared {
  readonly kit: PageKit;
  /** Begins a session in which the model does this, in a new tab. What the page did wrong fails the test at its end. */
  begin(...turns: ScriptedTurn[]): Promise<PageKit>;
}

interface ExtensionApi {
  sendMessage(message: object, options?: object): void;
  registerTool(tool: object): void;
  registerCommand(name: string, command: { handler: (args: string, context: ExtensionContext) => Promise<void> }): void;
}
interface ExtensionContext {
  ui: Record<string, (...args: unknown[]) => unknown>;
  executeTool: (name: string, args: object) => Promise<unknown>;
}

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
  const pace = new Pace();
  const model = scriptedModel([], {
    model: { reasoning: true, name: vectors[9]! },
    tokensPerSecond: 1_000,
    clock: pace,
  });
  const answers: unknown[] = [];
  /** `/ask METHOD ARGUMENTS` calls a method of the interface. */
  const extension = (api: ExtensionApi) => {
    api.registerCommand("ask", {
      handler: async (args, { ui }) => {
        const [method, ...rest] = JSON.parse(args) as [string, ...unknown[]];
        answers.push(await ui[method]!(...rest));
      },
    });
    /** `/announce MESSAGE` adds a message to the conversation. */
    api.registerCommand("announce", { handler: async (args) => api.sendMessage(JSON.parse(args) as object) });
    /** `outer` makes calls, the last of which ends when there is a file `go`. */
    api.registerTool({
      name: "outer",
      label: "",
      description: "",
      parameters: { type: "object", properties: {} },
      async execute(_id: string, _params: object, _signal: unknown, _onUpdate: unknown, context: ExtensionContext) {
        for (let index = 1; index <= 6; index++) await context.executeTool("ls", { path: "." });
        await context.executeTool("read", { path: "/etc/shadow" });
        await context.executeTool("bash", { command: "until [ -e go ]; do sleep 0.02; done" });
        return { content: [{ type: "text", text: "All of it was called." }] };
      },
    });
    // Each gives what it is called with, and is drawn by its name.
    for (const name of ["places", "step", "cell"]) {
      api.registerTool({
        name,
        label: "",
        description: "",
        shows: name,
        parameters: { type: "object", properties: {} },
        execute: async (_id: string, { text, details, image }: { text: string; details: object; image?: string }) => ({
          content: [
            { type: "text", text },
            ...(image === undefined ? [] : [{ type: "image", mimeType: "image/png", data: image }]),
          ],
          details,
        }),
      });
    }
  };
  const desk = new DeskChannel();
  const channels = { desk: { type: "desk" }, broken: { type: "pigeon" } };
  const opened = await openTestGateway({
    model,
    params: { extensions: { factories: [extension] }, features: [undo()] } as never,
    settings: { gateway: { queue: { cap: 2 }, channels }, compaction: { keepRecentTokens: 100 } },
    options: { pageDirectory, channelTypes: { desk: async () => ({ secrets: {}, open: async () => desk }) } },
  });
  const url = opened.gateway.url.replace(/^ws/, "http");
  const context = await openContext(browser, opened.gateway);
  await context.page.goto(url);
  await context.pair();
  return {
    ...opened,
    ...context,
    browser,
    pageDirectory,
    url,
    model,
    pace,
    desk,
    answers,
    async close() {
      await browser.close();
      await opened.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export function createBegin(getKit: () => PageKit): Shared["begin"] {
  return async (...turns) => {
    const kit = getKit();
    // What a test has typed, opened or not waited for stays in its tab.
    await kit.page.close();
    Object.assign(kit, await openPage(kit.context));
    onTestFailed(() => describePage(kit));
    await kit.page.goto(kit.url);
    // The last run of the test before may still be asking.
    await expect.poll(() => kit.model.left).toBe(0);
    kit.model.add(...turns);
    await createSession(kit);
    onTestFinished(() => {
      expect(kit.problems).toEqual([]);
      expect(findStrangeAddresses(kit)).toEqual([]);
    });
    return kit;
  };
}

/** Prints what the page shows and what the model has left to say, since a test that waits in vain says only for what. */
async function describePage({ page, model, problems }: PageKit): Promise<void> {
  const shown = await page.evaluate(() => document.body.innerText);
  // oxlint-disable-next-line no-console -- shown for tests that fail
  console.log(`The page at ${page.url()} shows:\n${shown}\n`, {
    turnsLeft: model.left,
    asked: model.asked.length,
    problems,
  });
}

/** Requests of the page to others than its gateway. */
export const findStrangeAddresses = ({ requested, url }: PageKit): string[] =>
  requested.filter((address) => !address.startsWith("data:") && new URL(address).host !== new URL(url).host);

/** A browser that was never here before. */
export async function openContext(browser: Browser, gateway: TestGateway["gateway"]): Promise<OpenContext> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: "light",
    // Without a GPU, each frame of an endless animation costs processor time in three processes.
    reducedMotion: "reduce",
  });
  // A busy machine is no failure.
  context.setDefaultTimeout(120_000);
  // A page that is not paired asks every two seconds whether somebody has typed its code. Here it asks more often.
  await context.addInitScript(() => {
    const wait = window.setTimeout.bind(window);
    const waitLess = (fire: () => void, afterMs?: number) => wait(fire, afterMs === 2_000 ? 200 : afterMs);
    window.setTimeout = waitLess as typeof window.setTimeout;
  });
  const opened = await openPage(context);
  const { page } = opened;
  return {
    ...opened,
    context,
    async pair(scopes) {
      const code = await page.getByTestId("pairing-code").textContent();
      const approver = new Set<GatewayScope>(["read", "write", "approve", "admin", "pair"]);
      await gateway.parts.pairing.approve({ code: code!, approver, ...(scopes && { scopes }) });
      await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    },
    close: () => context.close(),
  };
}

async function openPage(context: BrowserContext): Promise<OpenPage> {
  const page = await context.newPage();
  const [problems, requested] = [[] as string[], [] as string[]];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    // What the browser says of a lost connection is no fault of the page.
    const isLoss = /WebSocket connection|ERR_INTERNET_DISCONNECTED/.test(message.text());
    if (message.type() === "error" && !isLoss) problems.push(message.text());
  });
  page.on("request", (request) => requested.push(request.url()));
  page.on("websocket", (socket) => requested.push(socket.url()));
  return { page, problems, requested };
}

/** Waits for a text in the transcript. */
export async function waitForText(page: Page, text: string | RegExp): Promise<void> {
  await page.getByRole("log", { name: "Transcript" }).getByText(text).first().waitFor();
}

/** Waits until another session is drawn than that at the address `before`. The address itself changes earlier. */
export async function waitForOtherSession(page: Page, before: string): Promise<void> {
  await expect.poll(() => page.url()).not.toBe(before);
  await waitForFrames(page);
}

/** Begins a session with the page's own dialog. */
export async function createSession({ page, workspace }: PageKit): Promise<void> {
  const before = page.url();
  await page.getByRole("button", { name: "New session" }).first().click();
  await page.getByLabel("Directory").fill(workspace);
  await page.getByRole("button", { name: "Create" }).click();
  await waitForOtherSession(page, before);
  await page.getByText("Nothing has been said yet.").waitFor();
}

/** Waits until the page has drawn what has changed, and what its sizes change again. */
export const waitForFrames = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 5; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
  });

/** Where messages are written. */
export const getField = (page: Page) => page.getByLabel("Message", { exact: true });

/** Types a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await getField(page).fill(text);
  await getField(page).press("Enter");
}

/** Which element has the focus. */
export const getFocused = (page: Page): Promise<string | null | undefined> =>
  page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.tagName);
