/** Requests to hosts whose names lead to addresses of the test. */
import { expect, onTestFinished, test } from "vitest";
import type { WebFailure } from "../../src/kit/http/failure.ts";
import { Pages, type PageOptions } from "../../src/web/fetch/pages.ts";
import { isAllowedByRobots } from "../../src/web/fetch/robots.ts";
import { isKnownAddress } from "../../src/web/fetch/known-address.ts";
import type { WebPorts } from "../../src/kit/http/send.ts";
import type { SessionEntry } from "@tau/protocol";
import { reply, startWebServer } from "./kit.ts";

const options: PageOptions = { allowedPrivateHosts: ["docs.test"], signal: undefined, mayRead: async () => undefined };

function createPages(ports: Partial<WebPorts> = {}) {
  const time = { now: 0 };
  const lookups: string[] = [];
  const lookup: WebPorts["lookup"] = async (name) => {
    lookups.push(name);
    return [{ address: "127.0.0.1", family: 4 }];
  };
  const pages = new Pages({ lookup, env: () => undefined, now: () => time.now, timeoutMs: 30_000, ...ports });
  return { pages, time, lookups };
}

async function startServer(...parameters: Parameters<typeof startWebServer>) {
  const server = await startWebServer(...parameters);
  onTestFinished(() => server.close());
  return server;
}

const getKind = async (work: Promise<unknown>) =>
  await work.then(
    () => "read",
    (error: WebFailure) => error.kind,
  );

test("a name is resolved for each request, and the checked address is dialled", async () => {
  const server = await startServer({ "/a": reply("a", "text/plain") });
  // The second answer is what a name would lead to that changes its address after the check.
  const answers = ["127.0.0.1", "127.0.0.1", "10.255.255.1"];
  const { pages } = createPages({ lookup: async () => [{ address: answers.shift()!, family: 4 }] });
  const page = await pages.get(new URL(`http://docs.test:${server.port}/a`), options);
  expect(page.response.body.toString()).toBe("a");
  expect(server.requests[0]!.headers.host).toBe(`docs.test:${server.port}`);
  // One for robots.txt, one for the page.
  expect(answers).toEqual(["10.255.255.1"]);
});

test("a name of which one address is private is refused, also if the others are public", async () => {
  const lookup: WebPorts["lookup"] = async () => [
    { address: "93.184.216.34", family: 4 },
    { address: "192.168.1.1", family: 4 },
  ];
  const { pages } = createPages({ lookup });
  const get = pages.get(new URL("http://rebind.test/"), options);
  expect(await getKind(get)).toBe("private_address");
});

test("a name that is not there, a connection that fails and a slow answer are failures", async () => {
  const server = await startServer({ "/slow": () => undefined, "/robots.txt": reply("", "text/plain") });
  const { pages } = createPages({ lookup: async () => [] });
  expect(await getKind(pages.get(new URL("http://nobody.test/"), options))).toBe("unknown_host");
  const { pages: closed } = createPages();
  expect(await getKind(closed.get(new URL("http://docs.test:1/"), options))).toBe("connection");
  const { pages: slow } = createPages({ timeoutMs: 300 });
  expect(await getKind(slow.get(new URL(`http://docs.test:${server.port}/slow`), options))).toBe("timeout");
});

test("an abort ends a request with its own reason", async () => {
  const abort = new AbortController();
  const server = await startServer({ "/slow": () => abort.abort(new Error("stopped")) });
  const { pages } = createPages();
  const get = pages.get(new URL(`http://docs.test:${server.port}/slow`), { ...options, signal: abort.signal });
  await expect(get).rejects.toThrow("stopped");
});

test("a page is kept for 15 minutes, a failure is not kept", async () => {
  let count = 0;
  const server = await startServer({
    "/a": (_request, response) => void response.end(`${++count}`),
    "/b": (_request, response) => void response.writeHead(++count > 0 ? 500 : 200).end(),
  });
  const { pages, time } = createPages();
  const get = async (path: string) =>
    (await pages.get(new URL(`http://docs.test:${server.port}${path}`), options)).response.body.toString();
  expect(await get("/a")).toBe("1");
  time.now = 15 * 60_000 - 1;
  expect(await get("/a")).toBe("1");
  time.now += 1;
  expect(await get("/a")).toBe("2");
  await get("/b");
  await get("/b");
  expect(count).toBe(4);
});

