import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createProxiedFetch } from "./proxied-fetch.ts";

/** A proxy that answers itself. */
async function openProxy(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return createProxiedFetch((name) => ({ http_proxy: proxy, NO_PROXY: "direct.invalid" })[name]);
}

test("a request goes through the proxy with its method, headers and text", async () => {
  const fetch = await openProxy((request, response) => {
    const { method, url, headers } = request;
    const seen = { method, url, type: headers["content-type"], own: headers["x-own"] };
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => response.end(JSON.stringify({ ...seen, body })));
  });
  const send = async (init: RequestInit) => await (await fetch("http://host.invalid/a?b=1", init)).json();
  expect(await send({ method: "POST", body: "text", headers: { "x-own": "yes" } })).toMatchObject({
    method: "POST",
    url: "http://host.invalid/a?b=1",
    own: "yes",
    body: "text",
  });
  expect(await send({ method: "POST", body: new URLSearchParams({ c: "d" }) })).toMatchObject({
    type: "application/x-www-form-urlencoded;charset=UTF-8",
    body: "c=d",
  });
  expect(await send({ method: "DELETE" })).toMatchObject({ method: "DELETE", body: "" });
});

test("redirects that must not be followed are the response, and so is one to another host", async () => {
  const fetch = await openProxy((request, response) => {
    const { pathname } = new URL(request.url!);
    const location = pathname === "/away" ? "http://evil.invalid/" : "/there";
    if (pathname === "/there") response.end("there");
    else response.writeHead(307, { location }).end();
  });
  const ask = async (path: string, redirect: RequestRedirect) =>
    (await fetch(`http://host.invalid${path}`, { redirect })).status;
  expect(await ask("/here", "follow")).toBe(200);
  expect(await ask("/here", "manual")).toBe(307);
  expect(await ask("/away", "follow")).toBe(307);
});

test("a body is read as it comes, and ends with the signal", async () => {
  const fetch = await openProxy((_request, response) => {
    response.write("first");
  });
  const controller = new AbortController();
  const { body } = await fetch("http://host.invalid/", { signal: controller.signal });
  const reader = body!.getReader();
  expect(Buffer.from((await reader.read()).value!).toString()).toBe("first");
  controller.abort();
  await expect(reader.read()).rejects.toThrow("abort");
});

test("a status without a body has none, and addresses without a proxy are reached directly", async () => {
  const fetch = await openProxy((_request, response) => void response.writeHead(204).end());
  expect((await fetch("http://host.invalid/")).body).toBeNull();
  await expect(fetch("http://direct.invalid/")).rejects.toThrow("fetch failed");
});
