/** The file with the tokens: made once, read by nobody else, believed at any moment. */
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { findGateway, getGatewayFiles } from "@tau/protocol/node";
import { expect, onTestFinished, test } from "vitest";
import { openDevices } from "../../src/auth/devices.ts";
import { createToken } from "../../src/auth/token.ts";
import { toFault } from "../../src/errors.ts";
import { connectRaw, openTestGateway } from "../../src/testing/index.ts";

async function createAgentDir(): Promise<string> {
  const agentDir = await mkdtemp(join(tmpdir(), "tau-devices-"));
  onTestFinished(() => rm(agentDir, { recursive: true, force: true, maxRetries: 10 }));
  return agentDir;
}

const open = (agentDir: string, log: (line: string) => void = () => {}) =>
  openDevices({ agentDir, clock: systemClock, ids: systemIds, log });

const getMode = async (path: string) => (await stat(path)).mode & 0o777;

test("a token of 256 bits is made once, in a file and a directory that only their user can look into", async () => {
  const agentDir = await createAgentDir();
  const { directory, devices: path } = getGatewayFiles(agentDir);
  const token = (await open(agentDir)).getOwnToken()!;
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  expect(await getMode(directory)).toBe(0o700);
  expect(await getMode(path)).toBe(0o600);
  expect(await getMode(getGatewayFiles(agentDir).token)).toBe(0o600);
  expect((await open(agentDir)).getOwnToken()).toBe(token);
  expect((await open(await createAgentDir())).getOwnToken()).not.toBe(token);
});

test("a directory that others could look into is closed to them", async () => {
  const agentDir = await createAgentDir();
  const { directory } = getGatewayFiles(agentDir);
  await mkdir(directory, { mode: 0o755 });
  await chmod(directory, 0o755);
  await open(agentDir);
  expect(await getMode(directory)).toBe(0o700);
});

test("a planted link is not followed, neither for the file nor for the directory", async () => {
  const agentDir = await createAgentDir();
  const elsewhere = join(agentDir, "elsewhere");
  const { directory, devices: path } = getGatewayFiles(agentDir);
  await mkdir(directory);
  await writeFile(elsewhere, "untouched", { mode: 0o600 });
  await symlink(elsewhere, path);
  await expect(open(agentDir)).rejects.toThrow(`${path} is not used: it is a link.`);
  expect(await readFile(elsewhere, "utf8")).toBe("untouched");
  await rm(directory, { recursive: true });
  await mkdir(join(agentDir, "other"));
  await symlink(join(agentDir, "other"), directory);
  await expect(open(agentDir)).rejects.toMatchObject({
    code: "wrong_owner",
    message: expect.stringContaining("it is a link"),
  });
});

test("a file that others can read, or that is damaged, lets nobody in and says so in a sentence", async () => {
  const agentDir = await createAgentDir();
  await open(agentDir);
  const { devices: path } = getGatewayFiles(agentDir);
  await chmod(path, 0o644);
  await expect(open(agentDir)).rejects.toThrow(/others may read or write it.*chmod 600/);
  await chmod(path, 0o600);
  const token = "x".repeat(30);
  for (const text of ["", "{", "[]", JSON.stringify({ version: 1, devices: [{ id: "local", token }] })]) {
    await writeFile(path, text);
    const failure = await open(agentDir).catch((error: Error) => error.message);
    expect(failure).toMatch(/is damaged, so nobody can be let in\. Remove it/);
    expect(failure).not.toContain(token);
  }
});

test("a file of another user is not used", async ({ skip }) => {
  if (process.getuid?.() !== 0) skip("Only root can make a file of another user.");
  const { chown } = await import("node:fs/promises");
  const agentDir = await createAgentDir();
  await open(agentDir);
  const { directory, devices: path } = getGatewayFiles(agentDir);
  await chown(path, 65_534, 65_534);
  await expect(open(agentDir)).rejects.toThrow("it belongs to another user (id 65534)");
  await chown(directory, 65_534, 65_534);
  await expect(open(agentDir)).rejects.toMatchObject({ code: "wrong_owner" });
});

test("two programs that change the file at once lose nothing", async () => {
  const agentDir = await createAgentDir();
  const [one, other] = [await open(agentDir), await open(agentDir)];
  const names = Array.from({ length: 10 }, (_unused, index) => `device ${index}`);
  await Promise.all(names.map((name, index) => (index % 2 === 0 ? one : other).add({ name, scopes: ["read"] })));
  const listed = (await open(agentDir)).list().map(({ name }) => name);
  expect(listed.toSorted()).toEqual(["This account", ...names].toSorted());
});

test("a change that the disk refuses is an error that may be tried again, and says which file", async () => {
  const agentDir = await createAgentDir();
  const { devices: path } = getGatewayFiles(agentDir);
  let directory = "";
  // A part of the name of the file that is written first.
  const ids = () => directory + systemIds();
  const devices = await openDevices({ agentDir, clock: systemClock, ids, log: () => {} });
  directory = "missing/";
  const failure = await devices.add({ name: "Phone", scopes: ["read"] }).catch((error: unknown) => error);
  expect(toFault(failure)).toEqual({
    code: "unavailable",
    message: `${path} could not be written: there is no such directory (ENOENT). It was not changed.`,
    retryable: true,
  });
  directory = "";
  await devices.add({ name: "Phone", scopes: ["read"] });
  expect(devices.list().map(({ name }) => name)).toEqual(["This account", "Phone"]);
});

