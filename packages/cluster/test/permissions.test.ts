/** The servers' permissions for a node, as `docs/cluster.md` has them. */
import { once } from "node:events";
import { createServer } from "node:net";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@nats-io/transport-node";
import { scriptedModel, text } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway } from "@tau/gateway/testing";
import type { JoinCluster } from "@tau/gateway/port";
import { joinCluster } from "../src/cluster.ts";
import { openNode } from "../src/open-node.ts";
import { quickTiming } from "./kit.ts";
import { hasNats, startNats } from "./nats-servers.ts";

/** The block of the documentation, for users with passwords instead of keys. */
async function readConfiguration(): Promise<string> {
  const docs = await readFile(join(import.meta.dirname, "../../../docs/cluster.md"), "utf8");
  const [, node] = /( *node_one: \{.*?\n *\}\n)(?= *authorization)/s.exec(docs)!;
  const user = (name: string) => `{ user: ${name}, password: secret, permissions: $node_${name} }`;
  const other = node!.replaceAll(/\bnode_one\b/g, "node_two").replaceAll(/\.one\b/g, ".two");
  return `${node}\n${other}\nauthorization: { users: [ ${user("one")}, ${user("two")} ] }`;
}

describe.skipIf(!hasNats)("the documented permissions", () => {
  test("are enough for a node, and keep it from speaking or listening in the name of another", async () => {
    const nats = await startNats({ extra: await readConfiguration() });
    onTestFinished(nats.close);
    const workspace = await mkdtemp(join(tmpdir(), "tau-cluster-"));
    onTestFinished(() => rm(workspace, { recursive: true, force: true, maxRetries: 10 }));
    const address = `127.0.0.1:${nats.servers[0]!.port}`;
    const open = async (name: string) => {
      const url = `nats://${name}:secret@${address}?name=${name}`;
      const joinNode: JoinCluster = (own) => joinCluster({ ...own, url, timing: quickTiming });
      const model = scriptedModel([[text("Heard.")]]);
      const opened = await openTestGateway({ model, options: { startDirectory: workspace, joinCluster: joinNode } });
      onTestFinished(opened.close);
      return { ...opened, client: await connectRaw(opened.gateway.url, { token: opened.token }) };
    };
    const [one, two] = await Promise.all([open("one"), open("two")]);
    const create = { cwd: workspace, idempotencyKey: "create" };
    const { sessionId } = await one.client.must<{ sessionId: string }>("sessions.create", create);
    expect(await two.client.must("sessions.create", create)).toMatchObject({ sessionId });
    await two.client.must("sessions.subscribe", { sessionId });
    expect(await two.client.must("session.execute", { sessionId, prompt: "Hear." })).toMatchObject({
      answer: "Heard.",
    });
    await two.client.must("session.follow_up", { sessionId, message: "/nothing" });
    await expect.poll(() => two.client.must("sessions.list")).toMatchObject({ sessions: [{ id: sessionId }] });
    const isStreamed = () => two.client.events().some(({ event }) => event === "session.message.delta");
    await expect.poll(isStreamed).toBe(true);
    const permissionErrors = [...one.logged, ...two.logged].filter((line) => /permission/i.test(line));
    expect(permissionErrors).toEqual([]);

    await expect(connect({ servers: address })).rejects.toThrow(/auth/i);
    const client = await connect({ servers: address, user: "two", pass: "secret", inboxPrefix: "_INBOX.tau.two" });
    onTestFinished(() => client.close());
    const refused: string[] = [];
    void (async () => {
      for await (const status of client.status()) if (status.type === "error") refused.push(status.error.message);
    })();
    client.publish("tau.to.two.x.one", "in the name of one");
    client.publish("tau.beat.one", "the same");
    client.subscribe("tau.to.one.*.*", { callback: () => undefined });
    client.subscribe("_INBOX.tau.one.>", { callback: () => undefined });
    await client.flush();
    await expect.poll(() => refused.length).toBe(4);
    for (const text of refused) expect(text).toMatch(/permission/i);
  });

  test("a server that is too old is refused, also one that the node does not connect to", async () => {
    const nats = await startNats();
    onTestFinished(nats.close);
    const old = createServer((socket) => {
      socket.write(`INFO {"server_id":"old","version":"2.9.10","proto":1,"headers":true,"max_payload":1048576}\r\n`);
      socket.on("data", (data) => void (data.includes("PING") && socket.write("PONG\r\n")));
    });
    old.listen(0, "127.0.0.1");
    await once(old, "listening");
    onTestFinished(() => void old.close());
    const oldHost = `127.0.0.1:${(old.address() as { port: number }).port}`;
    for (const hosts of [oldHost, `127.0.0.1:${nats.servers[0]!.port},${oldHost}`]) {
      const opening = openNode({ url: `nats://${hosts}?name=a`, agentDir: tmpdir(), log: () => undefined });
      await expect(opening).rejects.toMatchObject({ message: expect.stringMatching(/2\.9\.10 is too old/) });
    }
  });

  test("a server that is not there is reported with one sentence", async () => {
    const nowhere = openNode({ url: "nats://127.0.0.1:1?name=a", agentDir: tmpdir(), log: () => undefined });
    await expect(nowhere).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/cannot be used/),
    });
  });
});
