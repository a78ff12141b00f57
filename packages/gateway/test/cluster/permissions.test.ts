/** The servers' permissions for a node, as `docs/cluster.md` has them. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@nats-io/transport-node";
import { SessionManager } from "@tau/harness";
import { describe, expect, onTestFinished, test } from "vitest";
import { openNode } from "../../src/cluster/open-node.ts";
import { hasNats, startNats } from "./nats-servers.ts";

/** The block of the documentation, for users with passwords instead of keys. */
async function readConfiguration(): Promise<string> {
  const docs = await readFile(join(import.meta.dirname, "../../../../docs/cluster.md"), "utf8");
  const [, node] = /( *node_one: \{.*?\n *\}\n)(?= *authorization)/s.exec(docs)!;
  const user = (name: string) => `{ user: ${name}, password: secret, permissions: $node_${name} }`;
  const other = node!.replaceAll(/\bnode_one\b/g, "node_two").replaceAll(/\.one\b/g, ".two");
  return `${node}\n${other}\nauthorization: { users: [ ${user("one")}, ${user("two")} ] }`;
}

describe.skipIf(!hasNats)("the documented permissions", () => {
  test("are enough for a node, and keep it from speaking or listening in the name of another", async () => {
    const nats = await startNats({ extra: await readConfiguration() });
    onTestFinished(nats.close);
    const agentDir = await mkdtemp(join(tmpdir(), "tau-cluster-"));
    onTestFinished(() => rm(agentDir, { recursive: true, force: true }));
    const address = `127.0.0.1:${nats.servers[0]!.port}`;
    const open = (name: string) =>
      openNode({ url: `nats://${name}:secret@${address}?name=${name}`, agentDir, log: () => undefined });
    const [one, two] = await Promise.all([open("one"), open("two")]);
    const session = await SessionManager.create("/work", undefined, { storage: one.storage });
    await session.appendMessage({ role: "user", content: "hello", timestamp: 1 });
    await session.close();
    const again = await SessionManager.openStored(session.id, { storage: two.storage });
    expect(again.readOnly).toBeUndefined();
    await again.close();
    await Promise.all([one.close(), two.close()]);

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

  test("a server that is not there is reported with one sentence", async () => {
    const nowhere = openNode({ url: "nats://127.0.0.1:1?name=a", agentDir: tmpdir(), log: () => undefined });
    await expect(nowhere).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/cannot be used/),
    });
  });
});
