import { mkdir, readdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { SessionManager } from "@tau/harness";
import { writeTrust } from "@tau/config/trust";
import { expect, onTestFinished, test } from "vitest";
import { parseSessionArgs } from "../src/start/args.ts";
import { Hosts } from "../src/hosting/hosts.ts";
import { createIo, createModelWorkspace, textReply } from "./kit.ts";

async function open() {
  const workspace = await createModelWorkspace([textReply("Hello.")]);
  const { io } = createIo(workspace);
  const parsed = parseSessionArgs([]);
  if (parsed.kind !== "session") throw new Error(parsed.kind);
  const hosts = new Hosts(parsed.options, io);
  onTestFinished(() => hosts.dispose());
  const client = await hosts.open();
  const createSession = async (cwd: string) => {
    const session = await SessionManager.create(cwd, undefined, { agentDir: workspace.agentDir });
    await session.appendSessionInfo("Elsewhere");
    await session.close();
    return session.getSessionFile()!;
  };
  return { ...workspace, hosts, client, createSession };
}

test("a session of this directory by another name is opened beside the first one", async () => {
  const { directory, hosts, client, createSession } = await open();
  const link = `${directory}-link`;
  await symlink(directory, link);
  onTestFinished(() => rm(link));
  const other = await hosts.openSession(await createSession(link), link);
  expect(hosts.get(other.sessionId).session.sessionId).toBe(other.sessionId);
  expect(hosts.get(client.sessionId).session.sessionId).toBe(client.sessionId);
});

/** Only Linux tells. */
async function isOpen(path: string): Promise<boolean> {
  const names = await readdir("/proc/self/fd");
  const paths = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
  return paths.some((other) => other.startsWith(path));
}

test.skipIf(process.platform !== "linux")("a session whose directory has broken settings is not held", async () => {
  const { directory, agentDir, hosts, createSession } = await open();
  const cwd = join(directory, "broken");
  await mkdir(join(cwd, ".tau"), { recursive: true });
  const path = await createSession(cwd);
  await writeFile(join(cwd, ".tau", "settings.json"), '{ "tools": { "excluded": ["bash"] ');
  // Those of a project that is not trusted would be ignored.
  await writeTrust({ cwd, agentDir, ids: systemIds }, true);
  await expect(hosts.openSession(path, cwd)).rejects.toThrow("settings.json");
  await expect.poll(() => isOpen(path)).toBe(false);
});
