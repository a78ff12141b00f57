/** Tests the messages of failed requests, over real sockets. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAI } from "../src/create-ai.ts";
import { classifyThrown } from "../src/failure.ts";
import type { StreamOptions } from "../src/options.ts";

const context = { messages: [{ role: "user" as const, content: "Hello", timestamp: 0 }] };

async function ask(provider: string, baseUrl: string, options: StreamOptions = {}): Promise<string> {
  const ai = createAI({ provider, model: "small", config: { baseUrl, maxRetries: 0 } });
  const { failure } = await ai.complete(context, { env: { OPENAI_API_KEY: "" }, ...options });
  return failure?.message ?? "";
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A port that nothing listens on. */
async function getClosedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const answer = (status: number, body: string) =>
  http.createServer((_request, response) => void response.writeHead(status).end(body));

describe("a connection", () => {
  test("that is refused names host, port and code once, and asks whether the server runs", async () => {
    const port = await getClosedPort();
    const expected = `127.0.0.1:${port} does not accept connections (ECONNREFUSED). Is the server running?`;
    expect(await ask("ollama", `http://127.0.0.1:${port}/v1`)).toBe(expected);
  });

  test("that a proxy refuses names the proxy and not the server", async () => {
    const proxy = `127.0.0.1:${await getClosedPort()}`;
    for (const scheme of ["http", "https"]) {
      const message = await ask("openai", `${scheme}://models.test/v1`, {
        apiKey: "k",
        env: { https_proxy: proxy, http_proxy: proxy, NO_PROXY: "" },
      });
      expect(message).toContain(`The proxy ${proxy} does not accept connections (ECONNREFUSED).`);
      expect(message).toContain("httpProxy");
    }
  });

  test("that fails without the proxy that is set says that such proxies are not used", async () => {
    const env = { NO_PROXY: "", http_proxy: "socks5h://me:secret@10.0.0.1:1080" };
    const message = await ask("ollama", "http://nowhere.invalid/v1", { env });
    expect(message).toMatch(/^The name nowhere\.invalid could not be resolved/);
    expect(message).toContain("The proxy socks5h://10.0.0.1:1080 is not used");
    expect(message).not.toContain("secret");
  });

  test("to a name that does not exist names it", async () => {
    const message = await ask("ollama", "http://nowhere.invalid/v1", { env: { NO_PROXY: "*" } });
    expect(message).toMatch(/^The name nowhere\.invalid could not be resolved \((ENOTFOUND|EAI_AGAIN)\)\. Check/);
  });

  test("that is lost names the server", async () => {
    const port = await listen(createServer((socket) => socket.once("data", () => socket.destroy())));
    const message = await ask("ollama", `http://127.0.0.1:${port}/v1`);
    expect(message).toBe(`The connection to 127.0.0.1:${port} was lost (ECONNRESET).`);
  });

  test("to something that is no HTTP server says so", async () => {
    const port = await listen(createServer((socket) => socket.end("SSH-2.0-OpenSSH\r\n")));
    expect(await ask("ollama", `http://127.0.0.1:${port}/v1`)).toContain("is not valid HTTP");
  });

  test("with TLS to a server without it says which base URL is meant", async () => {
    const port = await listen(answer(200, ""));
    expect(await ask("ollama", `https://127.0.0.1:${port}/v1`)).toContain(`127.0.0.1:${port} does not use TLS`);
  });

  test.skipIf(spawnSync("openssl", ["version"]).status !== 0)(
    "to a server with a certificate of its own names NODE_EXTRA_CA_CERTS",
    async () => {
      const directory = mkdtempSync(join(tmpdir(), "tau-tls-"));
      onTestFinished(() => rmSync(directory, { recursive: true }));
      const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
      const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout", key, "-out", cert];
      execFileSync("openssl", request, { stdio: "ignore" });
      const port = await listen(https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }));
      const message = await ask("ollama", `https://127.0.0.1:${port}/v1`);
      expect(message).toMatch(new RegExp(`^The certificate of 127\\.0\\.0\\.1:${port} was not accepted \\(\\w+\\)\\.`));
      expect(message).toContain("self-signed");
      expect(message).toContain("NODE_EXTRA_CA_CERTS");
    },
  );

  test("whose address is not known is still described in whole sentences", () => {
    const describe = (code: string) => classifyThrown(Object.assign(new Error("x"), { code })).message;
    expect(describe("ECONNREFUSED")).toMatch(/^The server does not accept connections \(ECONNREFUSED\)\./);
    expect(describe("ENOTFOUND")).toMatch(/^The name of the server could not be resolved/);
  });
});

describe("a key", () => {
  const openai = { apiKey: "sk-0123456789" };

  test("that is missing is asked for by the names of the variable and of the option", async () => {
    const message = await ask("openai", "http://127.0.0.1:1/v1");
    expect(message).toBe(
      "There is no API key for openai. Set OPENAI_API_KEY, or use the option apiKey of createAI or of the request.",
    );
  });

  test("that is rejected is never shown, but where it is from", async () => {
    const port = await listen(
      answer(401, JSON.stringify({ error: { message: `Incorrect API key: ${openai.apiKey}` } })),
    );
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const rejected = "HTTP 401: Incorrect API key: ….";
    expect(await ask("openai", baseUrl, openai)).toBe(`${rejected} The key is the one in the option apiKey.`);
    expect(await ask("openai", baseUrl, { env: { OPENAI_API_KEY: openai.apiKey } })).toBe(
      `${rejected} The key is from the environment variable OPENAI_API_KEY.`,
    );
    expect(await ask("openai", baseUrl, { ...openai, keyHint: "It is from a test." })).toBe(
      `${rejected} It is from a test.`,
    );
  });

  test("that a local server wants is asked for", async () => {
    const port = await listen(answer(401, "Unauthorized"));
    const message = await ask("vllm", `http://127.0.0.1:${port}/v1`);
    expect(message).toMatch(/^HTTP 401: Unauthorized\. There is no API key for vllm\. /);
  });
});
