import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
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
  const proxy = await openProxyPort(sockets, () => []);
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
