import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { InnerSockets } from "./inner-sockets.ts";
import { openProxyPort } from "./proxy-port.ts";

/** Sockets of this machine, as if it were inside. */
const sockets: InnerSockets = {
  async listen(port) {
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    return server;
  },
  connect: async (port) => connect({ host: "127.0.0.1", port }),
  listPorts: () => [],
};

test("a command cannot use up descriptors with connections to the proxy", async () => {
  const proxy = await openProxyPort(sockets, { getAllowed: () => [] });
  const clients: Socket[] = [];
  onTestFinished(() => {
    for (const client of clients) client.destroy();
    proxy.close();
  });
  const refused = new Promise<void>((resolve) => {
    for (let count = 0; count <= 256; count++) {
      const client = connect({ host: "127.0.0.1", port: proxy.port });
      client.on("error", () => client.destroy()).once("close", () => resolve());
      clients.push(client);
    }
  });
  await refused;
  expect(clients.filter(({ destroyed }) => destroyed)).toHaveLength(1);
});

test("the proxy behind it is that of the environment that was given, and no other", async () => {
  const connected: string[] = [];
  const behind = createHttpServer().on("connect", (request, socket) => {
    connected.push(`${request.url} ${request.headers["proxy-authorization"]}`);
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  behind.listen(0, "127.0.0.1");
  await once(behind, "listening");
  const { port } = behind.address() as AddressInfo;
  vi.stubEnv("HTTPS_PROXY", `http://of-the-process@127.0.0.1:${port}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    behind.close();
  });
  for (const env of [{}, { HTTPS_PROXY: `http://of-the-session@127.0.0.1:${port}` }, undefined]) {
    const proxy = await openProxyPort(sockets, { getAllowed: () => ["allowed.invalid"], env });
    const client = connect({ host: "127.0.0.1", port: proxy.port });
    client.write("CONNECT allowed.invalid:443 HTTP/1.1\r\nHost: allowed.invalid:443\r\n\r\n");
    const [answer] = (await once(client, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 [45]/);
    client.destroy();
    proxy.close();
  }
  expect(connected).toEqual(
    ["of-the-session:", "of-the-process:"].map((user) => `allowed.invalid:443 Basic ${btoa(user)}`),
  );
});
