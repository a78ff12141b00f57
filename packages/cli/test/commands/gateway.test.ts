import { existsSync } from "node:fs";
import { appendFile, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { connectRaw } from "@tau/gateway/testing";
import { findGateway } from "@tau/protocol/node";
import { expect, onTestFinished, test } from "vitest";
import { createIo, createModelWorkspace, createWorkspace, run, textReply, type Workspace } from "../kit.ts";
import { main } from "../../src/start/main.ts";

/** Runs `tau gateway` in this process until the test is over. */
async function startGateway(workspace: Workspace, args: readonly string[] = []) {
  const stop = new AbortController();
  const { io, written } = createIo(workspace, { signal: stop.signal });
  const ended = main(["gateway", "--port", "0", ...args], io);
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  await expect.poll(() => written.err).toContain("Listening on http://127.0.0.1:");
  expect(written.err.startsWith(written.out)).toBe(true);
  const found = await findGateway(workspace.agentDir);
  return { ended, written, ...found! };
}

test("it says where it listens, and its commands say how it is and stop it", async () => {
  const workspace = await createWorkspace();
  expect(await run(workspace, ["gateway", "status"])).toMatchObject({
    code: 1,
    out: "No gateway of yours is running. Start one with: tau gateway\n",
  });
  expect(await run(workspace, ["gateway", "stop"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("No gateway"),
  });
  const { url, ended, written } = await startGateway(workspace);
  const status = await run(workspace, ["gateway", "status"]);
  expect(status.out).toContain(`Address: ${url.replace("ws", "http")}\n`);
  expect(status.out).toContain(`runs as process ${process.pid}`);
  const json = await run(workspace, ["gateway", "status", "--json"]);
  expect(JSON.parse(json.out)).toMatchObject({ running: true, url, pid: process.pid });
  const second = await run(workspace, ["gateway", "--port", "0"]);
  expect(second).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^tau gateway: A gateway of yours runs already/),
  });
  expect(await run(workspace, ["gateway", "stop"])).toMatchObject({ code: 0, out: "The gateway has stopped.\n" });
  expect(await ended).toBe(0);
  expect(written.err).toContain("Stopping when the runs are over");
});

test("a device is paired by the code that it shows, is listed, and is revoked", async () => {
  const workspace = await createWorkspace();
  const { url } = await startGateway(workspace);
  const post = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url.replace("ws", "http")}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, string>;
  };
  const { code, requestId, secret } = await post("/pair/request", { name: "Phone\u001b[2J" });
  expect((await run(workspace, ["gateway", "devices"])).out).toMatch(/Phone \[2J +asks to be paired/);
  const wrong = await run(workspace, ["gateway", "pair", "WRONGWRO"]);
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("No device waits with this code.") });
  const strange = await run(workspace, ["gateway", "pair", code!, "--scopes", "read,root"]);
  expect(strange).toMatchObject({ code: 2, err: expect.stringContaining('There is no scope "root"') });
  const paired = await run(workspace, [
    "gateway",
    "pair",
    code!.toLowerCase(),
    "--scopes",
    "read",
    "--name",
    "My phone",
  ]);
  expect(paired.out).toMatch(
    /^My phone may connect now, with the scopes read\. To end that: tau gateway revoke \S+\n$/,
  );
  const { deviceId, token } = await post("/pair/claim", { requestId: requestId!, secret: secret! });
  const phone = await connectRaw(url, { token: token!, deviceId: deviceId! });
  const listed = await run(workspace, ["gateway", "devices", "--json"]);
  const devices = listed.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(devices).toMatchObject([
    { id: "local" },
    { id: deviceId, name: "My phone", scopes: ["read"], state: "paired" },
  ]);
  expect(listed.out).not.toContain(token);
  expect(await run(workspace, ["gateway", "revoke", deviceId!])).toMatchObject({ code: 0 });
  expect(await phone.closed).toBe(1008);
  expect(await run(workspace, ["gateway", "revoke", deviceId!])).toMatchObject({
    code: 1,
    err: expect.stringContaining("There is no device"),
  });
});

