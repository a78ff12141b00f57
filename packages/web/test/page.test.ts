import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "@tau/ai";
import { call, scriptedModel, type ScriptedTurn, text, thinking } from "@tau/ai/testing";
import { SessionManager } from "@tau/harness";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  createSession,
  findBrowserProblem,
  openContext,
  openPage,
  type OpenPage,
  openPageKit,
  type PageKit,
  say,
  waitForText,
} from "./kit.ts";

const problem = findBrowserProblem();
if (problem !== undefined) console.warn(`The tests of the page are skipped: ${problem}`);

/** In the page: what is stored of this device. */
async function readStoredDevice() {
  const database = await new Promise<IDBDatabase>((resolve) => {
    const request = indexedDB.open("tau");
    request.addEventListener("success", () => resolve(request.result));
  });
  const { deviceId, key } = await new Promise<{ deviceId: string; key: CryptoKey }>((resolve) => {
    const request = database.transaction("values").objectStore("values").get("device");
    request.addEventListener("success", () => resolve(request.result as never));
  });
  const exported = await crypto.subtle.exportKey("raw", key).then(
    () => "exported",
    (error: unknown) => (error as Error).name,
  );
  return { deviceId, exported, extractable: key.extractable, local: localStorage.length, address: location.href };
}

/** A clock for the deltas of a model. After a number of them, none comes until it is told to go on. */
class Pace implements Clock {
  readonly now = systemClock.now;
  readonly monotonic = systemClock.monotonic;
  deltasLeft = Number.POSITIVE_INFINITY;
  #held: (() => void)[] = [];

  setTimer(_afterMs: number, fire: () => void): () => void {
    if (this.deltasLeft-- > 0) return systemClock.setTimer(0, fire);
    this.#held.push(fire);
    return () => {};
  }

