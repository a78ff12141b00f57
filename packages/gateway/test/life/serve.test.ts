/** The gateway of an account: found, asked and stopped by its files, also after one was killed. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, rmdir, stat, symlink, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@tau/ai/testing";
import { createHost } from "@tau/harness/host";
import { SettingsManager } from "@tau/config/settings";
import { findGateway, getGatewayFiles } from "@tau/protocol/node";
import { expect, onTestFinished, test } from "vitest";
import { askControl } from "../../src/life/control-socket.ts";
import { openLogFile, readLogLines } from "../../src/life/log-file.ts";
import { serveGateway, type ServedGateway, type ServeOptions } from "../../src/life/serve.ts";
import { connectRaw } from "../../src/testing/index.ts";

async function createAgentDir(): Promise<string> {
  const agentDir = await mkdtemp(join(tmpdir(), "tau-life-"));
  onTestFinished(() => rm(agentDir, { recursive: true, force: true, maxRetries: 10 }));
  return agentDir;
}

interface Serving {
  agentDir: string;
  port?: number;
  options?: Partial<ServeOptions>;
}

async function serve({ agentDir, port = 0, options }: Serving): Promise<ServedGateway> {
  const settingsManager = SettingsManager.inMemory({ gateway: { port } });
  const served = await serveGateway({
    agentDir,
    version: "1.2.3",
    settings: settingsManager,
    startDirectory: agentDir,
    openDirectory: async (cwd, own) =>
      createHost({ agentDir, params: { cwd, agentDir, model: scriptedModel([]), settingsManager, ...own } }),
    onStop: () => {},
    ...options,
  });
  return served;
}

test("it is found with its token, says how it is, and leaves nothing when it has stopped", async () => {
  const agentDir = await createAgentDir();
  const files = getGatewayFiles(agentDir);
  const served = await serve({ agentDir });
  const found = await findGateway(agentDir);
  expect(found).toMatchObject({ url: served.gateway.url, pid: process.pid, deviceId: "local" });
  (await connectRaw(found!.url, { token: found!.token })).close();
  for (const path of [files.address, files.devices, files.log, files.control, files.lease]) {
    await expect.poll(() => existsSync(path)).toBe(true);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  }
  const status = await askControl(files.control, { command: "status" });
  expect(status!.data).toMatchObject({ pid: process.pid, url: served.gateway.url, version: "1.2.3", openSessions: 0 });
  status!.close();
  await served.stop();
  expect(await findGateway(agentDir)).toBeUndefined();
  expect(await askControl(files.control, { command: "status" })).toBeUndefined();
  const left = await readdir(files.directory);
  expect(left.toSorted()).toEqual(["devices.json", "gateway.log", "local.token"]);
});

test("a second one says that the first runs, and which process it is", async () => {
  const agentDir = await createAgentDir();
  const served = await serve({ agentDir });
  onTestFinished(() => served.stop());
  const message = `A gateway of yours runs already, as process ${process.pid}. \`tau gateway status\` says more, and \`tau gateway stop\` ends it.`;
  await expect(serve({ agentDir })).rejects.toMatchObject({ code: "already_running", message });
  expect(await findGateway(agentDir)).toMatchObject({ url: served.gateway.url });
});

test("a taken port is said in a sentence, and nothing is held afterwards", async () => {
  const agentDir = await createAgentDir();
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  await expect(serve({ agentDir, port })).rejects.toMatchObject({
    code: "port_taken",
    message: expect.stringMatching(/^Another program listens on port \d+ of 127\.0\.0\.1 already\. .*--port P/),
  });
  await (await serve({ agentDir })).stop();
});

test("what a killed one left behind does not keep the next from starting", async () => {
  const agentDir = await createAgentDir();
  const files = getGatewayFiles(agentDir);
  const before = await serve({ agentDir });
  const lease = JSON.parse(await readFile(files.lease, "utf8")) as object;
  await before.stop();
  const { pid } = spawnSync("true");
  await writeFile(files.lease, JSON.stringify({ ...lease, pid }));
  await writeFile(files.address, JSON.stringify({ url: "ws://127.0.0.1:1", pid }), { mode: 0o600 });
  await writeFile(files.control, "", { mode: 0o600 });
  expect(await findGateway(agentDir)).toBeUndefined();
  const served = await serve({ agentDir });
  expect(await findGateway(agentDir)).toMatchObject({ url: served.gateway.url });
  await served.stop();
});

test.each(["address", "control"] as const)(
  "a link in the place of %s is replaced, and its target stays",
  async (name) => {
    const agentDir = await createAgentDir();
    const files = getGatewayFiles(agentDir);
    await (await serve({ agentDir })).stop();
    const target = join(agentDir, "target");
    await writeFile(target, "untouched");
    await symlink(target, files[name]);
    await (await serve({ agentDir })).stop();
    expect(await readFile(target, "utf8")).toBe("untouched");
  },
);

test("another user of the machine reads nothing and reaches nothing", async ({ skip }) => {
  if (process.getuid?.() !== 0) skip("Only root can act as another user.");
  const agentDir = await createAgentDir();
  // What protects them is their own directory.
  await chmod(agentDir, 0o755);
  const files = getGatewayFiles(agentDir);
  const served = await serve({ agentDir });
  onTestFinished(() => served.stop());
  const program = `
    const { readFileSync, readdirSync, writeFileSync } = require("node:fs");
    const files = ${JSON.stringify(files)};
    const attempts = Object.values(files).flatMap((path) => [() => readFileSync(path), () => readdirSync(path), () => writeFileSync(path, "x")]);
    const done = attempts.filter((attempt) => { try { attempt(); return true; } catch { return false; } }).length;
    const socket = require("node:net").connect(files.control);
    socket.on("error", ({ code }) => console.log(done, code));
    socket.on("connect", () => console.log(done, "connected"));
  `;
  const { stdout } = spawnSync(process.execPath, ["-e", program], {
    uid: 65_534,
    gid: 65_534,
    encoding: "utf8",
    cwd: "/",
  });
  expect(stdout.trim()).toBe("0 EACCES");
});

test("commands of the account call methods, and are told what is refused", async () => {
  const agentDir = await createAgentDir();
  const { control } = getGatewayFiles(agentDir);
  let stops = 0;
  const served = await serve({ agentDir, options: { onStop: () => void stops++ } });
  const answer = await askControl(control, { command: "call", method: "devices.list" });
  expect(answer!.data).toMatchObject({ devices: [{ id: "local" }] });
  answer!.close();
  const wrong = askControl(control, { command: "call", method: "devices.approve", params: { code: "x" } });
  await expect(wrong).rejects.toMatchObject({ code: "not_found" });
  await expect(askControl(control, { command: "dance" })).rejects.toMatchObject({ code: "unknown_method" });
  const stop = await askControl(control, { command: "stop" });
  expect(stops).toBe(1);
  let hasEnded = false;
  void stop!.ended.then(() => (hasEnded = true));
  expect((await askControl(control, { command: "status" }))!.close()).toBeUndefined();
  expect(hasEnded).toBe(false);
  await served.stop();
  await stop!.ended;
});

test("a gateway that hangs is not waited for without end", async () => {
  const path = join(await createAgentDir(), "control.sock");
  const silent = createServer().listen(path);
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  await expect(askControl(path, { command: "status" }, { maxMs: 20 })).rejects.toMatchObject({ code: "unresponsive" });
});

test("where there is no directory, no gateway runs", async () => {
  const agentDir = await createAgentDir();
  await writeFile(join(agentDir, "file"), "");
  expect(await askControl(join(agentDir, "file", "control.sock"), { command: "status" })).toBeUndefined();
});

test("a name that is too long for a socket is said in a sentence", async () => {
  const agentDir = join(await createAgentDir(), "long".repeat(30));
  await expect(serve({ agentDir })).rejects.toThrow(/is too long for the name of a socket\. Set TAU_DIR/);
});

test("the log has no token, and is not larger than it may be", async () => {
  const agentDir = await createAgentDir();
  const path = join(agentDir, "gateway.log");
  const token = "a-very-secret-token-of-a-device";
  for (let start = 0; start < 500; start += 50) {
    const log = openLogFile({ path, secrets: () => [token], maxBytes: 10_000 });
    for (let line = start; line < start + 50; line++) log.write(`line ${line} with ${token}`);
    await log.close();
  }
  const sizes = await Promise.all([path, `${path}.1`].map(async (file) => (await stat(file)).size));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(10_000);
  const lines = await readLogLines(path, 3);
  expect(lines.map((line) => line.replace(/^\S+ /, ""))).toEqual([
    "line 497 with [secret]",
    "line 498 with [secret]",
    "line 499 with [secret]",
  ]);
  expect(await readFile(path, "utf8")).not.toContain(token);
});

test("off this machine it listens with TLS only", async () => {
  const agentDir = await createAgentDir();
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.com", "127.evil.com"]) {
    const settingsManager = SettingsManager.inMemory({ gateway: { port: 0, host } });
    const failing = serve({ agentDir, options: { getSettings: () => settingsManager.get().gateway } });
    await expect(failing).rejects.toMatchObject({
      code: "needs_tls",
      message: expect.stringContaining(`not on ${host}. Set gateway.tls.cert`),
    });
  }
});

test("it stops also while another program keeps its end of the control socket open", async () => {
  const agentDir = await createAgentDir();
  const served = await serve({ agentDir });
  const socket = connect({ path: getGatewayFiles(agentDir).control, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.write('{"command":"status"}\n');
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(JSON.parse(answer.toString())).toMatchObject({ ok: true });
  await served.stop();
});

test("with an address that cannot be written it does not start, and holds nothing", async () => {
  const agentDir = await createAgentDir();
  const files = getGatewayFiles(agentDir);
  await (await serve({ agentDir })).stop();
  await mkdir(files.address);
  await expect(serve({ agentDir })).rejects.toThrow(/address/);
  expect(await askControl(files.control, { command: "status" })).toBeUndefined();
  await rmdir(files.address);
  await (await serve({ agentDir })).stop();
});
