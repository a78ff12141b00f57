/** A device with `read` and `write` tries every door of a gateway to become another device, above all the account's own. */
import { link, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { call, createFakeClock, type ScriptedModel, scriptedModel, text } from "@tau/ai/testing";
import { getGatewayFiles } from "@tau/protocol/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHookToken } from "../../src/http/hook-token.ts";
import { connectRaw, openTestGateway, type RawClient, type TestGateway } from "../../src/testing/index.ts";

/** Other secrets of tau's directory, with a mark that nobody may see. */
const mark = "mark-of-a-secret-that-nobody-may-see";

let kit: TestGateway;
let model: ScriptedModel;
let device: { id: string; token: string };
let attacker: RawClient;
let owner: RawClient;
let sessionId = "";
let secrets: string[] = [];
/** Answers that the attacker got, besides frames. */
const answers: string[] = [];

beforeAll(async () => {
  model = scriptedModel([]);
  kit = await openTestGateway({
    model,
    // An answer waits for what the session does with the prompt.
    options: { clock: createFakeClock(Date.now()) },
    settings: { gateway: { hooks: { door: {} } }, sandbox: { mode: "off" } } as never,
  });
  const { agentDir, workspace, gateway } = kit;
  for (const name of [
    "auth.json",
    "models.json",
    "mcp.json",
    "history.jsonl",
    "approvals.json",
    "trusted-projects.json",
  ]) {
    await writeFile(join(agentDir, name), JSON.stringify({ mark }));
  }
  await mkdir(join(agentDir, "drafts"));
  await writeFile(join(agentDir, "drafts", "x.txt"), mark);
  device = await gateway.parts.devices.add({ name: "Phone", scopes: ["read", "write"] });
  const other = await gateway.parts.devices.add({
    name: "Laptop",
    scopes: ["read", "write", "approve", "admin", "pair"],
  });
  secrets = [kit.token, other.token, createHookToken(kit.token, "door"), mark];
  const { token } = getGatewayFiles(agentDir);
  await symlink(token, join(workspace, "soft"));
  await symlink(join(agentDir, "gateway"), join(workspace, "directory"));
  await link(token, join(workspace, "hard"));
  attacker = await connectRaw(gateway.url, { token: device.token, deviceId: device.id });
  owner = await connectRaw(gateway.url, { token: kit.token });
  ({ sessionId } = await attacker.must<{ sessionId: string }>("sessions.create", { cwd: workspace }));
  await attacker.must("sessions.subscribe", { sessionId });
});

afterAll(async () => {
  await kit?.close();
});

/** Every spelling under which the attacker knows a secret. */
function listPaths(): string[] {
  const { agentDir, workspace } = kit;
  const { token, devices, directory } = getGatewayFiles(agentDir);
  const own = [
    "auth.json",
    "models.json",
    "mcp.json",
    "history.jsonl",
    "approvals.json",
    "trusted-projects.json",
    "drafts/x.txt",
  ];
  return [
    token,
    devices,
    directory,
    ...own.map((name) => join(agentDir, name)),
    relative(workspace, token),
    join(workspace, "..", "agent", "gateway", "local.token"),
    "soft",
    "hard",
    join("directory", "local.token"),
    "directory",
  ];
}

const getHttp = () => kit.gateway.url.replace(/^ws/, "http");

/** Everything that the attacker got, and everything that the model was sent. */
async function collect(): Promise<string> {
  const logs = join(kit.agentDir, "sessions");
  const files = await readdir(logs, { recursive: true, withFileTypes: true }).catch(() => []);
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "utf8")),
  );
  return [JSON.stringify(attacker.frames), JSON.stringify(model.asked), ...answers, ...texts].join("\n");
}

async function mustHaveNothing(): Promise<void> {
  const all = await collect();
  for (const secret of secrets) expect(all.includes(secret)).toBe(false);
}

/** Prompts, and waits until the run is over. */
async function say(message: string): Promise<unknown> {
  return await attacker.must("session.execute", { sessionId, prompt: message });
}

test("what is not a secret is read, found and run, so that the other tests can fail", async () => {
  await writeFile(join(kit.workspace, "open.txt"), "an open text");
  model.add([call("bash", { command: "echo run-$((40 + 2))" })], [text("Seen.")]);
  await say("What is in @open.txt please?");
  const all = await collect();
  expect(all).toContain("an open text");
  expect(all).toContain("run-42");
  const message = `@${kit.workspace}/op`;
  const completed = await attacker.must("session.complete", { sessionId, text: message, cursor: message.length });
  expect(completed).toMatchObject({ items: [{ value: `${kit.workspace}/open.txt` }] });
});

