import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Duplex } from "node:stream";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { type Address, admitTarget, type Refusal } from "./admit.ts";
import { isPublicAddress } from "./addresses.ts";
import { formatTarget, parseHost, parseTarget } from "./host.ts";
import { createProxy } from "./proxy.ts";
import { createHostRules } from "./rules.ts";
import { getUpstreamOf } from "./upstream.ts";

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

const getPort = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

/** A web server that answers with what it was asked, and a proxy that resolves names to it. */
async function start(
  allow: readonly string[],
  addresses: Record<string, readonly Address[]> = {},
  env: Record<string, string> = {},
) {
  const web = createHttpServer((incoming, response) => {
    response.setHeader("x-seen", JSON.stringify(incoming.headers));
    response.setHeader("proxy-authenticate", "Basic");
    response.end(`${incoming.method} ${incoming.headers.host} ${incoming.url}`);
  }).listen(0, "127.0.0.1");
  await once(web, "listening");
  const refused: Refusal[] = [];
  const proxy = createProxy({
    getAllowed: () => allow.map((entry) => entry.replace("PORT", String(getPort(web)))),
    onRefused: (refusal) => refused.push(refusal),
    lookup: async (name) => addresses[name] ?? [],
    getUpstream: getUpstreamOf(env),
  });
  const door = createServer((socket) => proxy.serve(socket)).listen(0, "127.0.0.1");
  await once(door, "listening");
  closing.push(() => {
    proxy.close();
    door.close();
    web.closeAllConnections();
    web.close();
  });
  return { port: getPort(door), webPort: getPort(web), refused, serve: proxy.serve, close: () => proxy.close() };
}

async function get(port: number, url: string, headers: Record<string, string> = {}) {
  const outgoing = request({ host: "127.0.0.1", port, path: url, headers }).end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  let body = "";
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode, body, headers: response.headers };
}

async function tunnel(port: number, target: string, text: string): Promise<string> {
  const socket: Socket = connect({ host: "127.0.0.1", port });
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n${text}`);
  let answer = "";
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.includes("GET here /inside")) socket.end();
  }
  return answer;
}

test("headers that are too large are answered with 431, so that the program can say what went wrong", async () => {
  const { port, webPort } = await start(["127.0.0.1:PORT"]);
  const answer = await get(port, `http://127.0.0.1:${webPort}/`, { "x-large": "x".repeat(70_000) });
  expect(answer.status).toBe(431);
});

test("a connection that does not speak HTTP is answered with 400 and closed", async () => {
  const { port } = await start([]);
  const socket = connect({ host: "127.0.0.1", port });
  socket.write("\x16\x03\x01\x02\x00");
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
});

test("a request to a host that the list names is forwarded, without what is meant for the proxy", async () => {
  const { port, webPort, refused } = await start(["127.0.0.1:PORT"]);
  const answer = await get(port, `http://127.0.0.1:${webPort}/a?b=1`, {
    "proxy-authorization": "Basic x",
    "x-own": "1",
  });
  expect(answer).toMatchObject({ status: 200, body: `GET 127.0.0.1:${webPort} /a?b=1` });
  const seen = JSON.parse(String(answer.headers["x-seen"])) as Record<string, string>;
  expect(seen).toMatchObject({ "x-own": "1" });
  expect(seen).not.toHaveProperty("proxy-authorization");
  expect(answer.headers).not.toHaveProperty("proxy-authenticate");
  expect(refused).toEqual([]);
});

test("a tunnel leads to the host that the list names", async () => {
  const { port, webPort } = await start(["127.0.0.1:PORT"]);
  const answer = await tunnel(port, `127.0.0.1:${webPort}`, "GET /inside HTTP/1.1\r\nHost: here\r\n\r\n");
  expect(answer).toContain("200 Connection Established");
  expect(answer).toContain("GET here /inside");
});