test("what is changed on the disk counts at once, also for clients that only listen", async () => {
  const { gateway, token, agentDir, logged, close } = await openTestGateway();
  onTestFinished(close);
  const { devices: path } = getGatewayFiles(agentDir);
  const { id, token: phoneToken } = await gateway.parts.devices.add({ name: "Phone", scopes: ["read", "write"] });
  const phone = await connectRaw(gateway.url, { token: phoneToken, deviceId: id });
  const own = await connectRaw(gateway.url, { token });
  const before = await readFile(path, "utf8");
  const replace = async (text: string) => {
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    await rename(`${path}.new`, path);
  };

  const { devices } = JSON.parse(before) as { devices: { id: string; scopes: string[] }[] };
  const lower = devices.map((device) => (device.id === id ? { ...device, scopes: ["read"] } : device));
  await replace(JSON.stringify({ version: 2, devices: lower }));
  expect(await phone.call("sessions.create", { cwd: "/" })).toMatchObject({ ok: false, error: { code: "forbidden" } });

  await replace(JSON.stringify({ version: 2, devices: devices.filter((device) => device.id !== id) }));
  expect(await phone.closed).toBe(1008);
  expect((await own.call("health")).ok).toBe(true);

  await replace("damaged");
  expect(await own.closed).toBe(1008);
  await expect(connectRaw(gateway.url, { token })).rejects.toMatchObject({ code: "unauthorized" });
  expect(logged.join("\n")).toMatch(/is damaged, so nobody can be let in/);

  await replace(before);
  (await connectRaw(gateway.url, { token })).close();
  await unlink(path);
  await expect(connectRaw(gateway.url, { token })).rejects.toMatchObject({ code: "unauthorized" });
});

test("a gateway that runs is found by the same account, and nothing else is", async () => {
  const agentDir = await createAgentDir();
  const { address } = getGatewayFiles(agentDir);
  expect(await findGateway(agentDir)).toBeUndefined();
  const token = (await open(agentDir)).getOwnToken()!;
  expect(await findGateway(agentDir)).toBeUndefined();
  const write = (value: unknown, mode = 0o600) =>
    rm(address, { force: true }).then(() => writeFile(address, JSON.stringify(value), { mode }));
  const url = "ws://127.0.0.1:7433";
  await write({ url, pid: process.pid });
  expect(await findGateway(agentDir)).toEqual({ url, pid: process.pid, deviceId: "local", token });
  await write({ url, pid: 2 ** 30 });
  expect(await findGateway(agentDir)).toBeUndefined();
  await write({ url, pid: process.pid }, 0o666);
  await chmod(address, 0o666);
  await expect(findGateway(agentDir)).rejects.toThrow("others may read or write it");
});

const toFirstVersion = (devices: { id: string; token: string; scopes: string[] }[]) =>
  JSON.stringify({
    version: 1,
    devices: devices.map((device) => ({ ...device, name: device.id, createdAt: "2026-01-01T00:00:00.000Z" })),
  });

test("tokens in a file of the first version stay valid, and are in no file afterwards but that of the account", async () => {
  const agentDir = await createAgentDir();
  const files = getGatewayFiles(agentDir);
  const [own, phone] = [createToken(), createToken()];
  await mkdir(files.directory, { mode: 0o700 });
  const old = toFirstVersion([
    { id: "local", token: own, scopes: ["read", "write", "approve", "admin", "pair"] },
    { id: "phone", token: phone, scopes: ["read"] },
  ]);
  await writeFile(files.devices, old, { mode: 0o600 });
  const devices = await open(agentDir);
  expect(devices.checkToken(own)?.id).toBe("local");
  expect(devices.checkToken(phone)).toMatchObject({ id: "phone", name: "phone", scopes: ["read"] });
  expect(devices.getOwnToken()).toBe(own);
  const texts = await Promise.all(
    (await readdir(files.directory)).map(async (name) => [name, await readFile(join(files.directory, name), "utf8")]),
  );
  expect(texts.filter(([, text]) => text!.includes(phone))).toEqual([]);
  expect(texts.filter(([, text]) => text!.includes(own)).map(([name]) => name)).toEqual(["local.token"]);
});

test("what is in the file with the devices lets nobody in", async () => {
  const { gateway, agentDir, close } = await openTestGateway();
  onTestFinished(close);
  const { devices: path } = getGatewayFiles(agentDir);
  await gateway.parts.devices.add({ name: "Phone", scopes: ["read", "write", "admin"] });
  const { devices } = JSON.parse(await readFile(path, "utf8")) as { devices: Record<string, string>[] };
  for (const device of devices) {
    for (const stolen of Object.values(device).filter((value) => typeof value === "string")) {
      const deviceId = device["id"]!;
      await expect(connectRaw(gateway.url, { token: stolen, deviceId })).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:unauthorized|rate_limited)$/),
      });
      const headers = { authorization: `Bearer ${stolen.replaceAll(/[^\w-]/g, "")}` };
      const answer = await fetch(`${gateway.url.replace("ws", "http")}/v1/models`, { headers });
      expect([401, 429]).toContain(answer.status);
    }
  }
});

test("a new token that was written and not announced counts after the next start", async () => {
  const agentDir = await createAgentDir();
  const first = (await open(agentDir)).getOwnToken()!;
  const next = createToken();
  await writeFile(getGatewayFiles(agentDir).token, next, { mode: 0o600 });
  const devices = await open(agentDir);
  expect(devices.checkToken(next)?.id).toBe("local");
  expect(devices.checkToken(first)).toBeUndefined();
});
