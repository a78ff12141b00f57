import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { get } from "node:https";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost } from "@tau/harness/host";
import { SettingsManager } from "@tau/config/settings";
import { createProof, importToken } from "@tau/protocol/gateway";
import { connectToGateway, getGatewayFiles } from "@tau/protocol/node";
import { WebSocket } from "ws";
import { expect, onTestFinished, test } from "vitest";
import { serveGateway } from "../../src/life/serve.ts";
import { openTestGateway } from "../../src/testing/index.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

async function createCertificate(name = "localhost") {
  const directory = await mkdtemp(join(tmpdir(), "tau-tls-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name},IP:127.0.0.1`];
  execFileSync("openssl", [...args, "-keyout", key, "-out", cert, ...names], { stdio: "ignore" });
  return { cert, key };
}

test("with a certificate it listens on all addresses, encrypted, and its names are the same", async ({ skip }) => {
  if (!hasOpenssl) skip("openssl is not installed, which makes the certificate.");
  const { cert, key } = await createCertificate();
  const { gateway, token, close } = await openTestGateway({
    settings: { gateway: { host: "0.0.0.0", tls: { cert, key } } },
  });
  onTestFinished(close);
  expect(gateway.url).toMatch(/^wss:\/\/localhost:\d+$/);
  const ca = await readFile(cert);
  const { port } = new URL(gateway.url);
  const ask = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const request = get({ host: "127.0.0.1", port, path: "/health", ca, headers }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      });
      request.on("error", reject);
    });
  expect(await ask({})).toBe(200);
  expect(await ask({ origin: `https://localhost:${port}` })).toBe(200);
  expect(await ask({ origin: `http://localhost:${port}` })).toBe(403);
  expect(await ask({ host: `0.0.0.0:${port}` })).toBe(403);
  await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow("fetch failed");

  const socket = new WebSocket(`wss://127.0.0.1:${port}`, { ca });
  const next = () =>
    new Promise<Record<string, never>>((resolve) =>
      socket.once("message", (data: Buffer) => resolve(JSON.parse(data.toString()))),
    );
  const { payload } = (await next()) as unknown as { payload: { nonce: string } };
  const proof = await createProof(await importToken(token), { nonce: payload.nonce, deviceId: "local" });
  const params = { minProtocol: 2, maxProtocol: 2, client: { name: "test", version: "1" }, deviceId: "local", proof };
  const answer = next();
  socket.send(JSON.stringify({ type: "req", id: "1", method: "connect", params }));
  expect(await answer).toMatchObject({ ok: true, payload: { type: "hello-ok" } });
  socket.close();
});

test("another certificate is taken by a reload, clients stay, and one that cannot be used changes nothing", async ({
  skip,
}) => {
  if (!hasOpenssl) skip("openssl is not installed, which makes the certificate.");
  const [own, other] = [await createCertificate(), await createCertificate()];
  const agentDir = await mkdtemp(join(tmpdir(), "tau-tls-"));
  onTestFinished(() => rm(agentDir, { recursive: true, force: true, maxRetries: 10 }));
  const served = await serveGateway({
    agentDir,
    version: "1.2.3",
    settings: SettingsManager.inMemory({ gateway: { port: 0, tls: own } }),
    startDirectory: agentDir,
    openDirectory: async (cwd, params) => createHost({ agentDir, params: { cwd, agentDir, ...params } }),
    onStop: () => {},
  });
  onTestFinished(() => served.stop());
  const before = await connectToGateway({ agentDir });
  onTestFinished(() => before.close());
  const getShown = async () => new X509Certificate(await readFile(own.cert)).fingerprint256;
  expect(served.gateway.fingerprint).toBe(await getShown());
  // A renewal writes two files, one after the other.
  await copyFile(other.cert, own.cert);
  const half = await before.call("gateway.reload");
  expect(half).toMatchObject({ changed: [], problems: [expect.stringContaining("cannot be used with the key")] });
  expect(served.gateway.fingerprint).not.toBe(await getShown());
  (await connectToGateway({ agentDir })).close();
  await copyFile(other.key, own.key);
  expect(await before.call("gateway.reload")).toEqual({ changed: ["gateway.tls"], problems: [], needsRestart: [] });
  expect(served.gateway.fingerprint).toBe(await getShown());
  expect(await before.call("gateway.reload")).toEqual({ changed: [], problems: [], needsRestart: [] });
  // What programs of the account read beside the address is the new one.
  const after = await connectToGateway({ agentDir });
  onTestFinished(() => after.close());
  expect(served.gateway.parts.connections.count).toBe(2);
});

test("a connection without a handshake is closed", async ({ skip }) => {
  if (!hasOpenssl) skip("openssl is not installed, which makes the certificate.");
  const { gateway, close } = await openTestGateway({ settings: { gateway: { tls: await createCertificate() } } });
  onTestFinished(close);
  const closed = ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", ""].map((start) => {
    const socket = createConnection(Number(new URL(gateway.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(start);
    socket.resume();
    return once(socket, "close");
  });
  await Promise.all(closed);
});

test("programs of the account know the gateway by its certificate, whoever signed it", async ({ skip }) => {
  if (!hasOpenssl) skip("openssl is not installed, which makes the certificate.");
  const [own, other] = [await createCertificate("tau.example.com"), await createCertificate("tau.example.com")];
  const agentDir = await mkdtemp(join(tmpdir(), "tau-tls-"));
  onTestFinished(() => rm(agentDir, { recursive: true, force: true, maxRetries: 10 }));
  const settings = SettingsManager.inMemory({ gateway: { port: 0, host: "0.0.0.0", tls: own } });
  const served = await serveGateway({
    agentDir,
    version: "1.2.3",
    settings,
    startDirectory: agentDir,
    openDirectory: async (cwd, params) => createHost({ agentDir, params: { cwd, agentDir, ...params } }),
    onStop: () => {},
  });
  onTestFinished(() => served.stop());
  const client = await connectToGateway({ agentDir });
  expect(await client.call("health")).toMatchObject({ ok: true });
  client.close();
  // Somebody else listens there.
  const { address } = getGatewayFiles(agentDir);
  const { fingerprint256: fingerprint } = new X509Certificate(await readFile(other.cert));
  const known = JSON.parse(await readFile(address, "utf8")) as object;
  await writeFile(address, JSON.stringify({ ...known, fingerprint }));
  await expect(connectToGateway({ agentDir })).rejects.toThrow("another certificate");
  // What is typed is another gateway, which has to be one that the machine trusts.
  const { port } = new URL(served.gateway.url);
  await expect(connectToGateway({ agentDir, url: `wss://127.0.0.1:${port}` })).rejects.toThrow("certificate");
});

test.each([
  [{ cert: "/nowhere/cert.pem", key: "/nowhere/key.pem" }, "A file of gateway.tls cannot be read: "],
  [{ cert: "/nowhere/cert.pem" }, "gateway.tls needs both"],
])("a wrong setting %j is said in a sentence", async (tls, message) => {
  await expect(openTestGateway({ settings: { gateway: { tls } } })).rejects.toThrow(message);
});
