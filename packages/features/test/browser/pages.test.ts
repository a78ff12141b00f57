/** Pages of a server that the session itself started: reading them, and acting on them. */
import { existsSync, symlinkSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type BrowserSession, findRef, openBrowser, serverSource, whyNoBrowser } from "./kit.ts";

const form = `<!doctype html><title>Form</title>
<form action="/echo" method="get">
  <label>Name <input name="name"></label>
  <label>Colour <select name="colour"><option value="r">Red</option><option value="g">Green</option></select></label>
  <label><input type="checkbox" name="news"> News</label>
  <label>Notes <textarea name="notes"></textarea></label>
  <button>Send</button>
</form>`;
const upload = `<!doctype html><title>Upload</title>
<form action="/echo" method="post" enctype="multipart/form-data"><label>File <input type="file" name="file" multiple></label><button>Send</button></form>`;
const inner = `<!doctype html><title>Inner</title><button onclick="this.textContent='Pressed inside'">Press inside</button>`;
const shadow = `<div id="host"></div><script>
const root = document.getElementById("host").attachShadow({ mode: "open" });
root.innerHTML = "<button>In the shadow</button>";
root.querySelector("button").onclick = (event) => (event.target.textContent = "Pressed in the shadow");
</script>`;
const frames = `<!doctype html><title>Frames</title><iframe src="/inner"></iframe>${shadow}`;
const dialogs = `<!doctype html><title>Dialogs</title><p id="out"></p>
<button onclick="alert('An alert'); out.textContent += ' alerted'">Alert</button>
<button onclick="out.textContent += confirm('Delete all?') ? ' confirmed' : ' refused'">Confirm</button>
<button onclick="out.textContent += ' ' + prompt('Your name?')">Prompt</button>`;
const popups = `<!doctype html><title>Popups</title><a href="/form" target="_blank">Open the form</a>
<button onclick="for (let i = 0; i < 40; i++) window.open('/inner?' + i)">Open many</button>`;
const downloads = `<!doctype html><title>Downloads</title><a href="/file" download="../../report.txt">Get the report</a>`;
const log = `<!doctype html><title>Log</title><p>Text</p><script>console.log("hello from the page"); fetch("/missing"); setTimeout(() => { throw new Error("late") });
setTimeout(() => document.querySelector("p").textContent = "Changed later", 300)</script>`;
const worker = `<!doctype html><title>Worker</title><script>
navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready).then((ready) => {
  navigator.serviceWorker.onmessage = (event) => (document.title = event.data);
  ready.active.postMessage(location.hash.slice(1));
});
</script>`;
const serviceWorker = `onmessage = (event) => event.waitUntil(Promise.allSettled(
  event.data.split(",").map((url) => fetch(url, { mode: "no-cors" })),
).then((all) => event.source.postMessage("Tried " + all.map(({ status }) => status).join())));`;
const long = `<!doctype html><title>Long</title><div style="height:3000px">Top</div><button onclick="this.textContent='Reached '+(scrollY>0)">Bottom</button>`;

const pages = {
  "/form": { body: form },
  "/upload": { body: upload },
  "/frames": { body: frames },
  "/inner": { body: inner },
  "/dialogs": { body: dialogs },
  "/popups": { body: popups },
  "/downloads": { body: downloads },
  "/file": { body: "the report", headers: { "content-type": "application/octet-stream" } },
  "/endless": { isEndless: true, headers: { "content-type": "application/octet-stream" } },
  "/log": { body: log },
  "/long": { body: long },
  "/worker": { body: worker },
  "/sw.js": { body: serviceWorker, headers: { "content-type": "text/javascript" } },
  "/moved": { status: 302, headers: { location: "/form" } },
};

const isLong = process.env["TAU_LONG"] !== undefined;

