import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { classifyThrown } from "../src/failure.ts";
import { readText, type SendOptions } from "../src/transport/http.ts";
import { send } from "../src/transport/node-http.ts";

const servers: Server[] = [];

const sockets = new Set<Socket>();

const listen = async (server: Server): Promise<number> => {
  servers.push(server);
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

const options = (env: Record<string, string> = {}, signal = new AbortController().signal): SendOptions => ({
  signal,
  env: (name) => env[name],
});

const post = async (url: string, settings = options()) => {
  const response = await send(
    { method: "POST", url, headers: { authorization: "Bearer secret" }, body: "ping" },
    settings,
  );
  return { status: response.status, text: await readText(response.body, 1_000_000) };
};

const echo: http.RequestListener = (request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => response.end(`${request.method} ${request.url} ${body}`));
};

test("a request arrives as it was meant", async () => {
  const port = await listen(http.createServer(echo));
  expect(await post(`http://127.0.0.1:${port}/v1/x?y=1`)).toEqual({ status: 200, text: "POST /v1/x?y=1 ping" });
});

test("connections are kept and used again", async () => {
  const port = await listen(http.createServer(echo));
  for (let turn = 0; turn < 3; turn++) await post(`http://127.0.0.1:${port}/`);
  expect(sockets.size).toBe(1);
});

test("no request is lost to a kept connection that the server has closed meanwhile", async () => {
  let dropped = false;
  const port = await listen(
    http.createServer((request, response) => {
      if (request.url !== "/again" || dropped) return echo(request, response);
      dropped = true;
      request.socket.destroy();
    }),
  );
  await post(`http://127.0.0.1:${port}/`);
  expect(await post(`http://127.0.0.1:${port}/again`)).toEqual({ status: 200, text: "POST /again ping" });
  expect(dropped).toBe(true);
});

test("a kept connection that is reset in the middle of an answer is an error, and nothing is sent again", async () => {
  const seen: string[] = [];
  let reset = () => {};
  const port = await listen(
    http.createServer((request, response) => {
      seen.push(request.url!);
      if (request.url !== "/cut") return echo(request, response);
      reset = () => request.socket.resetAndDestroy();
      response.write("half");
    }),
  );
  await post(`http://127.0.0.1:${port}/`);
  const abort = new AbortController();
  const readCutAnswer = async () => {
    const request = { method: "POST" as const, url: `http://127.0.0.1:${port}/cut`, headers: {}, body: "ping" };
    const response = await send(request, options({}, abort.signal));
    for await (const chunk of response.body) if (chunk.length > 0) reset();
  };
  await expect(readCutAnswer()).rejects.toMatchObject({ code: "ECONNRESET" });
  abort.abort();
  await post(`http://127.0.0.1:${port}/after`);
  expect(seen).toEqual(["/", "/cut", "/after"]);
});

