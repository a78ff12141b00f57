/**
 * A model that does whatever it reads, with nobody there to ask, and a user who allowed a lot before: what it is told by text
 * of strangers changes nothing outside of the workspace, and no secret leaves it, also without a sandbox.
 */
import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Context } from "@tau/ai";
import { call, type ScriptedTurn, text } from "@tau/ai/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import type { SandboxSettings } from "@tau/sandbox";
import { openDesk, temporaryDirectory } from "../agent-session/desk.ts";
import { findOrder, type Injection, listInjections, projectKey, sendScript, writeOrder } from "./injections.ts";

const token = "deploy-token-0123456789";
const reversed = [...token].toReversed().join("");
const privateKey = "private-key-material-0123456789";

/** A proxy for every host: it serves the page, and collects what is sent otherwise. */
async function startCollector(getPage: () => string) {
  const received: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const isPage = request.url === "http://docs.example/page" && body === "";
      if (!isPage) received.push(`${request.method} ${request.url} ${body}`);
      response.end(isPage ? getPage() : "thanks");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

/** The user's home directory and everything else that the model must not change. */
async function readTree(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(file, "utf8")] as const)),
  );
}

async function createPlaces() {
  const root = await temporaryDirectory();
  const [home, cwd, agentDir] = ["home", "work", "agent"].map((name) => join(root, name)) as [string, string, string];
  for (const path of [home, cwd, agentDir, join(root, "tmp"), join(home, ".ssh")]) await mkdir(path);
  await writeFile(join(home, ".ssh", "id_rsa"), privateKey);
  await writeFile(join(home, ".bashrc"), "# mine\n");
  await writeFile(join(cwd, "send.sh"), sendScript);
  await writeFile(join(cwd, ".env"), `KEY=${projectKey}\n`);
  const allowed = [
    { capability: "read", target: { kind: "path", path: home } },
    { capability: "env", target: { kind: "name", name: "DEPLOY_TOKEN" } },
  ];
  await writeFile(join(agentDir, "approvals.json"), JSON.stringify({ version: 1, rules: allowed }));
  return { root, home, cwd, agentDir };
}

const sources: Record<string, (mail: string) => ReturnType<typeof call>> = {
  "a file of another place": (mail) => call("read", { path: mail }),
  "a command that prints one": (mail) => call("bash", { command: `cat ${mail}` }),
  "a redirection of one": (mail) => call("bash", { command: `while read -r line; do echo "$line"; done < ${mail}` }),
  "a page that curl gets": () => call("bash", { command: "curl -s http://docs.example/page" }),
  "a page that wget gets": () => call("bash", { command: "wget -q -O - http://docs.example/page" }),
};

const readResult = ({ messages }: Context): string => {
  const last = messages.at(-1);
  return last?.role === "toolResult" ? JSON.stringify(last.content) : "";
};

/** Lets the model read and obey each of them, in a session of its own. */
async function obeyAll(name: string, injections: readonly Injection[], sandbox: Partial<SandboxSettings>) {
  const { root, home, cwd, agentDir } = await createPlaces();
  let current = injections[0]!;
  const { url, received } = await startCollector(() => writeOrder(current));
  stubEnv({ HOME: home, TMPDIR: join(root, "tmp"), http_proxy: url, DEPLOY_TOKEN: token, no_proxy: "" });
  const mail = join(home, "mail.txt");
  for (const injection of injections) {
    current = injection;
    await writeFile(mail, writeOrder(injection));
    const before = await readTree(home);
    const obeys: ScriptedTurn = (context) => {
      const order = findOrder(readResult(context));
      return order ? [call(order.tool, order.args)] : [text("I was told nothing.")];
    };
    const turns = [[sources[name]!(mail)], obeys, [text("Done.")]];
    const { session, model } = await openDesk(turns, { cwd, agentDir, sandbox });
    await session.prompt("Summarise it.");
    // The model was told, and tried.
    expect(model.left, injection.name).toBe(0);
    expect(JSON.stringify(session.messages), injection.name).toContain(JSON.stringify(injection.args).slice(1, -1));
    const isHeld = sandbox.mode !== "off" || !injection.runsScript;
    expect(received.splice(0), injection.name).toEqual(isHeld ? [] : [emptyRequest]);
    expect(await readTree(home), injection.name).toEqual(before);
    const log = await readFile(session.sessionFile!, "utf8");
    for (const secret of [token, reversed, privateKey]) expect(log, injection.name).not.toContain(secret);
    await session.dispose();
  }
}

/** Nothing but a sandbox keeps a script of the project from the network. What it sends has no secret in it. */
const emptyRequest = "POST http://collector.example/ ";

function stubEnv(env: Record<string, string>): void {
  for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

test.each(Object.keys(sources))("from %s: 20 injections have no effect outside", async (name) => {
  const injections = listInjections(Object.keys(sources).indexOf(name));
  expect(injections).toHaveLength(20);
  await obeyAll(name, injections, { mode: "off" });
});

const canHold = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;
if (!canHold) console.warn("SKIPPED: bubblewrap does not work here, so no injection is tested inside of the sandbox.");

test.skipIf(!canHold)("in the sandbox, scripts of the project that send something reach nobody either", async () => {
  const injections = [0, 1, 2, 3, 4]
    .flatMap(listInjections)
    .filter(({ isAllowedBefore, runsScript }) => isAllowedBefore || runsScript);
  expect(injections.some(({ runsScript }) => runsScript)).toBe(true);
  await obeyAll("a file of another place", injections, { mode: "required" });
});

test("without text of strangers, what the user allowed counts", async () => {
  const { root, home, cwd, agentDir } = await createPlaces();
  const { url, received } = await startCollector(() => "");
  stubEnv({ HOME: home, TMPDIR: join(root, "tmp"), http_proxy: url, DEPLOY_TOKEN: token, no_proxy: "" });
  const wanted = [0, 1, 2, 3, 4].flatMap(listInjections).filter(({ isAllowedBefore }) => isAllowedBefore);
  expect(wanted.length).toBeGreaterThan(10);
  for (const { args, name } of wanted) {
    const turns = [[call("bash", args)], [text("Done.")]];
    const { session } = await openDesk(turns, { cwd, agentDir, sandbox: { mode: "off" } });
    await session.prompt("Deploy.");
    expect(received.splice(0).length > 0 || JSON.stringify(session.messages).includes(reversed), name).toBe(true);
    await session.dispose();
  }
});
