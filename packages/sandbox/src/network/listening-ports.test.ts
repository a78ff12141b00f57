import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listListeningPorts, parseListeningPorts } from "./listening-ports.ts";

test.skipIf(process.platform !== "linux")(
  "servers on both kinds of loopback are found, and connections are not",
  async () => {
    const servers = [createServer(), createServer()];
    onTestFinished(() => servers.forEach((server) => server.close()));
    await once(servers[0]!.listen(0, "127.0.0.1"), "listening");
    await once(servers[1]!.listen(0, "::1"), "listening");
    const ports = servers.map((server) => (server.address() as AddressInfo).port);
    expect(listListeningPorts(process.pid)).toEqual(expect.arrayContaining(ports));
  },
);

test("only sockets that listen count, and damaged tables have none", () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:0BB9 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   2: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0 0`;
  expect(parseListeningPorts(table)).toEqual([3000, 8080]);
  expect(parseListeningPorts("")).toEqual([]);
  expect(parseListeningPorts("0: x 0 0A\n0: 1:0000 0 0A")).toEqual([]);
});

test("a process that is gone has no ports", () => {
  expect(listListeningPorts(2 ** 30)).toEqual([]);
});