test("with an empty list everything is refused, and it is known what was wanted", async () => {
  const { port, webPort, refused } = await start([]);
  expect((await get(port, `http://127.0.0.1:${webPort}/`)).status).toBe(403);
  expect((await get(port, "http://registry.example/x")).body).toContain("registry.example");
  expect(await tunnel(port, "registry.example:443", "")).toMatch(/^HTTP\/1\.1 403/);
  expect(await tunnel(port, "evil\u0000.example:443", "")).not.toContain("200 Connection");
  expect(refused.map(({ target, kind }) => `${target} ${kind}`)).toEqual([
    `127.0.0.1:${webPort} not_allowed`,
    "registry.example:80 not_allowed",
    "registry.example:443 not_allowed",
  ]);
});

test("a second request on the same connection is judged again", async () => {
  const { port, webPort, refused } = await start(["127.0.0.1:PORT"]);
  const socket = connect({ host: "127.0.0.1", port });
  socket.write(
    `GET http://127.0.0.1:${webPort}/one HTTP/1.1\r\nHost: a\r\n\r\nGET http://other.example/two HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  );
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  expect(answer).toContain("/one");
  expect(answer).toContain("403 Forbidden");
  expect(refused).toEqual([{ target: "other.example:80", kind: "not_allowed" }]);
});

const admit = (text: string, allow: readonly string[], addresses: readonly Address[] = []) =>
  admitTarget(parseTarget(text), createHostRules(allow), { lookup: async () => addresses });
const ip = (address: string, family: 4 | 6 = 4): Address => ({ address, family });

test("a name that leads to a private address is refused, also if it has others", async () => {
  const allow = ["registry.example"];
  const publicAddress = ip("93.184.216.34");
  expect(await admit("registry.example:443", allow, [publicAddress])).toMatchObject({ way: [publicAddress] });
  const privates = ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.0.0.0"].map((each) =>
    ip(each),
  );
  const privates6 = ["::1", "::ffff:127.0.0.1", "fd00:ec2::254", "fe80::1", "64:ff9b::a00:1", "2002:7f00:1::"].map(
    (each) => ip(each, 6),
  );
  for (const address of [...privates, ...privates6]) {
    expect(isPublicAddress(address), address.address).toBe(false);
    const outcome = await admit("registry.example:443", allow, [publicAddress, address]);
    expect(outcome).toEqual({ kind: "refused", why: "private_address" });
  }
  // What the list names literally, the person has chosen.
  expect(await admit("127.0.0.1:4873", ["127.0.0.1:4873"])).toMatchObject({ kind: "admitted" });
  expect(await admit("localhost:4873", ["localhost:4873"], [ip("127.0.0.1")])).toMatchObject({ kind: "admitted" });
});

test("a name is resolved once, and the address that was judged is the one that is dialled", async () => {
  const answers = [[ip("93.184.216.34")], [ip("127.0.0.1")]];
  let asked = 0;
  const outcome = await admitTarget(parseTarget("a.example:443"), createHostRules(["a.example"]), {
    lookup: async () => answers[asked++]!,
  });
  expect(outcome).toMatchObject({ way: [{ address: "93.184.216.34" }] });
  expect(asked).toBe(1);
});

test.each([
  "localhost.",
  "a..b",
  "-a.example",
  "a-.example",
  "a_b.example",
  "exämple.org",
  "example．org",
  "ex\u0000ample.org",
  "user@example.org",
  "example.org#",
  "example.org?",
  "0x7f000001",
  "2130706433",
  "017700000001",
  "127.1",
  "127.0.0.01",
  "0177.0.0.1",
  "1.2.3.4.5",
  "::1",
  "[::1%eth0]",
  "[]",
  "",
  " example.org",
  "example.org ",
  "example.org\r\nx",
  "a%00.example",
  "x".repeat(64),
  `${"a.".repeat(127)}toolong`,
])("%j is not a host", (text) => {
  expect(parseHost(text)).toBeUndefined();
});

test.each([
  ["example.org", "example.org:443", true],
  ["example.org", "example.org:80", true],
  ["example.org", "example.org:22", false],
  ["example.org:8443", "example.org:8443", true],
  ["example.org:8443", "example.org:443", false],
  ["example.org", "EXAMPLE.ORG:443", true],
  ["example.org", "www.example.org:443", false],
  ["example.org", "notexample.org:443", false],
  ["*.example.org", "www.example.org:443", true],
  ["*.example.org", "a.b.example.org:443", true],
  ["*.example.org", "example.org:443", false],
  ["*.example.org", "evilexample.org:443", false],
  ["*.org", "example.org:443", false],
  ["http://example.org", "example.org:443", false],
  ["example.org a", "example.org:443", false],
  ["[::1]:80", "[::1]:80", true],
])("with the entry %j, whether %j is covered: %s", (entry, target, expected) => {
  expect(createHostRules([entry]).check(parseTarget(target)!) !== "refused").toBe(expected);
});

test("whatever is asked for, only hosts of the list are ever dialled", async () => {
  const allow = ["registry.example", "*.cdn.example", "10.0.0.1:8080"];
  const pieces = fc.constantFrom(
    "registry.example",
    "cdn.example",
    "evil.example",
    "10.0.0.1",
    "127.0.0.1",
    "localhost",
    ".",
    ":",
    "@",
    "#",
    "\0",
    "%00",
    "/",
    "\\",
    " ",
    "\t",
    "\r\n",
    "443",
    "80",
    "8080",
    "[",
    "]",
    "::ffff:",
    "0x7f",
    "．",
    "ａ",
    "xn--",
    "*",
    "A",
    "-",
    "_",
    "?",
  );
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 7 }).map((parts) => parts.join("")),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const outcome = await admit(text, allow, [ip("93.184.216.34")]);
      if (outcome.kind === "refused") return;
      expect(formatTarget(outcome.target)).toMatch(
        /^(?:registry\.example:(?:80|443)|[a-z0-9.-]+\.cdn\.example:(?:80|443)|10\.0\.0\.1:8080)$/,
      );
    }),
    { numRuns: 20_000 },
  );
});

/** A proxy as companies have one: it knows names that nobody else can resolve, and wants a password. */
async function startUpstream(getWebPort: () => number, { refuses = false } = {}) {
  const seen: string[] = [];
  const authorization = `Basic ${Buffer.from("ada:pass word").toString("base64")}`;
  const upstream = createHttpServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    if (incoming.headers["proxy-authorization"] !== authorization) return void response.writeHead(407).end();
    const { pathname } = new URL(incoming.url!);
    const outgoing = request({
      host: "127.0.0.1",
      port: getWebPort(),
      path: pathname,
      headers: incoming.headers,
    }).end();
    outgoing.once("response", (answer) => answer.pipe(response.writeHead(answer.statusCode!)));
  });
  upstream.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    seen.push(`CONNECT ${incoming.url}`);
    if (refuses || incoming.headers["proxy-authorization"] !== authorization)
      return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const web = connect({ host: "127.0.0.1", port: getWebPort() });
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    web.pipe(socket).pipe(web);
    for (const end of [web, socket]) end.on("error", () => end.destroy());
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  closing.push(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const url = `http://ada:pass%20word@127.0.0.1:${getPort(upstream)}`;
  return { seen, env: { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: "direct.example" } };
}

test("the user's own proxy is used for hosts of the list, also where only it can resolve them", async () => {
  let webPort = 0;
  const { seen, env } = await startUpstream(() => webPort);
  const proxy = await start(["registry.example"], {}, env);
  webPort = proxy.webPort;
  const answer = await tunnel(proxy.port, "registry.example:443", "GET /inside HTTP/1.1\r\nHost: here\r\n\r\n");
  expect(answer).toContain("GET here /inside");
  const plain = await get(proxy.port, "http://registry.example/a", { "proxy-authorization": "Basic x" });
  expect(plain).toMatchObject({ status: 200, body: "GET registry.example /a" });
  expect(seen).toEqual(["CONNECT registry.example:443", "GET http://registry.example:80/a"]);
  expect(proxy.refused).toEqual([]);
});

test("behind the user's own proxy hosts are checked as without it, and it never hears of those that are refused", async () => {
  const { seen, env } = await startUpstream(() => 0);
  const proxy = await start(
    ["inside.example", "direct.example"],
    { "inside.example": [{ address: "10.0.0.1", family: 4 }] },
    env,
  );
  for (const target of ["other.example:443", "inside.example:443", "169.254.169.254:80", "direct.example:443"])
    expect(await tunnel(proxy.port, target, "")).toContain("403 Forbidden");
  expect(proxy.refused.map(({ kind }) => kind)).toEqual([
    "not_allowed",
    "private_address",
    "not_allowed",
    "unknown_host",
  ]);
  expect(seen).toEqual([]);
});

test("what the user's own proxy refuses is a failed connection", async () => {
  const { env } = await startUpstream(() => 0, { refuses: true });
  const proxy = await start(["registry.example"], {}, env);
  expect(await tunnel(proxy.port, "registry.example:443", "")).toContain("502 Bad Gateway");
});

test.each([
  "0.1.2.3 10.1.2.3 100.64.1.2 127.1.2.3 169.254.169.254 172.16.0.1 172.31.255.1 192.0.0.8 192.0.2.1 192.88.99.1",
  "192.168.1.1 198.18.0.1 198.19.255.1 198.51.100.1 203.0.113.1 224.0.0.1 239.1.2.3 240.0.0.1 255.255.255.255",
  ":: ::1 ::127.0.0.1 ::ffff:10.0.0.1 64:ff9b::a00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:a00:1::1 3fff::1",
  "5f00::1 fc00::1 fd12::1 fe80::1 fec0::1 ff02::1 ::ffff:0:10.0.0.1 1::1 200::1 4000::1 7fff::1 8000::1 e000::1",
])("none of these is an address on the internet: %s", (addresses) => {
  const isPublic = (address: string) => isPublicAddress({ address, family: address.includes(":") ? 6 : 4 });
  expect(addresses.split(" ").filter(isPublic)).toEqual([]);
  expect(
    ["1.1.1.1", "172.32.0.1", "192.0.1.1", "2606:4700::1", "2a00::1", "2001:4860::1", "3ffe::1"].every(isPublic),
  ).toBe(true);
});

test.each(["a.example:0", "a.example:65536", "a.example:99999"])(
  "a port that does not exist is no target: %s",
  (text) => {
    expect(parseTarget(text)).toBeUndefined();
  },
);

test("the address that was checked is dialled, and not the name again", async ({ skip }) => {
  // Other systems have one address of loopback only.
  skip(process.platform !== "linux");
  const web = createHttpServer((_incoming, response) => response.end("GET here /inside")).listen(0, "127.0.0.7");
  await once(web, "listening");
  closing.push(() => web.close());
  const target = `localhost:${getPort(web)}`;
  const proxy = createProxy({
    getAllowed: () => [target],
    onRefused: () => undefined,
    lookup: async () => [{ address: "127.0.0.7", family: 4 }],
  });
  const door = createServer((socket) => proxy.serve(socket)).listen(0, "127.0.0.1");
  await once(door, "listening");
  closing.push(() => (proxy.close(), door.close()));
  expect(await get(getPort(door), `http://${target}/`)).toMatchObject({ status: 200 });
  expect(await tunnel(getPort(door), target, "GET / HTTP/1.0\r\n\r\n")).toContain("GET here /inside");
});

test("a tunnel ends with the proxy", async () => {
  const { port, webPort, close } = await start(["127.0.0.1:PORT"]);
  const socket = connect({ host: "127.0.0.1", port });
  socket.write(`CONNECT 127.0.0.1:${webPort} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(socket, "data");
  close();
  await once(socket, "close");
});

async function startImpatient(target: string, connectMs: number) {
  const proxy = createProxy({ getAllowed: () => [target], onRefused: () => undefined, connectMs });
  const door = createServer((socket) => proxy.serve(socket)).listen(0, "127.0.0.1");
  await once(door, "listening");
  closing.push(() => (proxy.close(), door.close()));
  return getPort(door);
}

test("a host that accepts no connection is given up, and one that only takes long to answer is not", async ({
  skip,
}) => {
  skip(process.platform !== "linux");
  // It listens and never accepts, so that the system lets connections wait once its queue is full.
  const script = `require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () {
    require("node:fs").writeSync(1, String(this.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000);
  })`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  closing.push(() => child.kill("SIGKILL"));
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  const full = `127.0.0.1:${String(text)}`;
  for (let count = 0; count < 8; count++) {
    const waiting = connect({ host: "127.0.0.1", port: Number(String(text)) }).on("error", () => undefined);
    closing.push(() => waiting.destroy());
  }
  expect((await get(await startImpatient(full, 50), `http://${full}/`)).status).toBe(502);

  const slow = createHttpServer((_incoming, response) => void setTimeout(() => response.end("late"), 2_300));
  slow.listen(0, "127.0.0.1");
  await once(slow, "listening");
  closing.push(() => slow.close());
  const target = `127.0.0.1:${getPort(slow)}`;
  expect(await get(await startImpatient(target, 2_000), `http://${target}/`)).toMatchObject({
    status: 200,
    body: "late",
  });
});

/** A server that does not speak HTTP: `onConnection` answers. */
async function startRaw(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer(onConnection).listen(0, "127.0.0.1");
  closing.push(() => server.close());
  await once(server, "listening");
  return getPort(server);
}

test("a client that reads slowly gets all that a host sent before it closed the connection", async () => {
  const rawPort = await startRaw((socket) => socket.end("all of it"));
  const { serve } = await start([`127.0.0.1:${rawPort}`]);
  let received = "";
  const client = new Duplex({
    read: () => undefined,
    write(chunk, _encoding, done) {
      let turns = 50;
      const wait = () => {
        if (turns-- > 0) return void setImmediate(wait);
        received += String(chunk);
        done();
      };
      wait();
    },
  });
  serve(client);
  client.push(`CONNECT 127.0.0.1:${rawPort} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(client, "close");
  expect(received).toBe("HTTP/1.1 200 Connection Established\r\n\r\nall of it");
});

test("the body of a request keeps its limits, so that it cannot hold another request", async () => {
  let seen = "";
  const rawPort = await startRaw((socket) => {
    socket.on("data", (chunk) => {
      seen += String(chunk);
      if (seen.includes("/second")) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
  });
  const { port } = await start([`127.0.0.1:${rawPort}`]);
  const inner = "GET http://other.example/second HTTP/1.1\r\n\r\n";
  const socket = connect({ host: "127.0.0.1", port });
  socket.write(
    `DELETE http://127.0.0.1:${rawPort}/first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
  );
  await once(socket, "data");
  socket.destroy();
  const [head, body] = seen.split(/\r\n\r\n([^]*)/);
  expect(head).toMatch(/transfer-encoding: chunked/i);
  expect(body).toMatch(new RegExp(`^${inner.length.toString(16)}\r\n`));
});

test("the next address of a host is dialled if the first does not take the connection", async () => {
  const { port, webPort } = await start(["localhost:PORT"], { localhost: [ip("::1", 6), ip("127.0.0.1")] });
  expect(await get(port, `http://localhost:${webPort}/a`)).toMatchObject({ status: 200 });
  const answer = await tunnel(port, `localhost:${webPort}`, "GET /inside HTTP/1.1\r\nHost: here\r\n\r\n");
  expect(answer).toContain("GET here /inside");
});
