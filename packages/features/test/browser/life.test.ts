/** When the browser starts and ends, and how one of the user is attached to. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { call, createFakeClock } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { findBrowser } from "../../src/browser/find-browser.ts";
import { browser, discovery } from "../../src/index.ts";
import { DialogSurface } from "../dialogs.ts";
import { buildSessionProgram, killAfterOutput } from "../session-program.ts";
import { findProcesses, openBrowser, whyNoBrowser } from "./kit.ts";

const kills = process.env["TAU_LONG"] ? 20 : 1;
const makeDirectory = () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-browser-test-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};

/** The processes of browsers that were started from a directory. */
const findBrowsers = (cwd: string): string[] =>
  findProcesses("--headless").filter((line) => {
    const pid = line.trim().split(/\s+/)[0]!;
    try {
      return realpathSync(`/proc/${pid}/cwd`).startsWith(cwd);
    } catch {
      return false;
    }
  });

describe.skipIf(whyNoBrowser !== undefined)("the browser of a session", () => {
  test("is shown and closed by /browser, starts again, and ends with half an hour without use", async () => {
    const clock = createFakeClock();
    const opened = await openBrowser({ features: [browser({ clock }), discovery()] });
    const { session, must, use, cwd } = opened;
    onTestFinished(() => opened.dispose());
    expect((await use("observe")).text).toContain("The browser is not open. Open a page first.");
    expect(findBrowsers(cwd)).toEqual([]);
    await must("open");
    expect(findBrowsers(cwd)).not.toEqual([]);
    const surface = new DialogSurface([
      "[t1, current] about:blank",
      "Close the tab",
      "All of it",
      "Close the browser",
      undefined,
    ]);
    await session.attachSurface(surface);
    await opened.prompt("/browser");
    expect(surface.dialogs.map(({ title, options }) => [title, options])).toEqual([
      ["Browser", ["[t1, current] about:blank", "All of it"]],
      ["[t1, current] about:blank", ["Close the tab"]],
      ["Browser", ["All of it"]],
      ["All of it", ["Close the browser"]],
      ["Browser", []],
    ]);
    await expect.poll(() => findBrowsers(cwd), { timeout: 20_000 }).toEqual([]);
    await opened.prompt("/browser");
    expect(surface.notices).toEqual(["The browser is not open."]);
    await must("open");
    await clock.advance(29 * 60_000);
    await must("tabs");
    await clock.advance(29 * 60_000);
    expect(findBrowsers(cwd)).not.toEqual([]);
    await clock.advance(60_000);
    await expect.poll(() => findBrowsers(cwd), { timeout: 20_000 }).toEqual([]);
  });

  test("is ended with tau, also by a kill", { timeout: kills * 30_000 + 60_000 }, async () => {
    const directory = makeDirectory();
    const cwd = join(directory, "work");
    mkdirSync(cwd);
    const open = call("call_tool", { name: "browser", arguments: { action: "open" } }, "1");
    const program = await buildSessionProgram(
      directory,
      `
      import { scriptedModel, text } from "@tau/ai/testing";
      import { createAgentSession } from "@tau/harness";
      import { browser, discovery } from "../src/index.ts";
      const session = await createAgentSession({
        cwd: ${JSON.stringify(cwd)}, agentDir: ${JSON.stringify(join(directory, "agent"))},
        model: scriptedModel([[${JSON.stringify(open)}], [text("Done.")]]), features: [discovery(), browser()],
      });
      await session.prompt("go");
      console.log(JSON.stringify(session.messages.at(-2)));
      setInterval(() => {}, 1_000);
    `,
    );
    for (let kill = 0; kill < kills; kill++) {
      await killAfterOutput(program, [], (output) => {
        expect(output).toContain("about:blank");
        expect(findBrowsers(cwd)).not.toEqual([]);
      });
      await expect.poll(() => findBrowsers(cwd), { timeout: 20_000 }).toEqual([]);
    }
  });

  test("without a sandbox asks about servers of the machine, and ends with the session", async () => {
    const server = createServer((_request, response) => void response.end("of the machine"));
    onTestFinished(() => void server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const opened = await openBrowser({ sandbox: { mode: "off" } } as never);
    opened.setAnswer(({ host }) => (host === undefined ? "allow" : "deny"));
    const { port } = server.address() as AddressInfo;
    const denied = await opened.use("open", { url: `http://127.0.0.1:${port}/` });
    expect(denied.text).toContain("was not opened");
    expect(opened.questions.at(-1)).toMatchObject({ host: "127.0.0.1" });
    opened.setAnswer(() => "allow");
    await opened.must("open", { url: `http://127.0.0.1:${port}/` });
    expect(await opened.must("observe")).toContain("of the machine");
    expect(findBrowsers(opened.cwd)).not.toEqual([]);
    await opened.dispose();
    await expect.poll(() => findBrowsers(opened.cwd), { timeout: 20_000 }).toEqual([]);
  });

  test("that is attached to is asked about in every session, and stays open", async () => {
    const { cdpUrl, child, listPages } = await startOwnBrowser();
    for (const answer of ["deny", "allow"] as const) {
      const opened = await openBrowser({ settings: { browser: { cdpUrl } } });
      opened.setAnswer(() => answer);
      const result = await opened.use("open");
      expect(opened.questions).toHaveLength(1);
      expect(opened.questions[0]!.reason).toContain("with your logins");
      expect(opened.questions[0]!.choices.map(({ choice }) => choice)).toEqual(["once"]);
      expect(result.isError, result.text).toBe(answer === "deny");
      if (answer === "allow") {
        expect(await opened.must("tabs")).toMatch(/\[t1\] Mine data:.+\n\[t2, current\] about:blank/);
        expect(await opened.must("observe", { tab: "t1" })).toContain("Logged in as Ada");
        expect((await opened.use("navigate", { url: "file:///etc/passwd" })).isError).toBe(true);
      }
      await opened.dispose();
      // Only what the model opened is closed.
      await expect.poll(listPages, { timeout: 20_000 }).toEqual(["Mine"]);
      expect(child.exitCode).toBe(null);
    }
  });

  test("that is an Electron program is used in its own windows, and the person's downloads stay theirs", async () => {
    const { cdpUrl, listPages } = await startOwnBrowser();
    const { url, asked } = await relayAsElectron(cdpUrl);
    const opened = await openBrowser({ settings: { browser: { cdpUrl: url } } });
    onTestFinished(() => opened.dispose());
    const failed = await opened.use("open");
    expect(failed.text).toMatch(/It opens no tabs \(.*Not supported.*\)\. Use one that is open: t1\./);
    expect(await opened.must("observe")).toContain("Logged in as Ada");
    await opened.must("evaluate", { code: "document.title = 'Changed'" });
    expect(await opened.must("tabs")).toMatch(/\[t1, current\] Changed data:/);
    expect(asked).toContain("Target.createTarget");
    expect(asked).not.toContain("Browser.setDownloadBehavior");
    expect(await listPages()).toEqual(["Changed"]);
  });
});

/** A browser that a person runs, with one page. */
async function startOwnBrowser() {
  const profile = makeDirectory();
  const child = spawn(
    findBrowser(undefined, process.env["PATH"])!,
    [
      "--headless",
      "--no-sandbox",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      "data:text/html,<title>Mine</title><p>Logged in as Ada",
    ],
    { stdio: ["ignore", "ignore", "pipe"], detached: true },
  );
  onTestFinished(async () => {
    process.kill(-child.pid!, "SIGKILL");
    await once(child, "exit");
  });
  let address = "";
  for await (const line of createInterface({ input: child.stderr }))
    if ((address = /DevTools listening on (ws:\/\/\S+)/.exec(line)?.[1] ?? "") !== "") break;
  const cdpUrl = `http://${new URL(address).host}`;
  const listPages = async () => {
    const targets = (await (await fetch(`${cdpUrl}/json/list`)).json()) as { type: string; title: string }[];
    return targets.filter(({ type }) => type === "page").map(({ title }) => title);
  };
  return { cdpUrl, child, listPages };
}

/** The answers of programs made with Electron to requests that they do not support. */
const missingInElectron: Readonly<Record<string, string>> = {
  "Target.createTarget": "Not supported",
  "Target.createBrowserContext": "Browser context management is not supported.",
  "Browser.setDownloadBehavior": "Browser context management is not supported.",
};

/** Passes requests for debugging on, but for those that Electron refuses. */
async function relayAsElectron(cdpUrl: string) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const answer = await (await fetch(`${cdpUrl}${request.url}`)).text();
      response.end(answer.replaceAll(new URL(cdpUrl).host, request.headers.host!));
    })();
  });
  new WebSocketServer({ server }).on("connection", (client, request) => {
    const program = new WebSocket(`ws://${new URL(cdpUrl).host}${request.url}`);
    const isOpen = once(program, "open");
    client.on("message", (data: Buffer) => {
      const { id, method, sessionId } = JSON.parse(data.toString()) as {
        id: number;
        method: string;
        sessionId?: string;
      };
      asked.push(method);
      const message = missingInElectron[method];
      if (message === undefined) void isOpen.then(() => program.send(data.toString()));
      else client.send(JSON.stringify({ id, sessionId, error: { code: -32_000, message } }));
    });
    program.on("message", (data: Buffer) => client.send(data.toString()));
    client.on("close", () => program.close());
    program.on("close", () => client.close());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