  goOn(): void {
    this.deltasLeft = Number.POSITIVE_INFINITY;
    for (const fire of this.#held.splice(0)) fire();
  }
}

/** A turn of the model that waits until it is told to go on. */
function createGate(content: ScriptedTurn): { turn: ScriptedTurn; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { turn: async () => opened.then(() => content), open };
}

describe.skipIf(problem !== undefined)("the page", () => {
  let kit: PageKit;
  /** One gateway and one paired page for all tests; each begins a session of its own. */
  let opened: OpenPage;
  const pace = new Pace();
  const model = scriptedModel([], { model: { reasoning: true }, tokensPerSecond: 1_000, clock: pace });
  beforeAll(async () => {
    kit = await openPageKit();
    opened = await openPage(kit, { model });
    await opened.page.goto(opened.url);
    await opened.pair();
  });
  afterAll(async () => {
    await opened.close();
    await kit.close();
  });

  /** Begins a session in which the model does this. What the page did wrong fails the test at its end. */
  async function begin(...turns: ScriptedTurn[]): Promise<OpenPage> {
    model.add(...turns);
    await createSession(opened);
    onTestFinished(() => {
      expect(opened.problems).toEqual([]);
      const strange = opened.requested.filter((address) => new URL(address).host !== new URL(opened.url).host);
      expect(strange.filter((address) => !address.startsWith("data:"))).toEqual([]);
    });
    return opened;
  }

  test("a device is paired with a code that is typed; its key cannot be read, and it can be revoked", async () => {
    const { gateway, url } = opened;
    const { page, pair, problems, close } = await openContext(kit, gateway);
    onTestFinished(close);
    await page.goto(url);
    const command = await page.locator(".pairing-command").textContent();
    expect(command).toMatch(/^tau gateway pair [0-9A-Z]{4}-[0-9A-Z]{4}$/);
    await pair(["read"]);
    const stored = await page.evaluate(readStoredDevice);
    const { deviceId, ...others } = stored;
    expect(others).toEqual({ exported: "InvalidAccessError", extractable: false, local: 0, address: `${url}/` });
    await page.reload();
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    await gateway.parts.devices.revoke(deviceId);
    for (const client of gateway.parts.connections.list(deviceId)) client.close(1008, "revoked");
    await page.getByRole("button", { name: "Pair again" }).click();
    await page.getByTestId("pairing-code").waitFor();
    expect(problems).toEqual([]);
  });

  test("an answer is drawn while it arrives, with its thoughts folded, its calls and a diff", async () => {
    const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(" ");
    const { page, workspace } = await begin(
      [thinking("I think first."), call("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] })],
      () => {
        pace.deltasLeft = 20;
        return [text(`# Done\n\n${words}\n\n[here](https://example.com/) and [not here](javascript:alert(1))`)];
      },
    );
    onTestFinished(() => pace.goOn());
    await writeFile(join(workspace, "a.txt"), "one\n");
    await say(page, "Please edit **a.txt**.");
    await page.locator(".user strong", { hasText: "a.txt" }).waitFor();
    await page.locator(".diff .added", { hasText: "+two" }).waitFor();
    await waitForText(page, "word3 ");
    expect(await page.getByText("word29").count()).toBe(0);
    pace.goOn();
    await waitForText(page, "word29");
    await page.getByRole("heading", { name: "Done" }).waitFor();
    expect(await page.getByText("I think first.").count()).toBe(0);
    await page.getByRole("button", { name: "Thinking", exact: true }).click();
    await waitForText(page, "I think first.");
    const links = await page.locator(".answer a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    expect(links).toEqual(["https://example.com/"]);
    await expect.poll(() => page.getByTestId("announcer").textContent()).toContain("word29");
  });

  test("a question shows every character of what would run, and no is told to the model", async () => {
    // Outside of the session's directory and of that for temporary files, wherever this repository is.
    const path = "/a\u202eb\u200bc.txt";
    const { page } = await begin([call("read", { path })], [text("I see.")]);
    await say(page, "Read it.");
    const question = page.getByRole("alertdialog", { name: "A question" });
    await question.waitFor();
    const facts = await question.locator(".question-facts").first().textContent();
    for (const code of ["U+202E", "U+200B"]) expect(facts).toContain(code);
    for (const name of ["Allow once", "For this session"]) {
      await question.getByRole("button", { name, exact: false }).first().waitFor();
    }
    await question.getByLabel("Why not").fill("Not from there.");
    await question.getByRole("button", { name: "No", exact: true }).click();
    await waitForText(page, "I see.");
    await waitForText(page, "not allowed");
    expect(JSON.stringify(model.asked.at(-1)!.context.messages)).toContain("Not from there.");
  });

  test("what is allowed once runs", async () => {
    const path = "/etc/os-release";
    const { page } = await begin([call("read", { path })], [text("Read.")]);
    await say(page, "Read it.");
    await page.getByRole("button", { name: "Allow once" }).click();
    await waitForText(page, "Read.");
    expect(JSON.stringify(model.asked.at(-1)!.context.messages)).toContain("NAME=");
  });

  test("messages wait while a run is in progress: they are changed, taken back and said", async () => {
    const gate = createGate([text("First.")]);
    const { page } = await begin(gate.turn, [text("Second.")]);
    await say(page, "Begin.");
    await page.getByRole("button", { name: "Stop now" }).waitFor();
    await say(page, "Take this back");
    const queue = page.getByRole("list", { name: "Waiting messages" });
    await queue.getByText("Take this back").waitFor();
    await page.getByRole("button", { name: "Take this message back" }).click();
    await queue.waitFor({ state: "detached" });
    await page.getByLabel("Message", { exact: true }).fill("Say that");
    await page.getByLabel("Message", { exact: true }).press("Control+Enter");
    await queue.getByText("after the run").waitFor();
    await page.getByRole("button", { name: "Change this message" }).click();
    await page.getByLabel("Waiting message", { exact: true }).fill("Say this instead");
    await page.getByLabel("Waiting message", { exact: true }).press("Enter");
    await queue.getByText("Say this instead").waitFor();
    gate.open();
    await waitForText(page, "Second.");
    await waitForText(page, "Say this instead");
    expect(await page.getByText("Take this back").count()).toBe(0);
  });

  test("a run is stopped, and one goes back in the tree to say it otherwise", async () => {
    const gate = createGate([text("Never.")]);
    const { page } = await begin([text("Answer one.")], gate.turn, [text("Answer three.")]);
    onTestFinished(gate.open);
    await say(page, "Question one");
    await waitForText(page, "Answer one.");
    await say(page, "Question two");
    await page.getByRole("button", { name: "Stop now" }).click();
    await page.getByText("Ready").waitFor();
    await page.getByRole("button", { name: "Tree of the session" }).click();
    await page.getByRole("dialog", { name: "Tree" }).getByText("Question two").click();
    await page.getByRole("button", { name: "Go here", exact: true }).click();
    await expect.poll(() => page.getByLabel("Message", { exact: true }).inputValue()).toBe("Question two");
    await say(page, "Question three");
    await waitForText(page, "Answer three.");
    expect(await page.getByRole("log").getByText("Question two").count()).toBe(0);
    await page.getByRole("button", { name: "Tree of the session" }).click();
    await page.getByRole("dialog", { name: "Tree" }).locator(".depth-1").getByText("Question two").waitFor();
    await page.getByRole("dialog", { name: "Tree" }).getByText("Answer one.").click();
    const before = page.url();
    await page.getByRole("button", { name: "New session from here" }).click();
    await expect.poll(() => page.url()).not.toBe(before);
    await waitForText(page, "Answer one.");
    expect(await page.getByRole("log").getByText("Question three").count()).toBe(0);
  });

  test("after the connection was cut the page comes back with what it missed, once", async () => {
    const gate = createGate([text("While you were away.")]);
    const { page, gateway } = await begin(gate.turn, [text("Back again.")]);
    await say(page, "Begin.");
    await page.getByRole("button", { name: "Stop now" }).waitFor();
    for (const client of gateway.parts.connections.list()) client.close(1012, "cut");
    await page.getByText(/Not connected|Connecting/).waitFor();
    gate.open();
    await waitForText(page, "While you were away.");
    await say(page, "Are you there?");
    await waitForText(page, "Back again.");
    expect(await page.getByRole("log").getByText("Are you there?").count()).toBe(1);
    expect(await page.getByRole("log").getByText("While you were away.").count()).toBe(1);
  });

  test("with the keyboard alone: search, help, model, theme and a new name", async () => {
    const { page } = await begin([text("Yes.")]);
    await say(page, "A question about parsers");
    await waitForText(page, "Yes.");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.getByText("New session").waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await page.keyboard.press("m");
    const dialog = page.getByRole("dialog", { name: "Model and thinking" });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    const getScheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    expect(await getScheme()).toBe("light");
    // The browser may still give the key to the dialog that it closes.
    const darken = async () => {
      if ((await getScheme()) === "light") await page.keyboard.press("d");
      return await getScheme();
    };
    await expect.poll(darken).toBe("dark");
    await page.getByRole("button", { name: "Rename this session" }).click();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("Parsers of all kinds");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Parsers of all kinds" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("nothing like it");
    await page.getByText("No sessions.").waitFor();
  });

  test("a transcript of thousands of entries costs less than a frame's time per frame, wherever it is scrolled", async () => {
    const { page, workspace, agentDir, url } = opened;
    const manager = await SessionManager.create(workspace, undefined, { agentDir, durability: "none" });
    const count = process.env["TAU_LONG"] ? 10_000 : 2_500;
    for (let index = 0; index < count; index++) {
      const content = `Entry ${index}.\n\n- with a *list*\n- and \`code\`\n\n${"word ".repeat(index % 60)}`;
      await manager.appendMessage({ role: "user", content, timestamp: index });
    }
    await manager.close();
    await page.goto(`${url}/#/session/${manager.getSessionId()}`);
    await waitForText(page, `Entry ${count - 1}.`);
    const log = page.getByRole("log", { name: "Transcript" });
    // Older entries come as the beginning comes near.
    await expect
      .poll(
        async () => {
          await log.evaluate((element) => (element.scrollTop = 0));
          return await log.getByText("Entry 0.", { exact: true }).count();
        },
        { interval: 30 },
      )
      .toBe(1);
    expect(await log.locator(".row").count()).toBeLessThan(80);
    const devtools = await page.context().newCDPSession(page);
    // The processor's time that our code and the layout take. Painting is left out: people's machines have a GPU for it.
    await devtools.send("Performance.setTimeDomain", { timeDomain: "threadTicks" });
    await devtools.send("Performance.enable");
    const getWorkMs = async () => {
      const { metrics } = await devtools.send("Performance.getMetrics");
      const parts = metrics.filter(({ name }) => /^(?:Script|Layout|RecalcStyle)Duration$/.test(name));
      return 1_000 * parts.reduce((sum, { value }) => sum + value, 0);
    };
    const before = await getWorkMs();
    const frames = 150;
    const moved = await log.evaluate(async (element, count) => {
      for (let frame = 0; frame < count; frame++) {
        element.scrollTop += 120;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      return element.scrollTop;
    }, frames);
    expect(moved).toBeGreaterThan(frames * 100);
    const frameMs = ((await getWorkMs()) - before) / frames;
    if (process.env["TAU_LONG"]) console.log(`A frame takes ${frameMs.toFixed(1)} ms.`);
    expect(frameMs).toBeLessThan(1_000 / 60);
    await page.getByRole("button", { name: "Go to the end" }).click();
    await waitForText(page, `Entry ${count - 1}.`);
  });

  test("on a phone of 360 pixels nothing is wider than the screen", async () => {
    const wide = "x".repeat(300);
    const answer = `\`\`\`\n${wide}\n\`\`\`\n\n${wide}\n\n|a|b|\n|-|-|\n|${wide}|b|`;
    const { page } = await begin([text(answer)]);
    await page.setViewportSize({ width: 360, height: 700 });
    await say(page, wide);
    await page.locator(".markdown table").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.getByRole("button", { name: "All sessions" }).click();
    await page.getByRole("searchbox", { name: "Search sessions" }).waitFor();
  });
});
