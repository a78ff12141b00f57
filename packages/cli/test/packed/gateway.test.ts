/** The packed gateway as a process: how signals end it, and what is left after one that nothing can catch. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { connectRaw } from "@tau/gateway/testing";
import { findGateway } from "@tau/protocol/node";
import { expect, test } from "vitest";
import { createModelWorkspace, createWorkspace, textReply, toolReply, type Workspace } from "../kit.ts";
import { installed, runPacked, start, type Started } from "./kit.ts";

async function startGateway(workspace: Workspace, env: Record<string, string> = {}): Promise<Started> {
  const started = await start(workspace, ["gateway", "--port", "0"], { env });
  await expect.poll(() => started.output().err).toMatch(/^Listening on http:\/\/127\.0\.0\.1:\d+\n/);
  return started;
}

test("a killed gateway does not keep the next from starting, with the same token and the page", async () => {
  const workspace = await createWorkspace();
  const first = await startGateway(workspace);
  const found = await findGateway(workspace.agentDir);
  expect(found!.pid).toBe(first.child.pid);
  first.child.kill("SIGKILL");
  await first.ended;
  expect(await findGateway(workspace.agentDir)).toBeUndefined();
  expect(await runPacked(workspace, ["gateway", "status"])).toMatchObject({ code: 1 });
  const second = await startGateway(workspace);
  const again = await findGateway(workspace.agentDir);
  expect(again).toMatchObject({ pid: second.child.pid, token: found!.token });
  (await connectRaw(again!.url, { token: again!.token })).close();
  expect((await fetch(again!.url.replace(/^ws/, "http"))).status).toBe(200);
  second.child.kill("SIGTERM");
  expect(await second.ended).toMatchObject({ code: 0, signal: null });
  expect(await findGateway(workspace.agentDir)).toBeUndefined();
});

test("a gateway without accounts of channels loads nothing for them, and nothing of a cluster", async () => {
  const workspace = await createWorkspace();
  const preload = join(workspace.directory, "preload.cjs");
  const read = join(workspace.directory, "read");
  await writeFile(
    preload,
    String.raw`const fs = require("node:fs");
const { readFileSync, appendFileSync } = fs;
fs.readFileSync = (path, ...rest) => {
  appendFileSync(${JSON.stringify(read)}, path + "\n");
  return readFileSync(path, ...rest);
};`,
  );
  const gateway = await startGateway(workspace, { NODE_OPTIONS: `--require ${JSON.stringify(preload)}` });
  const { url, token } = (await findGateway(workspace.agentDir))!;
  const client = await connectRaw(url, { token });
  expect(await client.must("channels.list")).toEqual({ channels: [] });
  gateway.child.kill("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0 });
  const names = (await readFile(read, "utf8")).split("\n").map((path) => basename(path));
  expect(names).toContain("gateway.cjs");
  const bundles = ["discord.cjs", "slack.cjs", "cluster.cjs"];
  expect(await readdir(join(await installed(), "dist"))).toEqual(expect.arrayContaining(bundles));
  expect(names.filter((name) => bundles.includes(name))).toEqual([]);
});

test("a gateway whose cluster cannot be reached says so, and does not start", async () => {
  const workspace = await createWorkspace();
  const args = ["gateway", "--port", "0", "--cluster", "nats://127.0.0.1:1?name=one"];
  expect(await runPacked(workspace, args)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^tau gateway: The NATS servers of the cluster \(127\.0\.0\.1:1\) cannot be used/),
  });
});

/** A session of the gateway whose model has called `bash`, and a client that follows it. */
async function runCommand(workspace: Workspace, gateway: Started, command: string) {
  const { url, token } = (await findGateway(workspace.agentDir))!;
  const client = await connectRaw(url, { token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace.directory });
  await client.must("sessions.subscribe", { sessionId });
  await client.must("session.prompt", { sessionId, message: `Run ${command}` });
  await expect.poll(() => client.events().some(({ event }) => event === "session.tool.started")).toBe(true);
  expect(gateway.child.exitCode).toBeNull();
  return client;
}

test("a signal lets a run come to its end, and tells the clients", async () => {
  const command = "while [ ! -e go ]; do sleep 0.05; done";
  const workspace = await createModelWorkspace([toolReply("bash", { command }), textReply("All done.")]);
  const gateway = await startGateway(workspace);
  const client = await runCommand(workspace, gateway, command);
  gateway.child.kill("SIGTERM");
  await expect.poll(() => client.events().some(({ event }) => event === "gateway.stopping")).toBe(true);
  await writeFile(join(workspace.directory, "go"), "");
  expect(await gateway.ended).toMatchObject({ code: 0 });
  expect(await client.closed).toBe(1001);
  expect(JSON.stringify(client.frames)).toContain("All done.");
});

test("a second signal ends it now, with its commands, and its log says so", async () => {
  const command = "sleep 3001";
  const workspace = await createModelWorkspace([toolReply("bash", { command })]);
  const gateway = await startGateway(workspace);
  const client = await runCommand(workspace, gateway, command);
  gateway.child.kill("SIGINT");
  await expect.poll(() => client.events().some(({ event }) => event === "gateway.stopping")).toBe(true);
  gateway.child.kill("SIGINT");
  expect(await gateway.ended).toMatchObject({ code: 0 });
  expect(JSON.stringify(client.events())).toContain("gateway_disconnected");
  const log = await readFile(join(workspace.agentDir, "gateway", "gateway.log"), "utf8");
  expect(log).toContain("The gateway stops, and ends a run.");
});
