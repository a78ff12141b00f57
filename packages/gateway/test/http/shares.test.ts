/** Shared pages over real sockets: who gets them, what the answer allows, and when they are gone. */
import { mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { getLedgerPath } from "@tau/policy";
import { expect, onTestFinished, test } from "vitest";
import { Shares, shareLifeMs } from "../../src/shares/shares.ts";
import { connectRaw, openTestGateway } from "../../src/testing/index.ts";

const page = { sessionId: "0199-a", title: "A title", html: "<!doctype html><p>the page</p>" };

async function open(shares: boolean) {
  const opened = await openTestGateway({ settings: { gateway: { shares } } });
  onTestFinished(opened.close);
  const { agentDir } = opened.gateway.parts;
  const url = opened.gateway.url.replace(/^ws/, "http");
  const get = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, { redirect: "manual", ...init });
  const readAudit = async () => await readFile(getLedgerPath(agentDir), "utf8").catch(() => "");
  return { ...opened, agentDir, get, url, shares: opened.gateway.parts.shares, readAudit };
}

test("whoever has the address gets the page and nothing else, in an origin of its own", async () => {
  const { get, shares } = await open(true);
  const { token } = await shares.add(page);
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  const response = await get(`/share/${token}`);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(page.html);
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  const policy = headers["content-security-policy"]!.split("; ");
  expect(policy).toEqual(expect.arrayContaining(["sandbox", "default-src 'none'", "frame-ancestors 'none'"]));
  expect(headers["content-security-policy"]).not.toMatch(/allow-|script-src|connect-src/);
  expect(headers).not.toHaveProperty("set-cookie");
  expect(headers).not.toHaveProperty("access-control-allow-origin");
  // The token opens no other door.
  const authorization = `Bearer ${token}`;
  expect((await get("/v1/models", { headers: { authorization } })).status).toBe(401);
  expect((await get(`/share/${token}`, { method: "POST" })).status).toBe(405);
});

test("a link is off unless the setting is on, and then off again", async () => {
  const { get, shares, gateway } = await open(false);
  const { token } = await shares.add(page);
  const refused = await get(`/share/${token}`);
  expect([refused.status, await refused.text()]).toEqual([404, expect.not.stringContaining("the page") as string]);
  await gateway.parts.settings.update("global", { gateway: { shares: true } });
  expect((await get(`/share/${token}`)).status).toBe(200);
  await gateway.parts.settings.update("global", { gateway: { shares: false } });
  expect((await get(`/share/${token}`)).status).toBe(404);
});

test("a wrong address is counted like a wrong token, and a right one still opens", async () => {
  const { get, shares } = await open(true);
  const { token } = await shares.add(page);
  const statuses: number[] = [];
  for (let index = 0; index < 12; index++) statuses.push((await get(`/share/wrong${index}`)).status);
  expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 404));
  expect(statuses.slice(10)).toEqual([429, 429]);
  expect((await get(`/share/${token}`)).status).toBe(200);
  // Other names are checked before anything else, as everywhere.
  for (const path of ["/share/", "/share", `/share/${token}/x`, `/share/..%2f${token}`]) {
    expect((await get(path)).status, path).toBe(404);
  }
  expect((await get(`/share/${token}`, { headers: { origin: "https://evil.example" } })).status).toBe(403);
});

test("a share is gone when it is taken back, and after 7 days; the audit has all of it and no token", async () => {
  const { agentDir, get, shares, readAudit } = await open(true);
  const { id, token, createdAt, expiresAt } = await shares.add(page);
  expect(expiresAt - createdAt).toBe(shareLifeMs);
  expect(await shares.list()).toEqual([{ id, sessionId: page.sessionId, title: page.title, createdAt, expiresAt }]);
  await get(`/share/${token}`);
  await get(`/share/${token}`);
  expect(await shares.revoke("000000000000")).toBe(false);
  expect(await shares.revoke(id)).toBe(true);
  expect((await get(`/share/${token}`)).status).toBe(404);
  const audit = await readAudit();
  const records = audit
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string; outcome: string; share: string });
  const outcomes = records
    .filter(({ event, share }) => event === "share" && share === id)
    .map(({ outcome }) => outcome);
  // Openings within a minute are one record.
  expect(outcomes).toEqual(["made", "opened", "revoked"]);
  expect(audit).not.toContain(token);

  const clock = createFakeClock();
  const own = new Shares({ agentDir, clock });
  const other = await own.add(page);
  await clock.advance(shareLifeMs - 1);
  expect(await own.open(other.token)).toBeDefined();
  await clock.advance(1);
  expect(await own.open(other.token)).toBeUndefined();
  expect(await own.list()).toEqual([]);
  expect(await readdir(join(agentDir, "gateway", "shares"))).toEqual([]);
});