describe.skipIf(whyNoBrowser !== undefined)("a page of a server of the session", () => {
  let session: BrowserSession;
  let origin: string;
  beforeAll(async () => {
    session = await openBrowser({
      files: { "pages.json": JSON.stringify(pages), "server.mjs": serverSource, "note.txt": "a note\n" },
    });
    const started = await session.callTool("bash", {
      command: `${process.execPath} server.mjs 8123`,
      background: true,
    });
    if (started.isError) throw new Error(started.text);
    origin = "http://localhost:8123";
    const isThere = `for (let i = 0; i < 100; i++) { try { await fetch("${origin}/form"); break; } catch { await new Promise((r) => setTimeout(r, 100)); } }`;
    await session.callTool("bash", { command: `${process.execPath} --input-type=module -e '${isThere}'` });
    await session.must("open", { url: `${origin}/form` });
  }, 60_000);
  afterAll(() => session?.dispose());

  const go = (path: string) => session.must("navigate", { url: origin + path });

  test("is opened without a question, and is a tree of elements with references", async () => {
    const opened = await go("/moved");
    expect(opened).toContain(`Form ${origin}/form`);
    expect(opened).toContain("HTTP 200");
    const tree = await session.must("observe");
    expect(tree).toMatch(/textbox "Name" \[ref=(?:f\d+)?e\d+\]/);
    expect(session.questions).toEqual([]);
  });

  test("takes a form that is filled in by references", async () => {
    await go("/form");
    const tree = await session.must("observe");
    await session.must("fill", { ref: findRef(tree, '"Name"'), text: "Ada" });
    await session.must("select", { ref: findRef(tree, 'combobox "Colour"'), values: ["Green"] });
    await session.must("click", { ref: findRef(tree, 'checkbox "News"') });
    const notes = findRef(tree, '"Notes"');
    await session.must("fill", { ref: notes, text: "some" });
    await session.must("press", { ref: notes, key: "End" });
    await session.must("press", { key: "!" });
    const sent = await session.must("click", { ref: findRef(tree, 'button "Send"') });
    expect(sent).toContain("/echo?name=Ada&colour=g&news=on&notes=some%21");
    expect(await session.must("observe")).toContain("got ?name=Ada");
  });

  test("has frames and shadow roots, whose elements are used like others", async () => {
    await go("/frames");
    const tree = await session.must("observe");
    await session.must("click", { ref: findRef(tree, "Press inside") });
    await session.must("click", { ref: findRef(tree, "In the shadow") });
    const after = await session.must("observe");
    expect(after).toContain("Pressed inside");
    expect(after).toContain("Pressed in the shadow");
  });

  test("shows dialogs that are answered by rule, or as the call says", async () => {
    await go("/dialogs");
    const tree = await session.must("observe");
    const alert = await session.must("click", { ref: findRef(tree, '"Alert"') });
    expect(alert).toContain('showed the dialog alert "An alert", which was accepted');
    const confirm = findRef(tree, '"Confirm"');
    expect(await session.must("click", { ref: confirm })).toContain('confirm "Delete all?", which was dismissed');
    await session.must("click", { ref: confirm, dialog: "accept" });
    await session.must("click", { ref: findRef(tree, '"Prompt"'), dialog: "accept", dialogText: "Ada" });
    expect(await session.must("observe")).toContain("alerted refused confirmed Ada");
  });

  test("opens popups as tabs, one for each click", async () => {
    await go("/popups");
    const tree = await session.must("observe");
    await session.must("click", { ref: findRef(tree, "Open the form") });
    await expect.poll(() => session.must("tabs"), { timeout: 20_000 }).toMatch(/\[t2\] Form/);
    expect(await session.must("observe", { tab: "t2" })).toContain('button "Send"');
    await session.must("click", { ref: findRef(tree, "Open many"), tab: "t1" });
    await expect.poll(() => session.must("tabs"), { timeout: 20_000 }).toMatch(/\[t3\] Inner/);
    for (const tab of ["t2", "t3"]) await session.must("close", { tab });
    expect(await session.must("tabs")).toMatch(/user\.\n\[t1, current\] Popups \S+\/popups$/);
  });

  test("downloads into a directory of the session, where the model reads it", async () => {
    await go("/downloads");
    let done = await session.must("click", { ref: findRef(await session.must("observe"), "Get the report") });
    await expect.poll(async () => (done += await session.must("tabs")), { timeout: 20_000 }).toMatch(/Downloaded/);
    const [, path] = /Downloaded (\S+) \(10 bytes\)/.exec(done)!;
    expect(path).toMatch(/\/downloads\/1-[\w.-]*report\.txt$/);
    expect((await session.callTool("read", { path: path! })).text).toContain("the report");
    // Nothing of it is among the temporary files of the machine.
    expect(existsSync(path!)).toBe(false);
  });

  test.runIf(isLong)(
    "that downloads without end is stopped, and the next download is not",
    { timeout: 180_000 },
    async () => {
      expect(await go("/endless")).toContain("It was downloaded.");
      const poll = { timeout: 90_000, interval: 500 };
      await expect.poll(() => session.must("tabs"), poll).toContain("Downloads were ended");
      await expect
        .poll(async () => {
          await go("/downloads");
          return await session.must("click", { ref: findRef(await session.must("observe"), "Get the report") });
        }, poll)
        .toMatch(/Downloaded \S+report\.txt/);
    },
  );

  test("gets files of the workspace only, and each time after a question", async () => {
    await go("/upload");
    const tree = await session.must("observe");
    const ref = findRef(tree, '"File"');
    const before = session.questions.length;
    await session.must("upload", { ref, paths: ["note.txt"] });
    await session.must("upload", { ref, paths: ["note.txt"] });
    const asked = session.questions.slice(before);
    expect(asked).toHaveLength(2);
    expect(asked[0]!.reason).toBe(`It gives to a page of localhost: ${join(session.cwd, "note.txt")}`);
    expect(asked[0]!.choices.map(({ choice }) => choice)).toEqual(["once"]);
    symlinkSync("/etc/passwd", join(session.cwd, "link.txt"));
    for (const path of ["/etc/passwd", "../agent/auth.json", "link.txt"]) {
      const refused = await session.use("upload", { ref, paths: [path] });
      expect(refused.text, path).toMatch(/not in the workspace|outside the workspace/);
      expect(refused.isError).toBe(true);
    }
    session.setAnswer(() => "deny");
    const denied = await session.use("upload", { ref, paths: ["note.txt"] });
    session.setAnswer(() => "allow");
    expect(denied.text).toContain("Nothing was uploaded.");
    await session.must("click", { ref: findRef(tree, '"Send"') });
    expect(await session.must("observe")).toMatch(/filename=\\"note\.txt\\".*text\/plain.*a note/);
  });

  test("is drawn as an image, is scrolled, and runs JavaScript", async () => {
    await go("/long");
    const ref = findRef(await session.must("observe"), '"Bottom"');
    for (const args of [{ ref }, ...(isLong ? [{}, { fullPage: true }] : [])]) {
      const { message } = await session.use("screenshot", args);
      expect(message.content.map(({ type }) => type)).toEqual(["text", "image"]);
    }
    await session.must("scroll", { pixels: 500 });
    await expect.poll(() => session.must("evaluate", { code: "scrollY > 0" }), { timeout: 20_000 }).toContain("true");
    expect(await session.must("evaluate", { ref, code: "(element) => element.tagName" })).toContain('"BUTTON"');
    const failed = await session.use("evaluate", { code: "nothing.here" });
    expect(failed.text).toContain("nothing is not defined");
    expect(failed.isError).toBe(true);
  });

  test("has a console and a list of requests, and is waited for", async () => {
    await go("/log");
    await session.must("wait", { text: "Changed later" });
    const printed = await session.must("console");
    expect(printed).toContain("log: hello from the page");
    expect(printed).toContain("uncaught: late");
    expect(await session.must("network")).toContain(`GET 404 fetch ${origin}/missing`);
  });

  test("has service workers, which reach no more than the page", async () => {
    const seen: unknown[] = [];
    const outer = createServer((request, response) => {
      seen.push(request.url);
      response.end();
    });
    onTestFinished(() => void outer.close());
    await once(outer.listen(0), "listening");
    const { port } = outer.address() as AddressInfo;
    const own = `${origin}/form`;
    await go(`/worker#http://127.0.0.1:${port}/,http://[::1]:${port}/,http://localhost:${port}/,${own}`);
    await expect
      .poll(() => session.must("tabs"), { timeout: 20_000 })
      .toContain("rejected,rejected,rejected,fulfilled");
    expect(seen).toEqual([]);
  });

  test("that has changed makes old references an error that says what to do", async () => {
    await go("/form");
    const ref = findRef(await session.must("observe"), 'button "Send"');
    await go("/dialogs");
    for (const stale of [ref, "e9999", "nonsense"]) {
      const failed = await session.use("click", { ref: stale, timeoutMs: 2_000 });
      expect(failed.isError, failed.text).toBe(true);
      expect(failed.text).toMatch(/Observe it again|is not a reference such as e12/);
    }
  });

  test("that is long is cut at the end of a line, and all of it is in a file", async () => {
    await go("/form");
    const tree = await session.must("observe", { maxChars: 200 });
    const [, path] = /All of it is in (\S+)\. observe/.exec(tree)!;
    expect(tree).not.toContain('button "Send"');
    expect((await session.callTool("read", { path: path! })).text).toContain('button "Send"');
  });
});
