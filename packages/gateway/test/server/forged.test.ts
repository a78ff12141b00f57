/** Requests that a page of another site can make a browser send. Nothing of it has an effect, and nothing of it can be read. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestGateway, type TestGateway } from "../../src/testing/index.ts";
import { formatRequest, portOf, sendRaw } from "./raw-http.ts";

let opened: TestGateway;
let effects = 0;

beforeAll(async () => {
  const run = () => ({ status: 200, body: (effects++, {}) });
  opened = await openTestGateway({
    options: {
      routes: [
        { method: "POST", path: "/effect", auth: "write", run },
        { method: "POST", path: "/open-effect", auth: "none", run },
        { method: "POST", path: "/any-effect", auth: "write", body: "any", run },
      ],
    },
  });
});
afterAll(() => opened.close());

type Headers = readonly (readonly [string, string])[];

const evil: Headers = [
  ["Origin", "https://evil.com"],
  ["Sec-Fetch-Site", "cross-site"],
];
/** Old browsers send no Sec-Fetch-Site, and some requests no Origin. */
const origins: Record<string, Headers> = {
  "another site": evil,
  "another site in an old browser": [["Origin", "https://evil.com"]],
  "a sandboxed frame": [["Origin", "null"]],
  "another port of this machine": [
    ["Origin", "http://127.0.0.1:3000"],
    ["Sec-Fetch-Site", "same-site"],
  ],
  "a link": [["Sec-Fetch-Site", "cross-site"]],
};
const json = '{"name":"evil"}';
/** Bodies that a page can send without asking first. */
const bodies: Record<string, readonly [type: string, body: string]> = {
  text: ["text/plain", json],
  form: ["application/x-www-form-urlencoded", "name=evil"],
  "form with JSON in it": ["application/x-www-form-urlencoded", `${json}=`],
  parts: ["multipart/form-data; boundary=x", '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nevil\r\n--x--'],
};
const paths = ["/pair/request", "/open-effect"];

const rows = paths.flatMap((path) =>
  Object.entries(origins).flatMap(([from, headers]) =>
    Object.entries(bodies).map(([kind, [type, body]]) => ({ path, from, kind, headers, type, body })),
  ),
);

test.each(rows)("POST $path from $from with a $kind", async ({ path, headers, type, body }) => {
  await expectNothing({ method: "POST", path, headers: [["Content-Type", type], ...headers], body });
});

const others: { name: string; method: string; path: string; headers: Headers; body?: string }[] = [
  {
    name: "JSON that was asked for",
    method: "POST",
    path: "/pair/request",
    headers: [["Content-Type", "application/json"], ...evil],
    body: json,
  },
  {
    name: "JSON without an origin",
    method: "POST",
    path: "/pair/request",
    headers: [
      ["Content-Type", "application/json"],
      ["Sec-Fetch-Site", "cross-site"],
    ],
    body: json,
  },
  {
    name: "text without an origin",
    method: "POST",
    path: "/pair/request",
    headers: [["Content-Type", "text/plain"]],
    body: json,
  },
  { name: "a body without a type", method: "POST", path: "/open-effect", headers: [], body: json },
  {
    name: "a type that only contains JSON's",
    method: "POST",
    path: "/open-effect",
    headers: [["Content-Type", "text/plain; application/json"]],
    body: json,
  },
  {
    name: "two types",
    method: "POST",
    path: "/open-effect",
    headers: [
      ["Content-Type", "application/json"],
      ["Content-Type", "text/plain"],
    ],
    body: json,
  },
  { name: "an image", method: "GET", path: "/pair/request?name=evil", headers: [["Sec-Fetch-Site", "cross-site"]] },
  { name: "an image of an effect", method: "GET", path: "/effect", headers: [["Sec-Fetch-Site", "cross-site"]] },
  {
    name: "the question before a request",
    method: "OPTIONS",
    path: "/pair/request",
    headers: [...evil, ["Access-Control-Request-Method", "POST"], ["Access-Control-Request-Headers", "content-type"]],
  },
  {
    name: "another method",
    method: "PUT",
    path: "/open-effect",
    headers: [["Content-Type", "application/json"]],
    body: json,
  },
  { name: "a method that takes away", method: "DELETE", path: "/open-effect", headers: [] },
  { name: "a method in a header", method: "GET", path: "/open-effect", headers: [["X-HTTP-Method-Override", "POST"]] },
  {
    name: "bytes without a token",
    method: "POST",
    path: "/any-effect",
    headers: [["Content-Type", "text/plain"]],
    body: json,
  },
  { name: "a tunnel", method: "CONNECT", path: "/open-effect", headers: [] },
];

test.each(others)("$name", async ({ method, path, headers, body = "" }) => {
  await expectNothing({ method, path, headers, body });
});

async function expectNothing(request: { method: string; path: string; headers: Headers; body: string }): Promise<void> {
  const { gateway } = opened;
  const port = portOf(gateway.url);
  const headers = [["Host", `127.0.0.1:${port}`] as const, ...request.headers];
  const answer = await sendRaw(port, formatRequest({ ...request, headers }));
  expect(answer.status === 0 || answer.status >= 400).toBe(true);
  expect(answer.headers).not.toMatch(/access-control/i);
  expect(effects).toBe(0);
  expect(gateway.parts.pairing.list()).toEqual([]);
  expect(gateway.parts.devices.list()).toHaveLength(1);
  expect(await gateway.parts.sessions.list()).toEqual([]);
}

test("the same requests do have their effect where they may", async () => {
  const { gateway, token } = opened;
  const port = portOf(gateway.url);
  const own: Headers = [
    ["Host", `127.0.0.1:${port}`],
    ["Content-Type", "application/json"],
    ["Origin", `http://127.0.0.1:${port}`],
    ["Sec-Fetch-Site", "same-origin"],
    ["Authorization", `Bearer ${token}`],
  ];
  for (const path of ["/effect", "/open-effect", "/any-effect", "/pair/request"]) {
    const answer = await sendRaw(port, formatRequest({ method: "POST", path, headers: own, body: json }));
    expect(answer.status).toBe(200);
  }
  expect(effects).toBe(3);
  expect(gateway.parts.pairing.list()).toMatchObject([{ name: "evil", state: "pending" }]);
});