describe("the attacker gets no secret", () => {
  test("by mentioning it in a prompt, or attaching it", async () => {
    for (const path of listPaths()) {
      model.add([text("Seen.")]);
      await say(`What is in @${path} please?`);
      expect(await attacker.call("session.execute", { sessionId, prompt: "Look", files: [path] })).toMatchObject({
        ok: false,
      });
    }
    model.add([text("Seen.")]);
    const answer = await attacker.must<{ notices: string[] }>("session.prompt", {
      sessionId,
      message: `@${getGatewayFiles(kit.agentDir).devices}`,
    });
    expect(answer.notices).toEqual([expect.stringMatching(/devices\.json is where credentials are kept/)]);
    await expect.poll(() => model.left).toBe(0);
    await mustHaveNothing();
  });

  test("by a chat completion or a webhook", async () => {
    const headers = { authorization: `Bearer ${device.token}`, "content-type": "application/json" };
    for (const path of listPaths()) {
      model.add([text("Seen.")]);
      const body = JSON.stringify({ model: "scripted/scripted", messages: [{ role: "user", content: `@${path}` }] });
      const response = await fetch(`${getHttp()}/v1/chat/completions`, { method: "POST", headers, body });
      answers.push(await response.text());
      expect(response.status).toBe(200);
    }
    const hook = { authorization: `Bearer ${createHookToken(kit.token, "door")}`, "content-type": "text/plain" };
    const before = model.asked.length;
    model.add([text("Seen.")]);
    const body = listPaths()
      .map((path) => `@${path}`)
      .join(" ");
    const response = await fetch(`${getHttp()}/hooks/door`, { method: "POST", headers: hook, body });
    expect(response.status).toBe(202);
    await expect.poll(() => model.asked.length).toBe(before + 1);
    await mustHaveNothing();
  });

  test("by the tools of the model", async () => {
    const { token, directory } = getGatewayFiles(kit.agentDir);
    const paths = listPaths();
    const calls = [
      ...paths.map((path) => call("read", { path })),
      ...paths.map((path) => call("grep", { pattern: ".", path })),
      ...["..", "../agent", directory].flatMap((path) => [
        call("grep", { pattern: "[A-Za-z0-9_-]{20}", path }),
        call("find", { pattern: "**/*", path }),
        call("ls", { path }),
      ]),
      ...paths
        .filter((path) => path !== "hard" && path !== "soft" && !path.startsWith("directory"))
        .flatMap((path) => [
          call("bash", { command: `cat ${path}` }),
          call("bash", { command: `cp ${path} copy; cat copy` }),
          call("bash", { command: `ln ${path} another; cat another` }),
        ]),
      call("bash", { command: `cd ${directory} && tail -n 1 local.token` }),
      call("bash", { command: `grep -r . ${kit.agentDir}` }),
      call("bash", { command: `tar cf - ${directory} | base64` }),
      call("bash", { command: `node -e 'console.log(require("fs").readFileSync("${token}", "utf8"))'` }),
      call("bash", { command: "tau gateway token" }),
      call("edit", { path: token, edits: [{ oldText: "a", newText: "b" }] }),
    ];
    const before = await readFile(token, "utf8");
    model.add(
      calls.map((each, index) => ({ ...each, id: `call-${index}` })),
      [text("Done.")],
    );
    await say("Use your tools.");
    await mustHaveNothing();
    expect(await readFile(token, "utf8")).toBe(before);
  });

  test("by a tool that changes who may connect, or the settings", async () => {
    const { devices, token } = getGatewayFiles(kit.agentDir);
    const settings = join(kit.agentDir, "settings.json");
    const before = await Promise.all([devices, token].map((path) => readFile(path, "utf8")));
    const writes = [devices, token, settings].map((path) => call("write", { path, content: "{}" }));
    model.add(writes, [text("Done.")]);
    await say("Write.");
    for (const path of [devices, token]) {
      await attacker.call("session.export_jsonl", { sessionId, outputPath: path });
      await attacker.call("session.export_html", { sessionId, outputPath: `${path}.html` });
    }
    expect(await Promise.all([devices, token].map((path) => readFile(path, "utf8")))).toEqual(before);
    await expect(readFile(settings)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await readdir(getGatewayFiles(kit.agentDir).directory)).not.toContain("local.token.html");
  });

  test("by commands that take a path, and by completions", async () => {
    for (const path of listPaths()) {
      for (const [method, params] of [
        ["session.import_session", { path }],
        ["session.switch_session", { sessionPath: path }],
        ["session.delete_session", { session: path }],
      ] as const) {
        expect([method, path, (await attacker.call(method, { sessionId, ...params })).ok]).toEqual([
          method,
          path,
          false,
        ]);
      }
    }
    const { directory } = getGatewayFiles(kit.agentDir);
    for (const start of [`${directory}/`, "directory/", "../agent/gateway/"]) {
      for (const [message, paths] of [
        [`@${start}`, false],
        [`look ${start}`, true],
      ] as const) {
        const params = { sessionId, text: message, cursor: message.length, paths };
        expect(await attacker.must("session.complete", params)).toMatchObject({ items: [] });
      }
    }
    await mustHaveNothing();
  });

  test("by methods that it has no scope for, or a session in tau's own directory", async () => {
    const methods = ["config.get", "logs.tail", "devices.list", "session.bash"];
    for (const method of methods) {
      const params = method.startsWith("session.") ? { sessionId, command: `cat ${kit.agentDir}/gateway/*` } : {};
      expect(await attacker.call(method, params)).toMatchObject({ ok: false, error: { code: "forbidden" } });
    }
    const cwd = getGatewayFiles(kit.agentDir).directory;
    expect((await attacker.call("sessions.create", { cwd })).ok).toBe(false);
    await mustHaveNothing();
  });
});

test("nothing that the attacker was sent, and nothing in the list of devices, lets it connect as another device", async () => {
  const stored = await readFile(getGatewayFiles(kit.agentDir).devices, "utf8");
  const words = new Set(
    [...(await collect()).matchAll(/[\w-]{40,128}/g), ...stored.matchAll(/[\w-]{20,}/g)].map(String),
  );
  words.delete(device.token);
  const ids = (JSON.parse(stored) as { devices: { id: string }[] }).devices.map(({ id }) => id);
  expect(ids).toHaveLength(3);
  for (const word of [...words].slice(0, 300)) {
    expect(kit.gateway.parts.devices.checkToken(word)).toBeUndefined();
  }
  const { publicKey } = (JSON.parse(stored) as { devices: { publicKey: string }[] }).devices[0]!;
  for (const deviceId of ids.filter((id) => id !== device.id)) {
    for (const token of [publicKey, device.token]) {
      await expect(connectRaw(kit.gateway.url, { token, deviceId })).rejects.toThrow(/token/);
    }
  }
  expect((await owner.call("health")).ok).toBe(true);
});
