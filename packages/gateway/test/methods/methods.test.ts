import { mkdir, mkdtemp, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { call, createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { SessionManager, SettingsManager } from "@tau/harness";
import type { EventFrame, HelloData, MethodData, OpenSessionData, ResponseFrame } from "@tau/protocol/gateway";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway, type RawClient, type TestGatewayOptions } from "../../src/testing/index.ts";

async function open(given: TestGatewayOptions = {}) {
  const opened = await openTestGateway(given);
  onTestFinished(opened.close);
  const connect = (more: Record<string, unknown> = {}) =>
    connectRaw(opened.gateway.url, { token: opened.token, connect: more });
  return { ...opened, connect, client: await connect() };
}

const create = async (client: RawClient, cwd: string) =>
  (await client.must<OpenSessionData>("sessions.create", { cwd })).sessionId;

const getCode = (response: ResponseFrame) => (response.ok ? "ok" : response.error.code);

const allowAll = () => ({ kind: "allow", rule: "test" }) as const;

describe("sessions.search", () => {
  test("finds messages of all directories for a client that may read, and needs something to search for", async () => {
    const { client, workspace } = await open({ model: scriptedModel([[text("Needles are sharp.")], [text("Two.")]]) });
    for (const name of ["a", "b"]) {
      await mkdir(join(workspace, name));
      const sessionId = await create(client, join(workspace, name));
      await client.must("session.execute", { sessionId, prompt: `A needle in ${name}.` });
    }
    const { hits } = await client.must<MethodData<"sessions.search">>("sessions.search", { text: "needle" });
    expect(hits.map(({ author, excerpt }) => `${author}: ${excerpt.text}`).toSorted()).toEqual([
      "assistant: Needles are sharp.",
      "user: A needle in a.",
      "user: A needle in b.",
    ]);
    expect(
      (await client.must<MethodData<"sessions.search">>("sessions.search", { text: "sharp are" })).hits,
    ).toHaveLength(1);
    expect(getCode(await client.call("sessions.search", { text: '""' }))).toBe("invalid_input");
    expect(getCode(await client.call("sessions.search", {}))).toBe("invalid_parameters");
  });
});

describe("usage.report", () => {
  test("counts sessions of all directories, only for the owner", async () => {
    const { client, connect, workspace, agentDir } = await open({
      model: scriptedModel([[text("One.")]]),
      settings: { budgets: { day: { cost: 5 } } },
    });
    const sessionId = await create(client, workspace);
    await client.must("session.execute", { sessionId, prompt: "First." });
    const other = await SessionManager.create(join(workspace, "elsewhere"), undefined, { agentDir });
    await other.appendMessage({ role: "assistant", provider: "acme", model: "m", content: [] } as never);
    await other.close();
    const report = await client.must<MethodData<"usage.report">>("usage.report", { by: "project" });
    expect(report.rows.map(({ name }) => name).toSorted()).toEqual([workspace, join(workspace, "elsewhere")]);
    expect(report.limits).toEqual([{ period: "day", limit: 5, spent: 0, reserved: 0, left: 5 }]);
    const same = await client.must("session.get_usage_report", { sessionId, by: "project" });
    expect(same).toEqual(report);
    expect(getCode(await client.call("usage.report", { since: "soon" }))).toBe("invalid_input");
    const guest = await connect({ scopes: ["read", "write", "approve"] });
    expect(getCode(await guest.call("usage.report"))).toBe("forbidden");
    expect(getCode(await guest.call("session.get_usage_report", { sessionId }))).toBe("forbidden");
  });
});

describe("sessions.list", () => {
  test("shows pages of all directories, the last used first, with what each is doing", async () => {
    const { client, workspace } = await open({
      model: scriptedModel([[text("One.")], [text("Two.")], [text("Three.")]]),
    });
    const ids: string[] = [];
    for (const name of ["a", "b", "c"]) {
      const directory = join(workspace, name);
      await mkdir(directory);
      const sessionId = await create(client, directory);
      await client.must("session.execute", { sessionId, prompt: `In ${name}.` });
      ids.unshift(sessionId);
    }
    await client.must("sessions.close", { sessionId: ids[0] });
    type Page = MethodData<"sessions.list">;
    const all = await client.must<Page>("sessions.list");
    expect(all.sessions.map(({ id, status }) => [id, status])).toEqual([
      [ids[0], "closed"],
      [ids[1], "idle"],
      [ids[2], "idle"],
    ]);
    const first = await client.must<Page>("sessions.list", { limit: 2 });
    expect(first.sessions.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    // A session that is used meanwhile does not move the next page.
    await client.must("session.set_session_name", { sessionId: ids[1], name: "Named" });
    const second = await client.must<Page>("sessions.list", { limit: 2, cursor: first.cursor });
    expect(second).toMatchObject({ sessions: [{ id: ids[2] }] });
    expect(second.cursor).toBeUndefined();
    const again = await client.must<Page>("sessions.list");
    expect(again.sessions[0]).toMatchObject({ id: ids[1], name: "Named" });
    const found = await client.must<Page>("sessions.list", { query: "named" });
    expect(found.sessions.map(({ id }) => id)).toEqual([ids[1]]);
    expect((await client.must<Page>("sessions.list", { named: true })).sessions).toHaveLength(1);
  });

  test("a search sees every directory, and its pages follow each other when sessions move or go", async () => {
    const sessionDir = await mkdtemp(join(tmpdir(), "tau-sessions-"));
    onTestFinished(() => rm(sessionDir, { recursive: true }));
    const { client, workspace, agentDir } = await open({ settings: { sessionDir } });
    const write = async (directory: string | undefined, name: string) => {
      const manager = await SessionManager.create(workspace, directory, { agentDir });
      await manager.appendSessionInfo(name);
      await manager.close();
      return manager.getSessionFile()!;
    };
    const files = [
      await write(sessionDir, "note a"),
      await write(undefined, "note b"),
      await write(sessionDir, "note c"),
    ];
    const others = await Promise.all(["d", "e"].map((name) => write(sessionDir, `note ${name}`)));
    for (const [index, file] of [...files, ...others].entries()) await utimes(file, 1_000 - index, 1_000 - index);
    const list = async (params: Record<string, unknown>) => {
      const page = await client.must<MethodData<"sessions.list">>("sessions.list", { query: "note", ...params });
      return [page.sessions.map(({ name }) => name?.at(-1)).join(""), page.cursor] as const;
    };
    expect((await list({}))[0]).toBe("abcde");
    const [, afterB] = await list({ limit: 2 });
    const [, byName] = await list({ limit: 2, sort: "name" });
    await utimes(files[1]!, 2_000, 2_000);
    expect((await list({ limit: 2, cursor: afterB }))[0]).toBe("cd");
    await rm(files[1]!);
    expect((await list({ limit: 3, cursor: afterB }))[0]).toBe("cde");
    expect((await list({ limit: 2, sort: "name", cursor: byName }))[0]).toBe("cd");
    for (const cursor of ["nowhere", "/", "1/two"]) {
      const refused = { ok: false, error: { code: "invalid_parameters" } };
      expect(await client.call("sessions.list", { query: "note", cursor })).toMatchObject(refused);
      if (cursor !== "1/two") expect(await client.call("sessions.list", { cursor })).toMatchObject(refused);
    }
  });

  test("what cannot be read hides nothing else, and a directory that is made again is seen", async () => {
    const { client, workspace, agentDir } = await open();
    const list = async () =>
      (await client.must<MethodData<"sessions.list">>("sessions.list")).sessions.map(({ name }) => name);
    const write = async (name: string) => {
      const manager = await SessionManager.create(workspace, undefined, { agentDir });
      await manager.appendSessionInfo(name);
      await manager.close();
      return dirname(manager.getSessionFile()!);
    };
    const directory = await write("Before");
    await symlink("loop.jsonl", join(directory, "loop.jsonl"));
    expect(await list()).toEqual(["Before"]);
    // Nobody lists the sessions meanwhile.
    await rm(directory, { recursive: true });
    await write("After");
    await expect.poll(list).toEqual(["After"]);
  });

  test("sees what other processes write, and delete", async () => {
    const { client, workspace, agentDir } = await open();
    const list = async () => (await client.must<MethodData<"sessions.list">>("sessions.list")).sessions;
    expect(await list()).toEqual([]);
    const other = await SessionManager.create(workspace, undefined, { agentDir });
    await other.appendSessionInfo("Elsewhere");
    await expect.poll(async () => (await list())[0]?.name).toBe("Elsewhere");
    const { mtime } = await stat(other.getSessionFile()!);
    await other.appendSessionInfo("Changed");
    // As if both had been written within one step of the file system's clock.
    await utimes(other.getSessionFile()!, mtime, mtime);
    await expect.poll(async () => (await list())[0]?.name).toBe("Changed");
    await other.close();
    await rm(other.getSessionFile()!);
    await expect.poll(list).toEqual([]);
  });

  test("a run that was cut is interrupted until somebody goes on", async () => {
    const { client, workspace, agentDir } = await open({ model: scriptedModel([[text("Here.")]]) });
    const cut = await SessionManager.create(workspace, undefined, { agentDir });
    await cut.appendMessage({ role: "user", content: "Unanswered.", timestamp: 1 });
    const lock = `${cut.getSessionFile()}.lock`;
    const held = JSON.parse(await readFile(lock, "utf8")) as Record<string, unknown>;
    await cut.close();
    const getStatus = async () => (await client.must<MethodData<"sessions.list">>("sessions.list")).sessions[0]?.status;
    expect(await getStatus()).toBe("closed");
    // What a process leaves that is killed.
    await writeFile(lock, JSON.stringify({ ...held, pid: 2 ** 22 + 1 }));
    expect(await getStatus()).toBe("interrupted");
    await client.must("session.execute", { sessionId: cut.id, prompt: "Go on." });
    expect(await getStatus()).toBe("idle");
  });
});

describe("commands of a session", () => {
  test("that make other sessions leave both open in the gateway", async () => {
    const { client, workspace, gateway } = await open({ model: scriptedModel([[text("One.")]]) });
    const sessionId = await create(client, workspace);
    await client.must("session.execute", { sessionId, prompt: "First." });
    const { entries } = await client.must<{ entries: { id: string; type: string }[] }>("session.get_entries", {
      sessionId,
    });
    const entryId = entries.find(({ type }) => type === "message")!.id;
    const made = [
      await client.must<{ sessionId: string }>("session.new_session", { sessionId }),
      await client.must<{ sessionId: string }>("session.branch", { sessionId, entryId }),
      await client.must<{ sessionId: string }>("session.fork", { sessionId, entryId }),
      await client.must<{ sessionId: string }>("session.clone", { sessionId }),
    ].map((each) => each.sessionId);
    for (const id of [sessionId, ...made]) {
      expect(gateway.parts.sessions.find(id), id).toBeDefined();
      expect(getCode(await client.call("sessions.subscribe", { sessionId: id }))).toBe("ok");
    }
    await client.must("sessions.close", { sessionId: made[3] });
    expect(await client.must("session.switch_session", { sessionId, sessionPath: made[3] })).toEqual({
      sessionId: made[3],
      cancelled: false,
    });
    expect(gateway.parts.sessions.find(made[3]!)).toBeDefined();
  });

  test("rename and delete sessions that are open", async () => {
    const { client, workspace, gateway } = await open({ model: scriptedModel([[text("One.")], [text("Two.")]]) });
    const [first, second] = [await create(client, workspace), await create(client, workspace)];
    for (const sessionId of [first, second]) await client.must("session.execute", { sessionId, prompt: "Hello." });
    await client.must("session.rename_session", { sessionId: first, session: second, name: "Renamed" });
    expect(gateway.parts.sessions.find(second)!.describe().name).toBe("Renamed");
    await client.must("sessions.subscribe", { sessionId: second });
    const wrong = { sessionId: first, session: second, name: "Wrong", force: true };
    for (const method of ["session.rename_session", "session.delete_session"]) {
      expect(getCode(await client.call(method, wrong))).toBe("invalid_parameters");
      expect(gateway.parts.sessions.find(second)?.describe().name).toBe("Renamed");
    }
    await client.must("session.delete_session", { sessionId: first, session: second });
    expect(client.events().at(-1)).toMatchObject({ event: "session.closed", payload: { reason: "deleted" } });
    expect(getCode(await client.call("sessions.open", { sessionId: second }))).toBe("not_found");
    await client.must("session.restore_session", { sessionId: first, session: second });
    expect(getCode(await client.call("sessions.open", { sessionId: second }))).toBe("ok");
  });

  test("delete and restore the session that they are for, also if it is the only one", async () => {
    const { client, workspace, connect } = await open({ model: scriptedModel([[text("One.")]]) });
    const sessionId = await create(client, workspace);
    await client.must("session.execute", { sessionId, prompt: "Hello." });
    await client.must("sessions.subscribe", { sessionId });
    const watcher = await connect();
    await watcher.must("sessions.watch");
    const getChanges = () =>
      (watcher.events() as { event: string; payload: unknown }[]).filter(({ event }) => event === "sessions.changed");
    const list = async () => (await client.must<MethodData<"sessions.list">>("sessions.list")).sessions;
    expect(await client.must("session.delete_session", { sessionId, session: sessionId })).toEqual({ id: sessionId });
    expect(client.events().at(-1)).toMatchObject({ event: "session.closed", payload: { reason: "deleted" } });
    expect([getCode(await client.call("sessions.open", { sessionId })), await list()]).toEqual(["not_found", []]);
    await expect.poll(() => getChanges().at(-1)?.payload).toEqual({ sessions: [{ sessionId }] });
    const before = getChanges().length;
    expect(await client.must("session.restore_session", { sessionId, session: sessionId })).toMatchObject({
      id: sessionId,
    });
    expect(await list()).toMatchObject([{ id: sessionId, status: "closed" }]);
    await expect.poll(() => getChanges().length).toBeGreaterThan(before);
    expect(getCode(await client.call("session.restore_session", { sessionId, session: sessionId }))).toMatch(
      /not_found$/,
    );
  });

  test("begin sessions that are listed, and that can be opened again after they were closed", async () => {
    const { client, workspace } = await open({ model: scriptedModel([[text("One.")]]) });
    const sessionId = await create(client, workspace);
    await client.must("session.execute", { sessionId, prompt: "Hello." });
    const { messages } = await client.must<MethodData<"session.get_fork_messages">>("session.get_fork_messages", {
      sessionId,
    });
    for (const [method, params] of [
      ["new_session", {}],
      ["fork", { entryId: messages[0]!.entryId }],
    ] as const) {
      const begun = await client.must<{ sessionId: string }>(`session.${method}`, { sessionId, ...params });
      const { sessions } = await client.must<MethodData<"sessions.list">>("sessions.list");
      expect(sessions.map(({ id }) => id)).toContain(begun.sessionId);
      await client.must("sessions.close", { sessionId: begun.sessionId });
      expect(getCode(await client.call("sessions.open", { sessionId: begun.sessionId })), method).toBe("ok");
    }
  });

  test("say which file could not be written, and why", async () => {
    const { client, workspace } = await open();
    const sessionId = await create(client, workspace);
    await writeFile(join(workspace, "file"), "");
    const outputPath = join(workspace, "file", "talk.html");
    await expect(client.must("session.export_html", { sessionId, outputPath })).rejects.toMatchObject({
      code: "write_failed",
      message: expect.stringContaining(`${outputPath} could not be written: a part of the path is not a directory`),
    });
  });

  test("reach no session file outside of the session directories", async () => {
    const { client, workspace } = await open({ model: scriptedModel([[text("One.")]]) });
    const sessionId = await create(client, workspace);
    const outside = await SessionManager.create("/", join(workspace, "planted"));
    await outside.appendSessionInfo("Planted");
    await outside.close();
    const sessionPath = outside.getSessionFile();
    expect(getCode(await client.call("session.switch_session", { sessionId, sessionPath }))).toBe("invalid_input");
  });

  test.each([
    ["switch_session", "sessionPath", {}],
    ["rename_session", "session", { name: "New" }],
    ["delete_session", "session", {}],
  ])("%s does not tell which files there are elsewhere", async (command, field, more) => {
    const { client, workspace } = await open({ model: scriptedModel([]) });
    const sessionId = await create(client, workspace);
    const ask = async (path: string) => {
      const answer = await client.call(`session.${command}`, { sessionId, [field]: path, ...more });
      return JSON.stringify(answer.ok ? answer.payload : answer.error).replaceAll(path, "PATH");
    };
    expect(await ask("/etc/passwd")).toBe(await ask("/etc/no-such-file"));
    expect(await ask(join(workspace, "..", "agent", "gateway", "local.token"))).toBe(await ask("/etc/no-such-file"));
  });

  test("show what bash prints while it runs, to the client that asked", async () => {
    const { client, connect, workspace, gateway } = await open();
    const sessionId = await create(client, workspace);
    const { authStorage } = gateway.parts.sessions.find(sessionId)!.hosted.session;
    authStorage.setRuntimeApiKey("scripted", "key-0123456789abcdef");
    const other = await connect();
    await other.must("sessions.subscribe", { sessionId });
    const result = await client.must("session.bash", { sessionId, command: "echo one; echo two" });
    expect(result).toMatchObject({ output: expect.stringContaining("two") as unknown, exitCode: 0 });
    const getOutput = (each: RawClient) =>
      each.events().flatMap((frame: EventFrame) => (frame.event === "session.bash.output" ? [frame.payload] : []));
    expect(
      getOutput(client)
        .map(({ delta }) => delta)
        .join(""),
    ).toContain("two");
    expect(getOutput(client)[0]).toMatchObject({ sessionId, id: expect.any(String) as unknown });
    expect(getOutput(other)).toEqual([]);
    // What could have become a key is sent when nothing follows it.
    await client.must("session.bash", { sessionId, command: "printf 'It begins with key-0123'" });
    const deltas = getOutput(client).map(({ delta }) => delta);
    expect(deltas.join("")).toMatch(/It begins with key-0123$/);
  });
});

describe("questions", () => {
  const outside = call("read", { path: "/etc/hostname" });

  test("are asked if a client follows that answers, and listed", async () => {
    const model = scriptedModel([[outside], [text("Done.")], [outside], [text("Done.")]]);
    const { client, connect, workspace, gateway } = await open({ model });
    const sessionId = await create(client, workspace);
    const answering = await connect({ scopes: ["read", "approve"], abilities: { approvals: true } });
    await answering.must("sessions.subscribe", { sessionId });
    const running = client.must("session.execute", { sessionId, prompt: "Look." });
    type Listed = MethodData<"approvals.list">;
    await expect.poll(async () => (await answering.must<Listed>("approvals.list")).approvals.length).toBe(1);
    const { approvals } = await answering.must<Listed>("approvals.list");
    expect(approvals[0]).toMatchObject({ sessionId, approval: { toolName: "read" } });
    const { id: approvalId } = approvals[0]!.approval;
    await answering.must("session.approve", { sessionId, approvalId, decision: "deny" });
    await running;
    // A client that announced that it does not answer is not waited for.
    await answering.must("session.initialize", { sessionId, approvals: false });
    await client.must("session.execute", { sessionId, prompt: "Look again." });
    expect(gateway.parts.sessions.find(sessionId)!.hosted.view.live.denials).toHaveLength(1);
  });

  test.each([
    ["nobody follows the session", async () => {}],
    [
      "who follows may not answer",
      async (sessionId: string, connect: (more: object) => Promise<RawClient>) => {
        const reader = await connect({ scopes: ["read"], abilities: { approvals: true } });
        await reader.must("sessions.subscribe", { sessionId });
      },
    ],
    [
      "who follows does not answer",
      async (sessionId: string, connect: (more: object) => Promise<RawClient>) => {
        const viewer = await connect({ abilities: { approvals: false } });
        await viewer.must("sessions.subscribe", { sessionId });
      },
    ],
  ])("are denied at once if %s", async (_name, prepare) => {
    const { client, connect, workspace, gateway } = await open({ model: scriptedModel([[outside], [text("Done.")]]) });
    const sessionId = await create(client, workspace);
    await prepare(sessionId, connect as never);
    await client.must("session.execute", { sessionId, prompt: "Look." });
    expect(gateway.parts.sessions.find(sessionId)!.hosted.view.live.denials).toHaveLength(1);
  });
});

const deploy = {
  name: "deploy",
  label: "deploy",
  description: "Deploys.",
  parameters: { type: "object", properties: {} },
  requiredScope: "admin",
  execute: async () => ({ content: [{ type: "text" as const, text: "Deployed." }] }),
};

describe("scopes of tools", () => {
  test("are those of the client whose prompt began the run", async () => {
    const turns = [[call("deploy")], [text("Done.")]];
    const model = scriptedModel([...turns, ...turns]);
    const { client, connect, workspace, gateway } = await open({
      model,
      params: { customTools: [deploy], decide: allowAll },
    });
    const sessionId = await create(client, workspace);
    const writer = await connect({ scopes: ["read", "write"] });
    const { hosted } = gateway.parts.sessions.find(sessionId)!;
    await writer.must("session.execute", { sessionId, prompt: "Deploy." });
    expect(hosted.view.live.denials).toMatchObject([{ toolName: "deploy" }]);
    await client.must("session.execute", { sessionId, prompt: "Deploy." });
    expect(hosted.view.live.denials).toEqual([]);
    const results = hosted.session.messages.filter((message) => message.role === "toolResult");
    expect(results.map((message) => (message as { isError: boolean }).isError)).toEqual([true, false]);
  });

  test("are those that everybody has whose messages are told together", async () => {
    const clock = createFakeClock(Date.now());
    const { client, connect, workspace, gateway } = await open({
      model: scriptedModel([[call("deploy")], [text("Done.")]]),
      params: { customTools: [deploy], decide: allowAll },
      settings: { gateway: { queue: { mode: "collect" } } },
      options: { clock },
    });
    const sessionId = await create(client, workspace);
    const writer = await connect({ scopes: ["read", "write"] });
    await client.must("session.prompt", { sessionId, message: "Deploy." });
    await writer.must("session.prompt", { sessionId, message: "Now." });
    await clock.advance(1_000);
    const { hosted } = gateway.parts.sessions.find(sessionId)!;
    await expect.poll(() => hosted.session.messages.map(({ role }) => role).join()).toMatch(/toolResult,assistant$/);
    expect(hosted.view.live.denials).toMatchObject([{ toolName: "deploy" }]);
  });
});

describe("scopes of messages that wait when the gateway is stopped", () => {
  test("are theirs when it is started again", async () => {
    const never = () => new Promise<never>(() => {});
    const model = scriptedModel([never, [call("deploy")], [text("Done.")]]);
    const params = { customTools: [deploy], decide: allowAll };
    const first = await open({ model, params });
    const sessionId = await create(first.client, first.workspace);
    const writer = await first.connect({ scopes: ["read", "write"] });
    await first.client.must("session.prompt", { sessionId, message: "Begin." });
    await writer.must("session.prompt", { sessionId, message: "Deploy." });
    await first.gateway.stop();
    const { agentDir } = first;
    const second = await open({ model, options: { agentDir }, params: { ...params, agentDir } });
    const { hosted } = await second.gateway.parts.sessions.open(sessionId);
    await expect.poll(() => hosted.session.messages.map(({ role }) => role).join()).toMatch(/toolResult,assistant$/);
    expect(hosted.view.live.denials).toMatchObject([{ toolName: "deploy" }]);
  });
});

describe("scopes of a message that is replayed", () => {
  test("are those that both its sender and who replays it have", async () => {
    const model = scriptedModel([]);
    const queue = { mode: "collect", cap: 1, drop: "old", debounceMs: 1_000_000 } as const;
    const { client, connect, workspace, gateway } = await open({ model, settings: { gateway: { queue } } });
    const sessionId = await create(client, workspace);
    for (const message of ["Deploy.", "Say hello."]) {
      await client.must("session.prompt", { sessionId, message, queueMode: "collect" });
    }
    const [dead] = gateway.parts.inbox.list({ state: "dead" });
    expect(dead).toMatchObject({ text: "Deploy.", origin: { scopes: expect.arrayContaining(["admin"]) as unknown } });
    const writer = await connect({ scopes: ["read", "write"] });
    const { id } = await writer.must<{ id: string }>("inbox.replay", { id: dead!.id });
    const replayed = gateway.parts.inbox.list().find((message) => message.id === id);
    expect(replayed).toMatchObject({ text: "Deploy.", origin: { scopes: ["read", "write"] } });
  });
});

describe("interrupting", () => {
  test("lets the running call end, and sends nothing more to the model", async () => {
    let goOn = () => {};
    const waiting = new Promise<void>((resolve) => (goOn = resolve));
    const tool = {
      name: "wait",
      label: "wait",
      description: "Waits.",
      parameters: { type: "object", properties: {} },
      execute: async () => {
        await waiting;
        return { content: [{ type: "text" as const, text: "Waited." }] };
      },
    };
    const model = scriptedModel([[call("wait")], [text("Never said.")]]);
    const { client, workspace, gateway } = await open({ model, params: { customTools: [tool] } });
    const sessionId = await create(client, workspace);
    const { hosted } = gateway.parts.sessions.find(sessionId)!;
    await client.must("session.prompt", { sessionId, message: "Wait." });
    await expect.poll(() => hosted.view.live.tools.length).toBe(1);
    expect(await client.must("agent.interrupt", { sessionId })).toBeNull();
    goOn();
    await hosted.session.waitForIdle();
    expect(hosted.view.live.ended).toMatchObject({ reason: "abort_signal" });
    expect(hosted.session.messages.at(-1)).toMatchObject({ role: "toolResult", isError: false });
    expect(model.left).toBe(1);
  });
});

describe("settings", () => {
  async function openWithFile() {
    const opened = await openTestGateway();
    onTestFinished(opened.close);
    const { agentDir, workspace } = opened;
    const settings = await SettingsManager.create(workspace, agentDir, { watch: false });
    return await open({ options: { settings, agentDir } });
  }

  test("are changed only by who has read them as they are", async () => {
    const { client, gateway } = await openWithFile();
    const { hash, settings } = await client.must<MethodData<"config.get">>("config.get");
    expect(settings).toEqual({});
    const change = { key: "gateway.idleCloseMs", value: 1_000, baseHash: hash };
    const changed = await client.must<MethodData<"config.set">>("config.set", change);
    expect(gateway.parts.getSettings().idleCloseMs).toBe(1_000);
    expect(await client.call("config.set", change)).toMatchObject({ error: { code: "conflict" } });
    const removal = { key: "gateway.idleCloseMs", baseHash: changed.hash };
    expect(getCode(await client.call("config.set", removal))).toBe("ok");
    const again = await client.must<MethodData<"config.get">>("config.get");
    expect(again.settings).toEqual({ gateway: {} });
    for (const wrong of [
      { key: "gateway.idleCloseMs", value: "soon" },
      { key: "no.such.setting", value: 1 },
      { key: "..", value: 1 },
    ]) {
      const code = getCode(await client.call("config.set", { ...wrong, baseHash: again.hash }));
      expect(["invalid_input", "invalid_parameters"]).toContain(code);
    }
  });

  test("are read again without dropping clients, also by the model's own tool", async () => {
    const model = scriptedModel([[call("gateway_reload")], [text("Done.")]]);
    const { agentDir, workspace, close } = await openTestGateway();
    onTestFinished(close);
    const settings = await SettingsManager.create(workspace, agentDir, { watch: false });
    const params = { allowedTools: ["gateway_reload"], decide: allowAll };
    const { client, gateway, workspace: here } = await open({ model, params, options: { settings } });
    const sessionId = await create(client, here);
    await mkdir(agentDir, { recursive: true });
    await writeFile(join(agentDir, "settings.json"), JSON.stringify({ gateway: { idleCloseMs: 5_000 } }));
    expect(await client.must("gateway.reload")).toEqual({ changed: ["gateway"], problems: [], needsRestart: [] });
    expect(gateway.parts.getSettings().idleCloseMs).toBe(5_000);
    for (const broken of ["{ gateway", JSON.stringify({ gateway: { idleCloseMs: "soon" } })]) {
      await writeFile(join(agentDir, "settings.json"), broken);
      const { changed, problems } = await client.must<MethodData<"gateway.reload">>("gateway.reload");
      expect(changed).toEqual([]);
      expect(problems).toEqual([expect.stringContaining("settings.json:1:")]);
      expect(gateway.parts.getSettings().idleCloseMs).toBe(5_000);
    }
    await writeFile(join(agentDir, "settings.json"), JSON.stringify({ gateway: { idleCloseMs: 6_000 } }));
    await client.must("session.execute", { sessionId, prompt: "Reload." });
    expect(gateway.parts.getSettings().idleCloseMs).toBe(6_000);
    const { hosted } = gateway.parts.sessions.find(sessionId)!;
    expect(JSON.stringify(hosted.session.messages)).toContain("- gateway");
  });
});

describe("what else a client can ask", () => {
  test("the tree of a session that is deeper than the stack", async () => {
    const { client, workspace, gateway } = await open({ settings: { durability: "none" } });
    const { hosted } = await gateway.parts.sessions.create(workspace, {
      fill: async (log) => {
        await Promise.all(Array.from({ length: 4_000 }, () => log.appendCustomEntry("test", {})));
      },
    });
    const { sessionId } = hosted.session;
    const { tree } = await client.must<MethodData<"session.get_tree">>("session.get_tree", { sessionId });
    let depth = 0;
    for (let [node] = tree; node; [node] = node.children) depth++;
    expect(depth).toBeGreaterThanOrEqual(4_000);
  });

  test("models, usage, health and the log", async () => {
    const clock = createFakeClock(Date.now() - 60_000);
    const { client, workspace, gateway } = await open({ model: scriptedModel([[text("One.")]]), options: { clock } });
    const before = await client.must<MethodData<"models.list">>("models.list");
    expect(Array.isArray(before.models)).toBe(true);
    const sessionId = await create(client, workspace);
    await client.must("session.execute", { sessionId, prompt: "First." });
    const usage = await client.must<MethodData<"usage.get">>("usage.get", { sessionId });
    expect(usage).toMatchObject({ sessions: [{ sessionId, tokens: usage.tokens }] });
    expect(usage.tokens).toBeGreaterThan(0);
    expect(await client.must("usage.get")).toMatchObject({ tokens: usage.tokens, sessions: [{ sessionId }] });
    await client.must("sessions.close", { sessionId });
    expect(await client.must("usage.get", { sessionId })).toMatchObject({ tokens: usage.tokens });
    expect(await client.must("usage.get", { since: "2100-01-01T00:00:00Z" })).toMatchObject({
      tokens: 0,
      sessions: [],
    });
    expect(getCode(await client.call("usage.get", { since: "soon" }))).toBe("invalid_parameters");
    // A session that was deleted after it was listed is left out, unless it was asked for.
    gateway.parts.sessionIndex.open = async () => undefined;
    expect(await client.must("usage.get")).toMatchObject({ sessions: [] });
    expect(getCode(await client.call("usage.get", { sessionId }))).toBe("not_found");
    expect(await client.must("health")).toMatchObject({
      ok: true,
      openSessions: 0,
      runningSessions: 0,
      connections: 1,
    });
    for (let line = 0; line < 5; line++) gateway.parts.log(`line ${line}`);
    expect(await client.must("logs.tail", { limit: 2 })).toEqual({ lines: ["line 3", "line 4"] });
  });
});

describe("faulty requests", () => {
  /** Values of every kind, of which most are wrong everywhere. */
  const values = [null, "", "x", "../..", "\0", 0, -1, 1.5, 1e300, true, [], ["x"], {}, { epoch: 1 }, "x".repeat(300)];

  test("get a code, and the gateway never fails at one", async () => {
    const { client, workspace, logged } = await open();
    const sessionId = await create(client, workspace);
    const hello = client.frames.find((frame) => frame.type === "res" && frame.ok) as { payload: HelloData };
    const { methods } = hello.payload.features;
    const names = ["sessionId", "cwd", "message", "prompt", "key", "value", "baseHash", "limit", "cursor", "resume"];
    const risky = ["session.bash", "session.login", "session.execute", "session.compact", "devices.revoke"];
    const codes = new Set<string>();
    let count = 0;
    for (const method of methods.filter((name) => !risky.includes(name))) {
      const requests: Record<string, unknown>[] = [{ noSuchField: 1 }, { sessionId, noSuchField: 1 }];
      for (let each = 0; each < 3; each++) {
        const [name, value] = [names[count % names.length]!, values[count % values.length]];
        requests.push({ [name]: value }, { sessionId, [name]: value });
        count++;
      }
      for (const params of requests) {
        const response = await client.call(method, params);
        if (response.ok) continue;
        codes.add(response.error.code);
        expect(response.error, `${method} ${JSON.stringify(params)}`).not.toMatchObject({ code: "internal" });
        expect(response.error.message.length).toBeGreaterThan(5);
      }
      const withExtra = await client.call(method, { sessionId, noSuchField: 1 });
      expect(getCode(withExtra), method).not.toBe("ok");
    }
    expect([...codes]).toContain("invalid_parameters");
    expect(logged.filter((line) => /Error|internal/.test(line))).toEqual([]);
  });
});
