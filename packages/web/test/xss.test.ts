import { call, scriptedModel, text, thinking } from "@tau/ai/testing";
import { exportHtml } from "@tau/harness/export";
import type { SessionEntry } from "@tau/protocol";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createSession, findBrowserProblem, openPage, openPageKit, type PageKit, say, waitForText } from "./kit.ts";
import { vectors } from "./xss-vectors.ts";

const problem = findBrowserProblem();
if (problem !== undefined) console.warn(`The tests with scripts in texts are skipped: ${problem}`);

/** In a page: whether a script ran, and where its elements could lead. */
function inspect() {
  const elements = [...document.querySelectorAll("#page *, main *, body > *")];
  return {
    hacked: "hacked" in window,
    handlers: elements.filter((element) => element.getAttributeNames().some((name) => name.startsWith("on"))).length,
    styled: elements.filter((element) => /javascript|expression/i.test(element.getAttribute("style") ?? "")).length,
    addresses: elements
      .flatMap((element) =>
        ["href", "src", "action", "formaction", "srcdoc", "data"].map((name) => element.getAttribute(name)),
      )
      .filter((address): address is string => address !== null)
      .filter(
        (address) => !/^(?:https?:\/\/|mailto:|#|\/assets\/|data:image\/(?:png|jpeg|gif|webp);base64,)/.test(address),
      ),
    frames: document.querySelectorAll("iframe, object, embed, base, form[action]").length,
  };
}

const harmless = { hacked: false, handlers: 0, styled: 0, addresses: [], frames: 0 };

describe.skipIf(problem !== undefined)("texts with scripts in them", () => {
  let kit: PageKit;
  beforeAll(async () => {
    kit = await openPageKit();
  });
  afterAll(() => kit.close());

  test("there are two hundred of them", () => {
    expect(new Set(vectors).size).toBeGreaterThanOrEqual(200);
  });

  test("none runs in the page: as a message, an answer, a thought, a call, a result, a name or a question", async () => {
    const all = vectors.join("\n\n");
    // Outside of the session's directory and of that for temporary files, wherever this repository is.
    const outside = `/${vectors[9]!}.txt`;
    const model = scriptedModel(
      [
        [thinking(all), text(all), call("read", { path: vectors[9]!, other: all })],
        [call("read", { path: outside })],
        [text("The end.")],
      ],
      { model: { reasoning: true, name: vectors[9]! } },
    );
    const opened = await openPage(kit, { model });
    onTestFinished(opened.close);
    const { page, url, pair, requested, gateway } = opened;
    await page.goto(url);
    await pair();
    await createSession(opened);
    const [session] = await gateway.parts.sessions.list();
    const hosted = await gateway.parts.sessions.find(session!.sessionId);
    await hosted!.hosted.session.sessionManager.appendSessionInfo(vectors[9]!);
    await say(page, all);
    await page.getByRole("alertdialog", { name: "A question" }).waitFor();
    expect(await page.evaluate(inspect)).toEqual(harmless);
    await page.getByRole("button", { name: "No", exact: true }).click();
    await waitForText(page, "The end.");
    // Everything comes to the screen once.
    const log = page.getByRole("log", { name: "Transcript" });
    for (let step = 0; step < 200; step++) {
      const isAtStart = await log.evaluate((element) => {
        element.scrollTop -= element.clientHeight;
        for (const button of element.querySelectorAll<HTMLElement>("button[aria-expanded=false]")) button.click();
        return element.scrollTop === 0;
      });
      if (step % 10 === 0 || isAtStart) expect(await page.evaluate(inspect)).toEqual(harmless);
      if (isAtStart) break;
    }
    await page.getByRole("button", { name: "Tree of the session" }).click();
    await page.getByRole("dialog", { name: "Tree" }).getByText("The end.").waitFor();
    expect(await page.evaluate(inspect)).toEqual(harmless);
    const strange = requested.filter((address) => new URL(address).host !== new URL(url).host);
    expect(strange.filter((address) => !address.startsWith("data:"))).toEqual([]);
  });

  test("none runs in an exported page, even without its policy", async () => {
    const timestamp = "2026-01-01T00:00:00.000Z";
    const entries = vectors.map((content, index): SessionEntry => {
      const message = { role: "user", content, timestamp: 1 } as const;
      return { type: "message", id: `e${index}`, parentId: index === 0 ? null : `e${index - 1}`, timestamp, message };
    });
    const header = { type: "session", version: 3, id: "s", timestamp, cwd: vectors[9]! } as const;
    const source = { header, entries, leafId: entries.at(-1)!.id, name: vectors[0]! };
    const html = (await exportHtml(source)).replace(/<meta http-equiv="content-security-policy"[^>]*>/i, "");
    const page = await kit.browser.newPage();
    onTestFinished(() => page.close());
    const requested: string[] = [];
    page.on("request", (request) => requested.push(request.url()));
    await page.setContent(html);
    expect(await page.evaluate(inspect)).toMatchObject({ hacked: false, handlers: 0, styled: 0, frames: 0 });
    expect(requested.filter((address) => !address.startsWith("data:") && address !== "about:blank")).toEqual([]);
  });

  test("nothing in the address decides where the page connects to", async () => {
    const opened = await openPage(kit);
    onTestFinished(opened.close);
    const { page, url, pair, requested } = opened;
    const addresses = [
      "?gatewayUrl=ws://127.evil.example:1/",
      "?gatewayUrl=ws://127.0.0.1:9/&token=stolen",
      "?url=wss://evil.example&deviceId=x&key=y",
      "#gatewayUrl=ws://evil.example/",
      "#/session/../../evil?token=x",
    ];
    await page.goto(`${url}/${addresses[0]}`);
    await pair();
    for (const address of addresses) {
      await page.goto(`${url}/${address}`);
      await page.reload();
      await page.getByRole("navigation", { name: "Sessions" }).waitFor();
      await page.getByText("No sessions.").waitFor();
    }
    const hosts = new Set(requested.map((address) => new URL(address).host));
    expect([...hosts]).toEqual([new URL(url).host]);
    const sockets = requested.filter((address) => address.startsWith("ws"));
    expect(new Set(sockets)).toEqual(new Set([`${url.replace(/^http/, "ws")}/`]));
  });
});
