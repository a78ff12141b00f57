import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { text as readText } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { AskedPorts, type PortPolicy } from "./asked-ports.ts";
import type { InnerSockets } from "./inner-sockets.ts";

/** Listens at a free port of this machine. */
async function listen(onConnection?: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
  const server = createServer(onConnection).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { server, port: (server.address() as AddressInfo).port };
}

async function findPorts(count: number): Promise<number[]> {
  const listeners = await Promise.all(Array.from({ length: count }, () => listen()));
  await Promise.all(listeners.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  return listeners.map(({ port }) => port);
}

interface Desk {
  standing?: Awaited<ReturnType<PortPolicy["getStanding"]>>;
  answer?: boolean;
  isOwn?: (port: number) => boolean;
}

/** A network inside, in which `ports` can be changed. Each of them answers with the same text. */
async function createDesk({ standing = "ask", answer = true, isOwn = () => false }: Desk = {}) {
  const { port: target } = await listen((socket) => socket.end("from inside"));
  let ports: readonly number[] = [];
  const looked: number[] = [];
  const asked: number[] = [];
  const sockets: InnerSockets = {
    listPorts: () => ports,
    listen: () => Promise.reject(new Error("not needed")),
    connect: async () => {
      const socket = connect(target, "127.0.0.1").pause();
      await once(socket, "connect");
      return socket;
    },
  };
  const policy: PortPolicy = {
    async getStanding(port) {
      looked.push(port);
      return standing;
    },
    async ask(port) {
      asked.push(port);
      return answer;
    },
  };
  const doors = new AskedPorts(sockets, policy, isOwn);
  onTestFinished(() => doors.close());
  const show = (...next: number[]) => {
    ports = next;
    doors.refresh();
  };
  return { doors, show, looked, asked };
}

/** Undefined if nobody listens, or the connection was ended without a word. */
const askPort = async (port: number) =>
  (await readText(connect(port, "127.0.0.1")).catch(() => undefined)) || undefined;

test("a person is asked with the first connection, once, and again for another server at the port", async () => {
  const { show, asked } = await createDesk();
  const [port = 0] = await findPorts(1);
  show(port);
  await expect.poll(() => askPort(port)).toBe("from inside");
  expect(await askPort(port)).toBe("from inside");
  show(port);
  expect(await askPort(port)).toBe("from inside");
  expect(asked).toEqual([port]);
  show();
  expect(await askPort(port)).toBeUndefined();
  show(port);
  await expect.poll(() => askPort(port)).toBe("from inside");
  expect(asked).toEqual([port, port]);
});

test("what was refused is closed and not asked about again, also for another server at the port", async () => {
  const { show, asked, looked } = await createDesk({ answer: false });
  const [port = 0] = await findPorts(1);
  show(port);
  await expect.poll(async () => [await askPort(port), asked.length]).toEqual([undefined, 1]);
  show(port);
  show();
  show(port);
  expect(await askPort(port)).toBeUndefined();
  expect(asked).toEqual([port]);
  expect(looked).toEqual([port]);
});

test("neither our own ports nor those of the system are offered, nor more than 20", async () => {
  const [own = 0, ...ports] = await findPorts(26);
  const { show, looked } = await createDesk({ standing: "closed", isOwn: (port) => port === own });
  show(22, 80, 1023, own);
  expect(looked).toEqual([]);
  show(...ports);
  expect(looked).toHaveLength(20);
});

test("without a person nothing is opened, and with the next look a person may be there", async () => {
  const { show, looked, asked } = await createDesk({ standing: "closed" });
  const [port = 0] = await findPorts(1);
  show(port);
  await expect.poll(() => askPort(port)).toBeUndefined();
  show(port);
  expect(looked).toEqual([port, port]);
  expect(asked).toEqual([]);
});

test("what was allowed before is open without a question, and closes with the session", async () => {
  const { doors, show, asked } = await createDesk({ standing: "open" });
  const [port = 0] = await findPorts(1);
  show(port);
  await expect.poll(() => askPort(port)).toBe("from inside");
  expect(asked).toEqual([]);
  doors.close();
  expect(await askPort(port)).toBeUndefined();
  show(port);
  expect(await askPort(port)).toBeUndefined();
});
