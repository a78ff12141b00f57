/**
 * Measures how long the first `observe` takes from nothing, with the tool in a session and with playwright-core alone in a process of
 * its own: the library is loaded, Chromium is started, a page of a local server is opened and its tree is read.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../packages/ai/dist/index.js";
import { call, scriptedModel, text } from "../packages/ai/dist/testing/index.js";
import { SettingsManager } from "../packages/config/dist/settings/index.js";
import { browser, discovery } from "../packages/features/dist/index.js";
import { createAgentSession } from "../packages/harness/dist/index.js";

const rounds = 5;
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const page = `<title>Rows</title>${Array.from({ length: 200 }, (_unused, index) => `<p>Row ${index} <button>Press ${index}</button></p>`).join("")}`;
const findChromium = () =>
  process.env.PATH.split(":")
    .flatMap((directory) => ["chromium", "google-chrome"].map((name) => join(directory, name)))
    .find((path) => {
      try {
        return realpathSync(path) !== "";
      } catch {
        return false;
      }
    });

/** A server, a browser and a tree, as the tool needs them too. */
const alone = `
const { chromium } = require(process.argv[1]);
(async () => {
  const server = require("node:http").createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(process.argv[3]);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const instance = await chromium.launch({ executablePath: process.argv[2], args: ["--disable-gpu"] });
  const tab = await (await instance.newContext()).newPage();
  await tab.goto("http://127.0.0.1:" + server.address().port);
  const tree = await tab.ariaSnapshot({ mode: "ai" });
  if (!tree.includes("Press 199")) throw new Error(tree);
  console.log("done");
  await instance.close();
  server.close();
})();`;

async function measureAlone(chromium) {
  const library = createRequire(import.meta.url).resolve("playwright-core");
  const startMs = performance.now();
  const child = spawn(process.execPath, ["-e", alone, library, chromium, page], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  const ms = performance.now() - startMs;
  await once(child, "exit");
  return ms;
}

async function measureTool() {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "tau-browser-bench-")));
  const source = `require("node:http").createServer((_request, response) => { response.setHeader("content-type", "text/html"); response.end(require("node:fs").readFileSync("page.html")); }).listen(8123, "127.0.0.1")`;
  writeFileSync(join(cwd, "page.html"), page);
  const use = (args, id) => [call("call_tool", { name: "browser", arguments: args }, id)];
  const features = [browser(), discovery()];
  const session = await createAgentSession({
    cwd,
    agentDir: join(cwd, "agent"),
    model: scriptedModel(
      [
        [call("bash", { command: `'${process.execPath}' -e '${source}'`, background: true }, "server")],
        [text("Done.")],
        use({ action: "open", url: "http://127.0.0.1:8123/" }, "open"),
        use({ action: "observe" }, "observe"),
        [text("Done.")],
      ],
      { clock: systemClock },
    ),
    settingsManager: SettingsManager.inMemory({}, { features }),
    features,
    policyProfile: "permissive",
    clock: systemClock,
  });
  // The server is not what is measured, and neither is the sandbox, which commands of the session have started.
  await session.prompt("start the server");
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const startMs = performance.now();
  await session.prompt("go");
  const ms = performance.now() - startMs;
  const tree = JSON.stringify(session.messages.findLast(({ role }) => role === "toolResult").content);
  if (!tree.includes("Press 199")) throw new Error(tree.slice(0, 2_000));
  await session.dispose();
  rmSync(cwd, { recursive: true, force: true });
  return ms;
}

export default async function bench(report) {
  const chromium = findChromium();
  if (chromium === undefined) return report("skipped: there is no Chromium here", 0, "");
  const [tool, bare] = [[], []];
  for (let round = 0; round < rounds; round++) {
    bare.push(await measureAlone(chromium));
    tool.push(await measureTool());
  }
  report("first observe", median(tool), "ms");
  report("first observe with playwright alone", median(bare), "ms");
  report("first observe, times playwright alone", median(tool) / median(bare), "times (at most 1.3)");
}