test("a new connection that is dropped is an error: the request may have been taken", async () => {
  const port = await listen(http.createServer((request) => request.socket.destroy()));
  await expect(post(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("a compressed answer is understood although none was asked for", async () => {
  const port = await listen(
    http.createServer((request, response) => {
      expect(request.headers["accept-encoding"]).toBe("identity");
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync("unpacked"));
    }),
  );
  expect(await post(`http://127.0.0.1:${port}/`)).toEqual({ status: 200, text: "unpacked" });
});

test("aborting ends a request that waits for its answer", async () => {
  const abort = new AbortController();
  const port = await listen(http.createServer(() => abort.abort()));
  await expect(post(`http://127.0.0.1:${port}/`, options({}, abort.signal))).rejects.toMatchObject({
    name: "AbortError",
  });
});

describe("redirects", () => {
  const redirecting = (status: number, location: string) =>
    http.createServer((request, response) => {
      if (request.url === "/moved") return echo(request, response);
      response.writeHead(status, { location }).end();
    });

  test.each([307, 308])("%s on the same host is followed with the body", async (status) => {
    const port = await listen(redirecting(status, "/moved"));
    expect(await post(`http://127.0.0.1:${port}/`)).toEqual({ status: 200, text: "POST /moved ping" });
  });

  test.each([301, 302, 303])("%s would lose the body and is reported instead", async (status) => {
    const port = await listen(redirecting(status, "/moved"));
    expect((await post(`http://127.0.0.1:${port}/`)).status).toBe(status);
  });

  test("another host, another port and a loop are not followed", async () => {
    let reached = 0;
    const other = await listen(http.createServer((_request, response) => response.end(`${++reached}`)));
    for (const location of [
      `http://localhost:${other}/`,
      `http://127.0.0.1:${other}/`,
      `//127.0.0.1:${other}/`,
      "http://[bad",
    ]) {
      const port = await listen(redirecting(307, location));
      expect((await post(`http://127.0.0.1:${port}/`)).status).toBe(307);
    }
    expect(reached).toBe(0);
    const loop = await listen(redirecting(307, "/"));
    await expect(post(`http://127.0.0.1:${loop}/`)).rejects.toThrow(/more than 3 times/);
  });
});

test("plain HTTP goes through a proxy with the whole URL and the proxy's own credentials", async () => {
  const seen: unknown[] = [];
  const proxy = await listen(
    http.createServer((request, response) => {
      seen.push(request.url, request.headers.host, request.headers["proxy-authorization"]);
      response.end("proxied");
    }),
  );
  const env = { HTTP_PROXY: `http://me:p%40ss@127.0.0.1:${proxy}` };
  expect(await post("http://service.test:81/v1", options(env))).toEqual({ status: 200, text: "proxied" });
  expect(seen).toEqual(["http://service.test:81/v1", "service.test:81", `Basic ${btoa("me:p@ss")}`]);
});

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
if (!hasOpenssl) console.warn("TLS tests are skipped: openssl is not installed, and they need a certificate.");

describe.skipIf(!hasOpenssl)("TLS", () => {
  let directory: string;
  let certificate: { cert: string; key: string; path: string };

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "tau-tls-"));
    const path = join(directory, "cert.pem");
    const key = join(directory, "key.pem");
    const subject = [
      "-subj",
      "/CN=service.test",
      "-addext",
      "subjectAltName=DNS:service.test,IP:127.0.0.1,IP:192.0.2.1",
    ];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", path, ...subject],
      {
        stdio: "ignore",
      },
    );
    certificate = { cert: readFileSync(path, "utf8"), key: readFileSync(key, "utf8"), path };
  });

  afterAll(() => rmSync(directory, { recursive: true }));

  const tunnel = (client: Socket, port: number) => {
    const upstream = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
  };

  const secureServer = () => https.createServer(certificate, echo);

  test("a certificate that is not trusted is refused, with advice", async () => {
    const port = await listen(secureServer());
    const error = await post(`https://127.0.0.1:${port}/`).catch((reason: unknown) => reason);
    expect(classifyThrown(error)).toMatchObject({ kind: "auth" });
    expect(classifyThrown(error).message).toContain("NODE_EXTRA_CA_CERTS");
  });

  test("an extra certificate authority is trusted", async () => {
    const port = await listen(secureServer());
    expect((await post(`https://127.0.0.1:${port}/ok`, options({ SSL_CERT_FILE: certificate.path }))).text).toBe(
      "POST /ok ping",
    );
  });

  test("HTTPS goes through a proxy's tunnel, and the key stays inside it", async () => {
    const port = await listen(secureServer());
    const asked: string[] = [];
    const proxy = http.createServer();
    proxy.on("connect", (request, client: Socket) => {
      asked.push(request.url ?? "", JSON.stringify(request.headers));
      tunnel(client, port);
    });
    const proxyPort = await listen(proxy);
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`, SSL_CERT_FILE: certificate.path };
    expect((await post("https://service.test/v1", options(env))).text).toBe("POST /v1 ping");
    expect(asked[0]).toBe("service.test:443");
    expect(asked[1]).not.toContain("secret");
  });

  test("a proxy that is reached by TLS carries plain HTTP and tunnels", async () => {
    const port = await listen(secureServer());
    const proxy = https.createServer(certificate, (request, response) => response.end(`proxied ${request.url}`));
    proxy.on("connect", (_request, client: Socket) => tunnel(client, port));
    const names: unknown[] = [];
    proxy.on("secureConnection", ({ servername }) => names.push(servername));
    const url = `https://127.0.0.1:${await listen(proxy)}`;
    const env = { HTTP_PROXY: url, HTTPS_PROXY: url, SSL_CERT_FILE: certificate.path };
    expect((await post("http://other.test/v1", options(env))).text).toBe("proxied http://other.test/v1");
    expect((await post("https://service.test/v2", options(env))).text).toBe("POST /v2 ping");
    // Neither connection asks the proxy for the certificate of the server behind it.
    expect(names).toEqual([false, false]);
  });

  test("a tunnel to an address names no host, for which Node would warn", async () => {
    const port = await listen(secureServer());
    const proxy = http.createServer();
    proxy.on("connect", (_request, client: Socket) => tunnel(client, port));
    const warnings: string[] = [];
    const onWarning = (warning: Error) => warnings.push(warning.message);
    process.on("warning", onWarning);
    const env = { HTTPS_PROXY: `http://127.0.0.1:${await listen(proxy)}`, SSL_CERT_FILE: certificate.path };
    expect((await post("https://192.0.2.1/v1", options(env))).text).toBe("POST /v1 ping");
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  test("a proxy that never answers is given up with the request, and leaves no socket behind", async () => {
    const proxy = http.createServer();
    const gone = new Promise<void>((resolve) => {
      proxy.on("connect", (_request, client: Socket) => client.resume().once("end", () => resolve()));
    });
    const proxyPort = await listen(proxy);
    const abort = new AbortController();
    proxy.once("connect", () => abort.abort());
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxyPort}` };
    await expect(post("https://service.test/v1", options(env, abort.signal))).rejects.toMatchObject({
      name: "AbortError",
    });
    await gone;
  });

  test("a proxy that refuses is named in the error", async () => {
    const proxy = http.createServer();
    proxy.on("connect", (_request, client: Socket) => client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"));
    const proxyPort = await listen(proxy);
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxyPort}` };
    await expect(post("https://service.test/v1", options(env))).rejects.toThrow(/refused the connection with HTTP 407/);
  });
});