test("what a killed process left of a share is removed, once nobody can still be writing it", async () => {
  const { agentDir, shares } = await open(true);
  await shares.add(page);
  const directory = join(agentDir, "gateway", "shares");
  const whole = await readdir(directory);
  const [old, young] = ["a", "b"].map((character) => `${character.repeat(64)}.html`) as [string, string];
  const draft = `${old}.${crypto.randomUUID()}`;
  for (const name of [old, draft, young]) await writeFile(join(directory, name), page.html);
  const before = new Date(Date.now() - 2 * 60 * 60_000);
  for (const name of [...whole, old, draft]) await utimes(join(directory, name), before, before);
  await shares.list();
  expect((await readdir(directory)).toSorted()).toEqual([...whole, young].toSorted());
});

test("an error while a page is opened is logged without the address", async () => {
  const { agentDir, shares, get, logged } = await open(true);
  const { token } = await shares.add(page);
  const directory = join(agentDir, "gateway", "shares");
  const html = join(
    directory,
    (await readdir(directory)).find((name) => name.endsWith(".html"))!,
  );
  await rm(html);
  await mkdir(html);
  expect((await get(`/share/${token}`)).status).toBe(500);
  expect(logged.join("\n")).toContain("GET /share/…: EISDIR");
  expect(logged.join("\n")).not.toContain(token);
});

test("a client makes, lists and takes back links, if it may do everything, and no answer of it is kept", async () => {
  const { agentDir, gateway, token, workspace, get, readAudit } = await open(true);
  const client = await connectRaw(gateway.url, { token });
  onTestFinished(() => client.close());
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace, name: "A name" });
  const create = { sessionId, leaveOut: ["output"], idempotencyKey: "one" };
  const { id, path, title } = await client.must<{ id: string; path: string; title: string }>("shares.create", create);
  expect(title).toBe("A name");
  const page = await get(path);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("A name") as string]);
  // The same request again: the address of the first one is not known any more.
  const again = await client.must<{ id: string }>("shares.create", create);
  const ids = (await client.must<{ shares: { id: string }[] }>("shares.list")).shares.map((share) => share.id);
  expect(ids.toSorted()).toEqual([id, again.id].toSorted());
  expect(await client.must("shares.revoke", { id })).toEqual({ revoked: true });
  expect(await client.must("shares.revoke", { id })).toEqual({ revoked: false });
  expect((await get(path)).status).toBe(404);
  const stored = await readdir(join(agentDir, "gateway"), { recursive: true, withFileTypes: true });
  const secret = path.slice("/share/".length);
  for (const file of stored.filter((each) => each.isFile()))
    expect(await readFile(join(file.parentPath, file.name), "utf8"), file.name).not.toContain(secret);
  expect(await readAudit()).not.toContain(secret);
});

test("a client makes no link while they are off", async () => {
  const { gateway, token, workspace } = await open(false);
  const client = await connectRaw(gateway.url, { token });
  onTestFinished(() => client.close());
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  await expect(client.must("shares.create", { sessionId })).rejects.toThrow("tau config set gateway.shares true");
  expect(await client.must("shares.list")).toEqual({ shares: [] });
});

test("nothing that is stored leads to an address, and a damaged description is no share", async () => {
  const { agentDir, shares, get } = await open(true);
  const { token, id } = await shares.add(page);
  const directory = join(agentDir, "gateway", "shares");
  const names = await readdir(directory);
  expect(names.map((name) => name.slice(0, 12))).toEqual([id, id]);
  for (const name of names) {
    expect(name).not.toContain(token);
    expect(await readFile(join(directory, name), "utf8")).not.toContain(token);
  }
  await writeFile(
    join(
      directory,
      names.find((name) => name.endsWith(".json"))!,
    ),
    "{",
  );
  expect((await get(`/share/${token}`)).status).toBe(404);
});
