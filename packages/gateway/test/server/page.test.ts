/** The files of the page: only these, with headers that let nothing else run, and what HTTP is limited to. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestGateway, type TestGateway } from "../../src/testing/index.ts";
import { formatRequest, portOf, sendRaw } from "./raw-http.ts";

let opened: TestGateway;
let directory: string;
let url: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tau-page-"));
  const page = join(directory, "page");
  await mkdir(join(page, "assets"), { recursive: true });
  await writeFile(join(directory, "private.txt"), "private");
  await writeFile(join(page, "index.html"), "<!doctype html><title>tau</title>");
  await writeFile(join(page, "favicon.svg"), "<svg/>");
  await writeFile(join(page, "assets", "index-B3x_Yz12.js"), "1");
  opened = await openTestGateway({
    options: {
      pageDirectory: page,
      routes: [
        {
          method: "POST",
          path: "/echo/:name",
          auth: "none",
          run: ({ names, body }) => ({ status: 200, body: { names, body } }),
        },
      ],
    },
  });
  // What is put there later is not part of the page.
  await symlink(join(directory, "private.txt"), join(page, "late.txt"));
  url = opened.gateway.url.replace("ws", "http");
});
afterAll(async () => {
  await opened.close();
  await rm(directory, { recursive: true });
});

test("the page is served without a token, and lets nothing run that is not its own", async () => {
  const response = await fetch(`${url}/`);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("<title>tau</title>");
  const { headers } = response;
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("x-frame-options")).toBe("DENY");
  expect(headers.get("cache-control")).toBe("no-cache");
  expect(headers.get("set-cookie")).toBeNull();
  const policy = headers.get("content-security-policy")!;
  expect(policy).toMatch(/^default-src 'self'; script-src 'self'; style-src 'self'; /);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain(`connect-src 'self' ws://127.0.0.1:${portOf(opened.gateway.url)} `);
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
});

test("a file whose name has a hash is kept for ever, and others are asked for again", async () => {
  const hashed = await fetch(`${url}/assets/index-B3x_Yz12.js`);
  expect(hashed.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(hashed.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect((await fetch(`${url}/favicon.svg?x=1`)).headers.get("cache-control")).toBe("no-cache");
  const head = await fetch(`${url}/`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test.each([
  "/../private.txt",
  "/assets/../../private.txt",
  "/%2e%2e/private.txt",
  "/..%2fprivate.txt",
  "/..\\private.txt",
  "/late.txt",
  "/assets",
  "/assets/",
  "/index.html/",
  "//index.html",
  "/index.html%00.js",
  "/private.txt",
])("%s leads nowhere", async (path) => {
  const port = portOf(opened.gateway.url);
  const answer = await sendRaw(port, formatRequest({ path, headers: [["Host", `127.0.0.1:${port}`]] }));
  expect(answer.status).toBe(404);
  expect(answer.body).not.toContain("private\n");
});

test("POST to a page's file is no way to read it", async () => {
  expect((await fetch(`${url}/index.html`, { method: "POST" })).status).toBe(404);
});

const post = (
  body: string,
  headers: Record<string, string> = { "content-type": "application/json" },
  path = "/echo/x",
) => fetch(`${url}${path}`, { method: "POST", headers, body });

test("bodies are JSON of limited size", async () => {
  expect(await (await post('{"a":1}')).json()).toEqual({ names: { name: "x" }, body: { a: 1 } });
  expect((await post('{"a":1}', { "content-type": "application/json; charset=utf-8" })).status).toBe(200);
  for (const body of ["", "{", "\u0000", "[".repeat(100_000) + "]".repeat(100_000)])
    expect((await post(body)).status).toBe(400);
  expect((await post(JSON.stringify("x".repeat(1024 * 1024)))).status).toBe(413);
  expect((await post("{}", { "content-type": "application/json" }, "/echo/a%2fb")).status).toBe(404);
});

test("a body that is sent in pieces without a length is limited too", async () => {
  const port = portOf(opened.gateway.url);
  const head = `POST /echo/x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const piece = `10000\r\n${"x".repeat(0x1_0000)}\r\n`;
  expect((await sendRaw(port, head + piece.repeat(17))).status).toBe(413);
});

test("two lengths, a length and pieces, and too many headers are refused", async () => {
  const port = portOf(opened.gateway.url);
  const start = `POST /echo/x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`;
  const smuggled = `${start}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
  expect((await sendRaw(port, smuggled)).status).toBe(400);
  const twice = await sendRaw(port, `${start}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`);
  expect([400, 403]).toContain(twice.status);
  expect((await sendRaw(port, `${start}X: ${"x".repeat(20_000)}\r\n\r\n`)).status).toBe(431);
  expect((await sendRaw(port, "\u0016\u0003\u0001 no HTTP at all\r\n\r\n")).status).toBe(400);
});

test.each(["h2c", "TLS/1.0, HTTP/1.1", "Foo"])(
  "a program that asks for %s is answered as if it had not",
  async (upgrade) => {
    const port = portOf(opened.gateway.url);
    const headers = [
      ["Host", `127.0.0.1:${port}`],
      ["Connection", "Upgrade, HTTP2-Settings"],
      ["Upgrade", upgrade],
      ["HTTP2-Settings", "AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA"],
      ["Content-Type", "application/json"],
    ] as const;
    expect((await sendRaw(port, formatRequest({ path: "/health", headers }))).status).toBe(200);
    const answer = await sendRaw(port, formatRequest({ method: "POST", path: "/echo/x", headers, body: '{"a":"b"}' }));
    expect(answer).toMatchObject({ status: 200 });
    const strange = [["Host", "evil.example"], ...headers.slice(1)] as const;
    expect((await sendRaw(port, formatRequest({ path: "/health", headers: strange }))).status).toBe(403);
  },
);

test("a client that does not read its answers is cut off", { timeout: 60_000 }, async ({ skip }) => {
  if (!process.env["TAU_LONG"]) skip("It takes 30 seconds; set TAU_LONG=1.");
  const port = portOf(opened.gateway.url);
  const socket = createConnection(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write(formatRequest({ headers: [["Host", `127.0.0.1:${port}`]] }).repeat(20_000));
  await once(socket, "close");
});

test("a failure of ours is told without its reason, which is in the log", async () => {
  const failing = await openTestGateway({
    options: {
      routes: [
        {
          method: "GET",
          path: "/fails",
          auth: "none",
          run: () => {
            throw new Error("a path such as /home/me");
          },
        },
      ],
    },
  });
  const response = await fetch(`${failing.gateway.url.replace("ws", "http")}/fails`);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain("/home/me");
  expect(failing.logged.join("\n")).toContain("GET /fails: a path such as /home/me");
  await failing.close();
});
