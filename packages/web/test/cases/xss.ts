import { call, text, thinking } from "@tau/ai/testing";
import { exportHtml } from "@tau/harness/export";
import type { SessionEntry } from "@tau/protocol";
import { expect, onTestFinished, test } from "vitest";
import { findStrangeAddresses, say, type Shared, waitForText } from "../kit.ts";
import { vectors } from "./xss-vectors.ts";

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

/** In the page: brings everything of a transcript to the screen once, unfolded. Returns how many screens it has. */
async function readAll(log: Element): Promise<number> {
  for (let screens = 1; ; screens++) {
    for (const button of log.querySelectorAll<HTMLElement>("button[aria-expanded=false]")) button.click();
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    if (log.scrollTop === 0 || screens > 500) return screens;
    log.scrollTop -= log.clientHeight;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}

const harmless = { hacked: false, handlers: 0, styled: 0, addresses: [], frames: 0 };

export function xssCases(shared: Shared): void {
  test("none of two hundred scripts runs in the page: as a message, an answer, a thought, a call, a result, a name or a question", async () => {
    expect(new Set(vectors).size).toBeGreaterThanOrEqual(200);
    const all = vectors.join("\n\n");
    // Outside of the session's directory and of that for temporary files, wherever this repository is.
    const outside = `/${vectors[9]!}.txt`;
    const kit = await shared.begin(
      [thinking(all), text(all), call("read", { path: vectors[9]!, other: all })],
      [call("read", { path: outside })],
      [text("The end.")],
    );
    const { page, gateway } = kit;
    const open = gateway.parts.sessions.find(page.url().split("/").at(-1)!);
    await open!.hosted.session.sessionManager.appendSessionInfo(vectors[9]!);
    await say(page, all);
    await page.getByRole("alertdialog", { name: "A question" }).waitFor();
    expect(await page.evaluate(inspect)).toEqual(harmless);
    await page.getByRole("button", { name: "No", exact: true }).click();
    await waitForText(page, "The end.");
    // Fewer screens to be read.
    await page.setViewportSize({ width: 1280, height: 4_000 });
    onTestFinished(() => page.setViewportSize({ width: 1280, height: 800 }));
    const log = page.getByRole("log", { name: "Transcript" });
    // What is drawn while it scrolls is looked at too.
    const watching = await page.evaluateHandle(() => {
      const found: string[] = [];
      const look = (element: Element) => {
        const names = element.getAttributeNames();
        if (
          names.some((name) => name.startsWith("on")) ||
          /^(?:IFRAME|OBJECT|EMBED|BASE|SCRIPT)$/.test(element.tagName)
        ) {
          found.push(element.outerHTML.slice(0, 200));
        }
        for (const name of ["href", "src", "action", "formaction", "srcdoc", "data"]) {
          const address = element.getAttribute(name);
          if (address !== null && !/^(?:https?:\/\/|mailto:)/.test(address)) found.push(address);
        }
      };
      new MutationObserver((changes) => {
        for (const { addedNodes } of changes) {
          for (const node of addedNodes)
            if (node instanceof Element) [node, ...node.querySelectorAll("*")].forEach(look);
        }
      }).observe(document.querySelector("[role=log]")!, { childList: true, subtree: true });
      return found;
    });
    expect(await log.evaluate(readAll)).toBeGreaterThan(3);
    expect(await watching.jsonValue()).toEqual([]);
    expect(await page.evaluate(inspect)).toEqual(harmless);
    await page.getByRole("button", { name: "Tree of the session" }).click();
    await page.getByRole("dialog", { name: "Tree" }).getByText("The end.").waitFor();
    expect(await page.evaluate(inspect)).toEqual(harmless);
    await page.keyboard.press("Escape");
    expect(findStrangeAddresses(kit)).toEqual([]);
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
    const page = await shared.kit.browser.newPage();
    onTestFinished(() => page.close());
    const requested: string[] = [];
    page.on("request", (request) => requested.push(request.url()));
    await page.setContent(html);
    expect(await page.evaluate(inspect)).toMatchObject({ hacked: false, handlers: 0, styled: 0, frames: 0 });
    expect(requested.filter((address) => !address.startsWith("data:") && address !== "about:blank")).toEqual([]);
  });
}
