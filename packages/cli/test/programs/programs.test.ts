/** Every program of `examples/programs` runs as its document says, against a server that speaks a provider's protocol. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { createAI } from "@tau/ai";
import { call, scriptedModel, startWireServer, text } from "@tau/ai/testing";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { startProxy } from "../../../../examples/programs/browser-proxy/server.ts";
import { evaluateRouting, findFallen } from "../../../../examples/programs/evaluation.ts";
import { startBot } from "../../../../examples/programs/sse-bot.ts";
import { readInvoice } from "../../../../examples/programs/structured-output.ts";
import { countStock } from "../../../../examples/programs/telemetry.ts";
import { CustomerAgents } from "../../../../examples/programs/tenants.ts";
import { converse } from "../../../../examples/programs/terminal.ts";

const programs = join(import.meta.dirname, "../../../../examples/programs");

type Content = ReturnType<typeof text> | ReturnType<typeof call>;

/** A model behind a real socket that gives these answers. */
async function openModel(...answers: (readonly Content[])[]) {
  const replies = answers.map((content) => ({ kind: "answer" as const, answer: { content: [...content] } }));
  const server = await startWireServer("anthropic-messages", replies);
  onTestFinished(() => server.close());
  const ai = createAI({
    provider: "anthropic",
    model: "claude-opus-4-5",
    baseUrl: server.url,
    apiKey: "key-of-the-test",
  });
  return { ai, server };
}

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tau-programs-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test("sse-bot: an answer comes as server-sent events, nobody asks without the token, and closing ends what runs", async () => {
  const { ai } = await openModel([text("Forty-two.")]);
  const bot = await startBot(ai, { token: "secret" });
  const ask = async (headers: Record<string, string>) =>
    await fetch(`${bot.url}/ask`, { method: "POST", body: "How many?", headers });
  expect((await ask({})).status).toBe(401);
  const response = await ask({ authorization: "Bearer secret" });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const events = (await response.text()).split("\n\n").filter((event) => event.includes("data:"));
  expect(events.join("\n")).toContain("Forty-two.");
  expect(events.join("\n")).toContain("agent_end");
  await bot.close();
  await expect(ask({ authorization: "Bearer secret" })).rejects.toThrow("fetch failed");
});

test("tenants: each customer has a directory and a conversation, and no way to those of another", async () => {
  const directory = await makeDirectory();
  const agents = new CustomerAgents(directory, 1);
  onTestFinished(() => agents.close());
  const first = await openModel([call("write", { path: "note.txt", content: "of the first" })], [text("Written.")]);
  const second = await openModel([call("read", { path: "../a%2F1/note.txt" })], [text("Denied.")]);
  expect(await agents.ask({ id: "a/1", ai: first.ai }, "Write.")).toBe("Written.");
  expect(await agents.ask({ id: "b", ai: second.ai }, "Read theirs.")).toBe("Denied.");
  expect(await readFile(join(directory, "a%2F1", "note.txt"), "utf8")).toBe("of the first");
  expect(JSON.stringify(second.server.requests.at(-1)!.body)).not.toContain("of the first");
});

test("structured-output: an answer that does not fit is corrected, and the program gets a typed value", async () => {
  const invoice = { number: "7", currency: "EUR", lines: [{ item: "Paper", cents: 450 }] };
  const wrong = { ...invoice, currency: "euros" };
  const { ai, server } = await openModel([text(JSON.stringify(wrong))], [text(JSON.stringify(invoice))]);
  expect(await readInvoice(ai, "Invoice 7: paper, 4.50 euros")).toEqual(invoice);
  expect(server.requests).toHaveLength(2);
});

test("evaluation: each case is scored, and a score that is lower than the last time is named", async () => {
  const before = await evaluateRouting((await openModel([text("Billing")], [text("accounts")], [text("product")])).ai);
  expect(before.means).toEqual({ right: 1, brief: 1 });
  const { ai } = await openModel([text("billing")], [text("I would say accounts")], [text("product")]);
  const now = await evaluateRouting(ai);
  expect(now.cases.map(({ name, scores }) => [name, scores["right"]])).toEqual([
    ["refund", 1],
    ["password", 0],
    ["feature", 1],
  ]);
  expect(findFallen(now, before)).toEqual(["right", "brief"]);
  expect(findFallen(before, now)).toEqual([]);
});

