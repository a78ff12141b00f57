/** Names of the gateway, origins of pages, and tokens, against the real server: which requests are let in. */
import { once } from "node:events";
import { WebSocket } from "ws";
import { type ClientSocket, GatewayClient } from "@tau/protocol/client";
import { createProof, importToken } from "@tau/protocol/gateway";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestGateway, type TestGateway } from "../../src/testing/index.ts";
import { formatRequest, portOf, sendRaw, upgradeHeaders } from "./raw-http.ts";

let opened: TestGateway;
let port: number;

beforeAll(async () => {
  opened = await openTestGateway({
    settings: {
      gateway: {
        allowedHosts: ["tau.example.com:443", "Other.Example.com:8443"],
        allowedOrigins: ["https://tau.example.com"],
      },
    },
    options: {
      routes: [{ method: "GET", path: "/secret", auth: "read", run: () => ({ status: 200, body: "secret" }) }],
    },
  });
  port = portOf(opened.gateway.url);
});
afterAll(() => opened.close());

type Row = [name: string, headers: [string, string][], status: number];

const P = "PORT";
const good = `127.0.0.1:${P}`;
const fill = (text: string) => text.replaceAll(P, String(port));
const fillAll = (headers: readonly (readonly [string, string])[]) =>
  headers.map(([name, value]) => [name, fill(value)] as const);

/** Rows for a WebSocket and for a page's files too; 200 stands for 101 there. */
const places: Row[] = [
  ["the address", [["Host", good]], 200],
  ["the name of this machine", [["Host", `localhost:${P}`]], 200],
  ["in capital letters", [["Host", `LOCALHOST:${P}`]], 200],
  ["the IPv6 address", [["Host", `[::1]:${P}`]], 200],
  ["a name in the settings", [["Host", "tau.example.com:443"]], 200],
  ["that name without its usual port", [["Host", "tau.example.com"]], 200],
  ["another name in the settings", [["Host", "other.example.com:8443"]], 200],
  ["that name without its own port", [["Host", "other.example.com"]], 403],
  ["no name", [], 403],
  ["an empty name", [["Host", ""]], 403],
  [
    "two names",
    [
      ["Host", good],
      ["Host", good],
    ],
    403,
  ],
  [
    "two names, the first of a stranger",
    [
      ["Host", "evil.com"],
      ["Host", good],
    ],
    403,
  ],
  ["the address without a port", [["Host", "127.0.0.1"]], 403],
  ["another port", [["Host", "127.0.0.1:1"]], 403],
  ["a stranger", [["Host", "evil.com"]], 403],
  ["a stranger with the port", [["Host", `evil.com:${P}`]], 403],
  ["a name that begins like the address", [["Host", `127.evil.com:${P}`]], 403],
  ["a name below the address", [["Host", `127.0.0.1.evil.com:${P}`]], 403],
  ["a name that begins like this machine's", [["Host", `localhost.evil.com:${P}`]], 403],
  ["a name that ends like this machine's", [["Host", `evil-localhost:${P}`]], 403],
  ["all addresses", [["Host", `0.0.0.0:${P}`]], 403],
  ["another loopback address", [["Host", `127.0.0.2:${P}`]], 403],
  ["the address as one number", [["Host", `2130706433:${P}`]], 403],
  ["the address in octal digits", [["Host", `0177.0.0.1:${P}`]], 403],
  ["a mapped address", [["Host", `[::ffff:127.0.0.1]:${P}`]], 403],
  ["a trailing dot", [["Host", `localhost.:${P}`]], 403],
  ["a user before it", [["Host", `evil.com@127.0.0.1:${P}`]], 403],
  [
    "the own origin",
    [
      ["Host", good],
      ["Origin", `http://127.0.0.1:${P}`],
    ],
    200,
  ],
  [
    "the own origin by name",
    [
      ["Host", good],
      ["Origin", `http://localhost:${P}`],
    ],
    200,
  ],
  [
    "an origin in the settings",
    [
      ["Host", good],
      ["Origin", "https://tau.example.com"],
    ],
    200,
  ],
  [
    "that origin without encryption",
    [
      ["Host", good],
      ["Origin", "http://tau.example.com"],
    ],
    403,
  ],
  [
    "the own origin with encryption",
    [
      ["Host", good],
      ["Origin", `https://127.0.0.1:${P}`],
    ],
    403,
  ],
  [
    "the own origin with another port",
    [
      ["Host", good],
      ["Origin", "http://127.0.0.1:1"],
    ],
    403,
  ],
  [
    "the own origin without a port",
    [
      ["Host", good],
      ["Origin", "http://127.0.0.1"],
    ],
    403,
  ],
  [
    "no origin to speak of",
    [
      ["Host", good],
      ["Origin", "null"],
    ],
    403,
  ],
  [
    "an empty origin",
    [
      ["Host", good],
      ["Origin", ""],
    ],
    403,
  ],
  [
    "another page",
    [
      ["Host", good],
      ["Origin", "https://evil.com"],
    ],
    403,
  ],
  [
    "a page with a similar name",
    [
      ["Host", good],
      ["Origin", `http://127.0.0.1:${P}.evil.com`],
    ],
    403,
  ],
  [
    "a page below a similar name",
    [
      ["Host", good],
      ["Origin", "https://tau.example.com.evil.com"],
    ],
    403,
  ],
  [
    "a page on another subdomain",
    [
      ["Host", good],
      ["Origin", "https://x.tau.example.com"],
    ],
    403,
  ],
  [
    "a file",
    [
      ["Host", good],
      ["Origin", "file://"],
    ],
    403,
  ],
  [
    "an extension of the browser",
    [
      ["Host", good],
      ["Origin", "chrome-extension://abcdefgh"],
    ],
    403,
  ],
  [
    "two origins",
    [
      ["Host", good],
      ["Origin", `http://127.0.0.1:${P}`],
      ["Origin", "https://evil.com"],
    ],
    403,
  ],
  [
    "two origins in one",
    [
      ["Host", good],
      ["Origin", `http://127.0.0.1:${P} https://evil.com`],
    ],
    403,
  ],
  [
    "an origin with a path",
    [
      ["Host", good],
      ["Origin", `http://127.0.0.1:${P}/`],
    ],
    403,
  ],
];

