/** The example of a page, in a real Chromium: what is shown, asked, sent and stopped. And what the package weighs. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { call, type ScriptedModel, scriptedModel, text } from "@tau/ai/testing";
import { ModelRegistry } from "@tau/config/models";
import { AuthStorage } from "@tau/config/auth";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PageServer, startPageServer } from "../../../examples/programs/react-page/server.ts";

test("the package is at most 5 KB, minified and compressed, without React", async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "..", "src", "index.ts")],
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    conditions: ["@tau/source"],
    external: ["react"],
  });
  expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).toBeLessThanOrEqual(5 * 1024);
});

const executablePath = "/usr/bin/chromium";
const isThere = existsSync(executablePath);
if (!isThere)
  console.warn(`The test of the page is skipped: there is no ${executablePath} (Debian's package chromium).`);

describe.skipIf(!isThere)("the page", () => {
  let directory: string;
  let model: ScriptedModel;
  let server: PageServer;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "tau-react-"));
    model = scriptedModel([]);
    const [authStorage, modelRegistry] = [AuthStorage.inMemory({}, { env: () => undefined }), ModelRegistry.inMemory()];
    server = await startPageServer({
      agentDir: join(directory, "agent"),
      cwd: directory,
      params: { model, authStorage, modelRegistry, sandbox: { mode: "off" }, permissionMode: "ask" },
    });
    browser = await chromium.launch({
      executablePath,
      env: { ...process.env, TMPDIR: directory } as Record<string, string>,
      // Containers have no user namespaces, and root may not use them.
      args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"],
    });
    page = await browser.newPage();
    // A busy machine is no failure.
    page.setDefaultTimeout(120_000);
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (line) => line.type() === "error" && problems.push(line.text()));
    await page.goto(server.url);
    await page.locator("main[data-connection=live]").waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    model?.dispose();
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  });

  const say = async (message: string) => {
    await page.getByLabel("Message", { exact: true }).fill(message);
    await page.getByLabel("Message", { exact: true }).press("Enter");
  };
  const getTexts = () => page.locator("ol > li").allInnerTexts();

  test("shows what is said, asks about a call, and shows its result in the message that made it", async () => {
    model.add([text("Let me see."), call("bash", { command: "touch made; echo it is done" })], [text("It was done.")]);
    await say("Do it.");
    const question = page.getByLabel("Question");
    await question.getByText("touch made").waitFor();
    await page.locator("pre[data-state=approval-requested]").waitFor();
    await question.getByRole("button", { name: "Allow" }).click();
    await page.getByText("It was done.").waitFor();
    expect(await page.locator("ol > li").count()).toBe(2);
    expect((await getTexts())[1]).toMatch(/Let me see\.[^]*it is done[^]*It was done\./);
    expect(existsSync(join(directory, "made"))).toBe(true);
    await question.waitFor({ state: "detached" });
  });

  test("stops a run, and joins one that is in progress", async () => {
    model.add(
      async (_context, { signal }) => {
        await new Promise((resolve) => signal!.addEventListener("abort", resolve));
        return [text("Never.")];
      },
      [text("Then this.")],
    );
    await say("Think for ever.");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    await say("And now?");
    await page.getByText("Then this.").waitFor();
    expect(await getTexts()).not.toContain("Never.");
    expect(problems).toEqual([]);
  });

  test("another origin is told that it may not connect", async () => {
    const other = await browser.newPage();
    // The same server by another name.
    await other.goto(server.url.replace("127.0.0.1", "localhost"));
    const { url } = (await (await fetch(`${server.url}/api/session`, { method: "POST" })).json()) as { url: string };
    const reason = await other.evaluate(
      (address) =>
        new Promise<string>((resolve) => {
          const socket = new WebSocket(address);
          socket.addEventListener("message", ({ data }) => resolve(String(data)));
          socket.addEventListener("close", ({ code }) => resolve(`closed ${code}`));
        }),
      url,
    );
    expect(reason).toContain("gateway.allowedOrigins");
    await other.close();
  });
});