test("a proxy of the user gets what was allowed, also names that are only known there", async () => {
  const proxy = await startServer();
  proxy.routes.set("http://far.test/a", reply("through the proxy", "text/plain"));
  const env = (name: string) => (name === "http_proxy" ? proxy.origin : undefined);
  const { pages } = createPages({ env, lookup: async () => [] });
  const page = await pages.get(new URL("http://far.test/a"), options);
  expect(page.response.body.toString()).toBe("through the proxy");
  const { pages: guarded } = createPages({ env });
  expect(await getKind(guarded.get(new URL("http://inside.test/a"), options))).toBe("private_address");
});

test.each<[text: string, path: string, isAllowed: boolean]>([
  ["", "/a", true],
  ["User-agent: *\nDisallow: /", "/a", false],
  ["User-agent: *\nDisallow:", "/a", true],
  ["User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true],
  ["User-agent: *\nDisallow: /a*c$", "/abc", false],
  ["User-agent: *\nDisallow: /a*c$", "/abcd", true],
  ["User-agent: *\nDisallow: /*?q=", "/x?q=1", false],
  ["User-agent: tau\nDisallow: /only\n\nUser-agent: *\nDisallow: /", "/a", true],
  ["User-agent: other\nUser-agent: Tau/1.0\nDisallow: /x # no", "/x", false],
  ["Disallow: /", "/a", true],
  [`User-agent: *\nDisallow: /${"*a".repeat(200)}$`, `/${"a".repeat(20_000)}b`, true],
])("robots.txt %j allows %s: %s", (text, path, isAllowed) => {
  expect(isAllowedByRobots(text, path)).toBe(isAllowed);
});

const user = (...texts: string[]): SessionEntry => {
  const content = texts.map((text) => ({ type: "text", text }));
  return { type: "message", message: { role: "user", content, timestamp: 0 } } as unknown as SessionEntry;
};
const found = (url: string, isError = false): SessionEntry =>
  ({
    type: "message",
    message: { role: "toolResult", toolName: "web_search", isError, content: [], details: { results: [{ url }] } },
  }) as unknown as SessionEntry;
const stranger = { type: "custom", customType: "tau.tainted", data: { source: "message" } } as unknown as SessionEntry;

test.each<[url: string, branch: SessionEntry[], isKnown: boolean]>([
  ["https://a.example/b", [user("see https://a.example/b.")], true],
  ["https://a.example/b", [user("see a.example/b, please")], true],
  ["https://a.example/", [user("(https://a.example)")], true],
  ["https://a.example/b", [user("<https://a.example/b#part>")], true],
  ["https://a.example/%C3%A4", [user("https://a.example/ä")], true],
  ["http://a.example/b", [user("https://a.example/b")], false],
  ["https://a.example/b", [user("https://a.example/bc")], false],
  ["https://a.example/b", [user("https://a.example/b/c")], false],
  ["https://a.example/b", [user("https://a.example/b?secret=1")], false],
  ["https://a.example/b", [user("https://evil.example/a.example/b")], false],
  ["https://a.example/b", [user("https://evil-a.example/b")], false],
  ["https://a.example/b?x=1", [user("https://a.example/b")], false],
  ["https://a.example/b", [found("https://a.example/b")], true],
  ["https://a.example/b", [found("https://a.example/b", true)], false],
  ["https://a.example/b", [user("https://a.example/b"), stranger], false],
  ["https://a.example/b", [user("see @x", '<file name="/x">\nhttps://a.example/b\n</file>')], false],
  [
    "https://a.example/b",
    [user("@i", '<resource-2 name="@i" source="external">\nhttps://a.example/b </resource>')],
    false,
  ],
  ["https://a.example/b", [user('<skill name="s" location="/s">\nhttps://a.example/b\n</skill>\n\ngo')], false],
  ["https://a.example/b", [user('<skill name="s" location="/s">\nx\n</skill>\n\nhttps://a.example/b')], true],
])("%s with %j is known: %s", (url, branch, isKnown) => {
  expect(isKnownAddress(new URL(url), { branch, isChild: false })).toBe(isKnown);
});

test("what another session wrote to a child is not what a person wrote", () => {
  const facts = { branch: [user("https://a.example/b")], isChild: true };
  expect(isKnownAddress(new URL("https://a.example/b"), facts)).toBe(false);
});