describe.each(places)("%s", (_name, headers, status) => {
  test("for HTTP", async () => {
    const answer = await sendRaw(port, formatRequest({ path: "/health", headers: fillAll(headers) }));
    expect(answer.status).toBe(status);
    expect(answer.headers).not.toMatch(/access-control/i);
  });

  test("for a WebSocket", async () => {
    const answer = await sendRaw(port, formatRequest({ headers: [...fillAll(headers), ...upgradeHeaders] }));
    // Pages read why they are refused only in a WebSocket.
    const names = headers.map(([name]) => name);
    const isWrongOrigin = status === 403 && names.join() === "Host,Origin";
    expect(answer.status).toBe(status === 200 || isWrongOrigin ? 101 : status);
    expect(answer.body.includes("connect.challenge") && status !== 200).toBe(false);
  });
});

test("an origin that is not allowed is named to its client and, once, in the log", async () => {
  const message =
    'Pages of the origin "http://localhost:3000" may not use this gateway. Its setting gateway.allowedOrigins can name it.';
  const headers = [
    ["Host", fill(good)],
    ["Origin", "http://localhost:3000"],
  ] as const;
  const answer = await sendRaw(port, formatRequest({ path: "/health", headers }));
  expect([answer.status, JSON.parse(answer.body)]).toEqual([403, { error: expect.objectContaining({ message }) }]);
  const { token } = opened;
  const client = new GatewayClient({
    url: opened.gateway.url,
    deviceId: "local",
    key: token,
    createSocket: (url) => new WebSocket(url, { origin: "http://localhost:3000" }) as unknown as ClientSocket,
  });
  await expect(client.connect()).rejects.toMatchObject({ code: "forbidden", message });
  expect(client.state.kind).toBe("refused");
  client.close();
  const socket = new WebSocket(opened.gateway.url, { origin: "http://localhost:3000" });
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  expect([code, message.startsWith(reason.toString())]).toEqual([1008, true]);
  expect(opened.logged.filter((line) => line.includes("http://localhost:3000"))).toHaveLength(1);
});

const tokens: [name: string, headers: [string, string][], status: number][] = [
  ["no token", [], 401],
  ["the token", [["Authorization", "Bearer TOKEN"]], 200],
  ["the token, the scheme in lower case", [["Authorization", "bearer TOKEN"]], 200],
  ["a wrong token", [["Authorization", "Bearer wrong"]], 401],
  ["the beginning of the token", [["Authorization", "Bearer START"]], 401],
  ["the token and more", [["Authorization", "Bearer TOKENx"]], 401],
  ["an empty token", [["Authorization", "Bearer "]], 401],
  ["the token as a password", [["Authorization", "Basic TOKEN"]], 401],
  ["the token alone", [["Authorization", "TOKEN"]], 401],
  [
    "two tokens",
    [
      ["Authorization", "Bearer wrong"],
      ["Authorization", "Bearer TOKEN"],
    ],
    403,
  ],
  ["a cookie", [["Cookie", "token=TOKEN; authorization=Bearer TOKEN"]], 401],
  [
    "the token from another page",
    [
      ["Authorization", "Bearer TOKEN"],
      ["Origin", "https://evil.com"],
    ],
    403,
  ],
];

test.each(tokens)("a request with %s", async (_name, headers, status) => {
  const { token } = opened;
  const filled = headers.map(([name, value]) => {
    const text = value.replaceAll("TOKEN", token).replaceAll("START", token.slice(0, -1));
    return [name, text] as const;
  });
  const answer = await sendRaw(port, formatRequest({ path: "/secret", headers: [["Host", fill(good)], ...filled] }));
  expect(answer.status).toBe(status);
  expect(answer.body.includes("secret")).toBe(status === 200);
});