test("terminal: answers are printed while they come, and a tool outside of the project is asked about", async () => {
  const cwd = await makeDirectory();
  const outside = await mkdtemp(join(programs, ".outside-"));
  onTestFinished(() => rm(outside, { recursive: true }));
  await writeFile(join(outside, "a.txt"), "outside");
  const { ai } = await openModel([call("read", { path: join(outside, "a.txt") })], [text("It says outside.")]);
  const [input, output] = [new PassThrough(), new PassThrough()];
  let printed = "";
  output.setEncoding("utf8");
  output.on("data", (piece: string) => {
    printed += piece;
    if (printed.includes("[y/n]") && !printed.includes("[read]")) return;
    if (piece.includes("[y/n]")) input.write("y\n");
    if (printed.includes("It says outside.")) input.end();
  });
  input.write("What is there?\n");
  await converse(ai, cwd, input, output);
  expect(printed).toContain("[read]");
  expect(printed).toContain("It says outside.");
});

test("telemetry: the span of a query is a child of the tool's, in the span of the run", async () => {
  const exporter = new InMemorySpanExporter();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  onTestFinished(() => {
    trace.disable();
    context.disable();
  });
  const { ai } = await openModel([call("stock", { article: "chair" })], [text("There are 7.")]);
  expect(await countStock(ai, "How many chairs?")).toBe("There are 7.");
  const spans = exporter.getFinishedSpans();
  const find = (name: RegExp) => spans.find((span) => name.test(span.name))!;
  const tool = find(/^execute_tool stock/);
  expect(find(/^SELECT stock/).parentSpanContext?.spanId).toBe(tool.spanContext().spanId);
  expect(tool.parentSpanContext?.spanId).toBe(find(/^invoke_agent/).spanContext().spanId);
});

test("worker: the bundle for workerd needs nothing of Node, and streams the answer", async () => {
  const { server } = await openModel([text("Hello from the edge.")]);
  const directory = await makeDirectory();
  const outfile = join(directory, "worker.mjs");
  await build({
    entryPoints: [join(programs, "worker.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["@tau/source", "workerd"],
    logLevel: "error",
  });
  const worker = (await import(outfile)) as {
    default: { fetch: (request: Request, env: object) => Promise<Response> };
  };
  const request = new Request("https://worker.example", { method: "POST", body: "Hello?" });
  const response = await worker.default.fetch(request, { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: server.url });
  expect(await response.text()).toBe("Hello from the edge.");
});

const chromiumPath = "/usr/bin/chromium";

test("browser-proxy: the agent runs in a page of another origin, and a tool of it changes the page", async ({
  skip,
}) => {
  skip(!existsSync(chromiumPath), `There is no ${chromiumPath} (Debian's package chromium).`);
  const { outputFiles } = await build({
    entryPoints: [join(programs, "browser-proxy/page.ts")],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    conditions: ["@tau/source"],
    logLevel: "error",
  });
  const pages = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? outputFiles[0]!.text : '<div id="to"></div><script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  const model = scriptedModel([[call("set_colour", { colour: "rgb(1, 2, 3)" })], [text("Done.")]]);
  const proxy = await startProxy({ authenticate: "token", allowedOrigins: [origin], resolveModel: () => model });
  const directory = await makeDirectory();
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    env: { ...process.env, TMPDIR: directory } as Record<string, string>,
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"],
  });
  onTestFinished(async () => {
    await browser.close();
    await proxy.close();
    pages.close();
    model.dispose();
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(origin);
  await page.waitForFunction("globalThis.ask !== undefined");
  const server = JSON.stringify({ url: proxy.url, token: "token", model: { ...model } });
  await page.evaluate(`ask("Darker, please.", document.getElementById("to"), ${server})`);
  expect(await page.textContent("#to")).toBe("Done.");
  expect(await page.evaluate("document.body.style.backgroundColor")).toBe("rgb(1, 2, 3)");
});

test("the blocks of docs/server.md are these programs", async () => {
  const page = await readFile(join(programs, "../../docs/server.md"), "utf8");
  const blocks = [...page.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code);
  const files = ["sse-bot.ts", "tenants.ts", "telemetry.ts"].map((name) => readFile(join(programs, name), "utf8"));
  expect(blocks).toEqual(await Promise.all(files));
});

test("every program is run here or in the test of what it is about", async () => {
  const elsewhere: Record<string, string> = {
    "react-page": "packages/react/test/page.test.ts",
    sqlite: "packages/harness/test/examples/sqlite.test.ts",
    postgres: "packages/harness/test/examples/postgres.test.ts",
  };
  const own = await readFile(import.meta.filename, "utf8");
  for (const name of await readdir(programs)) {
    if (name.startsWith(".") || name.endsWith(".md")) continue;
    const program = name.replace(/\.ts$/, "");
    const path = elsewhere[program];
    const tests = path === undefined ? own : await readFile(join(import.meta.dirname, "../../../..", path), "utf8");
    expect(tests, `${name} is not run by a test`).toContain(
      `programs/${program}`.replace("programs/worker", "worker.ts"),
    );
  }
});