test("without a gateway, the token and the devices are there, and pairing says what is missing", async () => {
  const workspace = await createWorkspace();
  const { out: token } = await run(workspace, ["gateway", "token"]);
  expect(token).toMatch(/^[\w-]{43}\n$/);
  expect((await run(workspace, ["gateway", "token"])).out).toBe(token);
  expect((await run(workspace, ["gateway", "devices"])).out).toMatch(
    /^DEVICE .*\nlocal +This account +read write approve admin pair/,
  );
  expect(await run(workspace, ["gateway", "pair", "ABCDEFGH"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("tau gateway"),
  });
  expect(await run(workspace, ["gateway", "revoke", "nobody"])).toMatchObject({ code: 2 });
  expect(await run(workspace, ["gateway", "revoke", "local"])).toMatchObject({
    out: expect.stringContaining("a new token"),
  });
  expect((await run(workspace, ["gateway", "token"])).out).not.toBe(token);
});

test("its log can be read while it runs and afterwards, and has no token", async () => {
  const workspace = await createWorkspace();
  expect((await run(workspace, ["gateway", "logs"])).out).toBe("The gateway has written nothing yet.\n");
  expect(await run(workspace, ["gateway", "reload"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("No gateway"),
  });
  const { url, token } = await startGateway(workspace);
  expect(await run(workspace, ["gateway", "reload"])).toMatchObject({ code: 0, out: "Nothing has changed.\n" });
  await run(workspace, ["config", "set", "gateway.host", "localhost"]);
  expect((await run(workspace, ["gateway", "reload"])).out).toBe(
    "New: gateway\nChanged, but only in effect after a restart: gateway.host\n",
  );
  await run(workspace, ["config", "unset", "gateway.host"]);
  expect((await run(workspace, ["gateway", "reload"])).out).toBe("New: gateway\n");
  const stop = new AbortController();
  const { io, written } = createIo(workspace, { signal: stop.signal });
  const following = main(["gateway", "logs", "-f"], io);
  await expect.poll(() => written.out).toContain(`listens on ${url}`);
  await fetch(`${url.replace("ws", "http")}/pair/request`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: token }),
  });
  await expect.poll(() => written.out).toContain("asks to be paired");
  stop.abort();
  await following;
  await run(workspace, ["gateway", "stop"]);
  const { out } = await run(workspace, ["gateway", "logs", "-n", "1"]);
  expect(out).toMatch(/^\S+Z The gateway stops\.\n$/);
  expect(await readFile(join(workspace.agentDir, "gateway", "gateway.log"), "utf8")).not.toContain(token);
});

test("following the log, no line is lost after one that is not valid text", async () => {
  const workspace = await createWorkspace();
  const path = join(workspace.agentDir, "gateway", "gateway.log");
  const toLine = (data: string) => `${JSON.stringify({ time: "2026-01-01T00:00:00Z", event: "gateway", data })}\n`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, toLine("first"));
  const stop = new AbortController();
  const { io, written } = createIo(workspace, { signal: stop.signal });
  const following = main(["gateway", "logs", "-f"], io);
  await expect.poll(() => written.out).toContain("first");
  await appendFile(path, Buffer.from(toLine("damaged \u00ff\u00ff\u00ff"), "latin1"));
  await expect.poll(() => written.out).toContain("damaged");
  await appendFile(path, toLine("last"));
  await expect.poll(() => written.out).toContain("last");
  stop.abort();
  await following;
});

test("sessions of a directory run with its settings, and an untrusted project stays so", async () => {
  const workspace = await createModelWorkspace([textReply("Hello from here.")]);
  const extensions = join(workspace.directory, ".tau", "extensions");
  const mark = join(workspace.directory, "ran");
  await mkdir(extensions, { recursive: true });
  const source = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(mark)}, "");\nexport default () => {};\n`;
  await writeFile(join(extensions, "marks.ts"), source);
  const { url, token } = await startGateway(workspace);
  const client = await connectRaw(url, { token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace.directory });
  await client.must("sessions.subscribe", { sessionId });
  await client.must("session.execute", { sessionId, prompt: "Say hello." });
  expect(JSON.stringify(client.frames)).toContain("Hello from here.");
  expect(existsSync(mark)).toBe(false);
  client.close();
});

test.each([
  [["--port", "seven"], 2, "--port takes a number"],
  [["--port", "70000"], 2, "--port takes a number"],
  [["--host", "0.0.0.0"], 1, "Without TLS the gateway listens on this machine only, not on 0.0.0.0."],
  [["stat"], 2, "status"],
])("tau gateway %j says what is wrong in a sentence", async (args, code, message) => {
  const workspace = await createWorkspace();
  const result = await run(workspace, ["gateway", ...args]);
  expect(result).toMatchObject({ code, err: expect.stringContaining(message) });
  expect(result.err.trim().split("\n")).toHaveLength(1);
});

test("a file of devices that others can read is said in a sentence", async () => {
  const workspace = await createWorkspace();
  await run(workspace, ["gateway", "token"]);
  const path = join(workspace.agentDir, "gateway", "devices.json");
  await chmod(path, 0o640);
  const result = await run(workspace, ["gateway", "--port", "0"]);
  expect(result).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^tau gateway: .*devices\.json is not used: others may read/),
  });
  await chmod(path, 0o600);
  await writeFile(path, "{");
  expect((await run(workspace, ["gateway", "devices"])).err).toMatch(/is damaged/);
});