test("a device without the scope of a route gets no further", async () => {
  const { token } = await opened.gateway.parts.devices.add({ name: "Writer", scopes: ["write"] });
  const headers = [
    ["Host", fill(good)],
    ["Authorization", `Bearer ${token}`],
  ] as const;
  const answer = await sendRaw(port, formatRequest({ path: "/secret", headers }));
  expect(answer.status).toBe(403);
  expect(answer.body).toContain("needs the scope read");
});

test("compression is offered to nobody", async () => {
  const offer = ["Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits"] as const;
  const answer = await sendRaw(port, formatRequest({ headers: [["Host", fill(good)], offer, ...upgradeHeaders] }));
  expect(answer.status).toBe(101);
  expect(answer.headers).not.toMatch(/extensions/i);
});

test.each(["/secret?token=TOKEN", "/secret?access_token=TOKEN", "/secret#TOKEN"])(
  "a token in the address %s is none",
  async (path) => {
    const line = path.replace("TOKEN", opened.token);
    const answer = await sendRaw(port, formatRequest({ path: line, headers: [["Host", fill(good)]] }));
    expect(answer.status).toBe(401);
  },
);

test.each(["/?token=TOKEN", "/ws", "//", "http://127.0.0.1/"])("a WebSocket is not opened at %s", async (path) => {
  const line = path.replace("TOKEN", opened.token);
  const headers = [["Host", fill(good)], ...upgradeHeaders] as const;
  expect((await sendRaw(port, formatRequest({ path: line, headers }))).status).toBe(404);
});

describe("over a WebSocket", () => {
  const attempts: [
    name: string,
    change: (right: { nonce: string; deviceId: string }, token: string) => Promise<object>,
    code: string,
  ][] = [
    ["a proof with another token", async (right) => ({ proof: await prove("another", right) }), "unauthorized"],
    [
      "a proof for another nonce",
      async (right, token) => ({ proof: await prove(token, { ...right, nonce: "0" }) }),
      "unauthorized",
    ],
    [
      "a proof for another device",
      async (right, token) => ({ proof: await prove(token, { ...right, deviceId: "x" }) }),
      "unauthorized",
    ],
    [
      "a device that does not exist",
      async (right, token) => ({ deviceId: "x", proof: await prove(token, { ...right, deviceId: "x" }) }),
      "unauthorized",
    ],
    ["the token itself in the place of a proof", async (_right, token) => ({ proof: token }), "unauthorized"],
    ["an empty proof", async () => ({ proof: "" }), "unauthorized"],
    ["a field besides", async (right, token) => ({ proof: await prove(token, right), token }), "invalid_parameters"],
    [
      "scopes that do not exist",
      async (right, token) => ({ proof: await prove(token, right), scopes: ["root"] }),
      "invalid_parameters",
    ],
    [
      "a later protocol",
      async (right, token) => ({ proof: await prove(token, right), minProtocol: 3, maxProtocol: 4 }),
      "unsupported_protocol",
    ],
  ];
  const prove = async (token: string, input: { nonce: string; deviceId: string }) =>
    await createProof(await importToken(token), input);

  test.each(attempts)("%s is refused, and the connection is closed with 1008", async (_name, change, code) => {
    const socket = new WebSocket(opened.gateway.url);
    const frames: { payload?: { nonce: string }; error?: { code: string; message: string } }[] = [];
    socket.on("message", (data: Buffer) => frames.push(JSON.parse(data.toString())));
    const closed = new Promise<number>((resolve) => socket.once("close", resolve));
    await expect.poll(() => frames.length).toBe(1);
    const right = { nonce: frames[0]!.payload!.nonce, deviceId: "local" };
    const params = { minProtocol: 2, maxProtocol: 2, client: { name: "test", version: "1" }, deviceId: "local" };
    const changed = await change(right, opened.token);
    socket.send(JSON.stringify({ type: "req", id: "1", method: "connect", params: { ...params, ...changed } }));
    expect(await closed).toBe(1008);
    expect(frames[1]!.error!.code).toBe(code);
    if (code === "unsupported_protocol") expect(frames[1]!.error!.message).toContain("version 2");
  });

  test("a captured proof is worth nothing on another connection", async () => {
    const first = await openChallenge();
    const proof = await prove(opened.token, { nonce: first.nonce, deviceId: "local" });
    const second = await openChallenge();
    const params = { minProtocol: 2, maxProtocol: 2, client: { name: "test", version: "1" }, deviceId: "local", proof };
    second.socket.send(JSON.stringify({ type: "req", id: "1", method: "connect", params }));
    expect(await second.closed).toBe(1008);
    first.socket.close();
  });

  test("before connect, nothing else is answered", async () => {
    const { socket, closed } = await openChallenge();
    socket.send(JSON.stringify({ type: "req", id: "1", method: "health" }));
    expect(await closed).toBe(1008);
  });

  async function openChallenge() {
    const socket = new WebSocket(opened.gateway.url);
    const closed = new Promise<number>((resolve) => socket.once("close", resolve));
    const nonce = await new Promise<string>((resolve) =>
      socket.once("message", (data: Buffer) => resolve(JSON.parse(data.toString()).payload.nonce)),
    );
    return { socket, closed, nonce };
  }
});
