/** Extensions and the host: leaving a session for another one, and reloading. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { type ExtensionAPI, type ExtensionFactory, noUi } from "@tau/extensions";
import { createHost } from "../../src/host/index.ts";
import { AuthStorage } from "@tau/config/auth";
import { ModelRegistry } from "@tau/config/models";
import { SettingsManager } from "@tau/config/settings";

async function openHost(extensions: object, model = scriptedModel([[text("One.")], [text("Two.")], [text("Three.")]])) {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "tau-extensions-")));
  const host = createHost({
    agentDir: join(directory, "agent"),
    params: {
      cwd: directory,
      agentDir: join(directory, "agent"),
      settingsManager: SettingsManager.inMemory(),
      authStorage: AuthStorage.inMemory(),
      modelRegistry: ModelRegistry.inMemory(),
      model,
      watch: false,
      extensions,
    },
  });
  onTestFinished(async () => {
    await host.dispose();
    model.dispose();
    await rm(directory, { recursive: true, force: true });
  });
  return { host, directory, sessionId: await host.create() };
}

test("a new session has extensions of its own, which are told why it begins and when the old one ends", async () => {
  const seen: string[] = [];
  let runs = 0;
  const factory: ExtensionFactory = (tau) => {
    const run = ++runs;
    tau.on("session_start", ({ reason }) => void seen.push(`${run} start ${reason}`));
    tau.on("session_shutdown", ({ reason }) => void seen.push(`${run} end ${reason}`));
  };
  const { host, sessionId } = await openHost({ factories: [factory] });
  await host.get(sessionId).run("hi", {});
  const { sessionId: next } = await host.execute(sessionId, { type: "new_session" });
  await host.close(sessionId, { reason: "new" });
  await host.get(next).run("hi", {});
  await host.close(next);
  expect(seen).toEqual(["1 start startup", "1 end new", "2 start new", "2 end quit"]);
});

test("the model and the thinking level that a new session keeps are told by its start alone", async () => {
  const seen: string[] = [];
  const factory: ExtensionFactory = (tau) => {
    tau.on("session_start", ({ reason }, ctx) => void seen.push(`start ${reason} ${ctx.model?.id}`));
    tau.on("model_select", ({ model }) => void seen.push(`model ${model.id}`));
    tau.on("thinking_level_select", ({ level }) => void seen.push(`level ${level}`));
  };
  const { host, sessionId } = await openHost({ factories: [factory] });
  await host.get(sessionId).run("hi", {});
  const { id, ...model } = host.get(sessionId).session.model!;
  await host.get(sessionId).session.setModel({ ...model, id: `${id}-2` });
  seen.length = 0;
  const { sessionId: next } = await host.execute(sessionId, { type: "new_session" });
  await host.get(next).run("hi", {});
  expect(seen).toEqual([`start new ${id}-2`]);
});

test("an extension cancels that its session is left", async () => {
  const { host, sessionId } = await openHost({
    factories: [
      (tau: ExtensionAPI) => {
        tau.on("session_before_switch", () => ({ cancel: true }));
        tau.on("session_before_fork", () => ({ cancel: true }));
      },
    ],
  });
  await host.get(sessionId).run("hi", {});
  expect(await host.execute(sessionId, { type: "new_session" })).toEqual({ sessionId, cancelled: true });
  expect(await host.execute(sessionId, { type: "clone" })).toEqual({ sessionId, cancelled: true });
  expect(host.sessionIds).toEqual([sessionId]);
});

test("a person who is asked whether to leave may answer after the run was stopped", async () => {
  let answer = (_isSure: boolean): void => {};
  const isSure = new Promise<boolean>((resolve) => (answer = resolve));
  let begin = (): void => {};
  const hasBegun = new Promise<void>((resolve) => (begin = resolve));
  const model = scriptedModel([]);
  model.add(async (_context, { signal }) => {
    begin();
    await new Promise((resolve) => signal!.addEventListener("abort", resolve));
    return [text("Never.")];
  });
  const factory: ExtensionFactory = (tau) =>
    void tau.on("session_before_switch", async () => ({ cancel: !(await isSure) }));
  const { host, sessionId } = await openHost({ factories: [factory] }, model);
  const { session } = host.get(sessionId);
  const running = host.get(sessionId).run("hi", {});
  await hasBegun;
  const left = host.execute(sessionId, { type: "new_session" });
  await session.abort();
  await running;
  answer(false);
  expect(await left).toEqual({ sessionId, cancelled: true });
  expect(host.sessionIds).toEqual([sessionId]);
});

test("a command replaces the session, the old context is stale, and withSession gets a fresh one", async () => {
  const shown: string[] = [];
  const told: string[] = [];
  const factory: ExtensionFactory = (tau) => {
    tau.registerCommand("next", {
      async handler(_args, context) {
        const before = context.sessionManager.getSessionId();
        const { cancelled } = await context.newSession({
          async withSession(fresh) {
            told.push(fresh.sessionManager.getSessionId() === before ? "same" : "another");
            await fresh.sendUserMessage("hello there");
          },
        });
        told.push(`cancelled ${cancelled}`);
        try {
          void context.cwd;
        } catch (error) {
          told.push((error as Error).message.slice(0, 27));
        }
      },
    });
  };
  const { host, sessionId } = await openHost({ factories: [factory] });
  const show = async (id: string) => {
    shown.push(id);
    await host.close(sessionId, { reason: "new" });
  };
  await host.get(sessionId).session.attachSurface({ mode: "tui", ui: noUi, show });
  await host.get(sessionId).submit("/next", {});
  expect(told).toEqual(["another", "cancelled false", "This extension ctx is stale"]);
  expect(host.sessionIds).toEqual(shown);
  await host.get(shown[0]!).session.waitForIdle();
  expect(JSON.stringify(host.get(shown[0]!).session.messages)).toContain("hello there");
});

test("what setup writes into a new session is there for its extensions and for the model", async () => {
  const counts: number[] = [];
  const content = [{ type: "text" as const, text: "what was said before" }];
  const factory: ExtensionFactory = (tau) => {
    tau.registerCommand("next", {
      async handler(_args, context) {
        await context.newSession({
          // Not waited for: pi's session manager writes at once.
          setup: async (log) => void log.appendMessage({ role: "user", content, timestamp: 1 }),
          withSession: async (fresh) => void counts.push(fresh.sessionManager.getEntries().length),
        });
      },
    });
  };
  const { host, sessionId } = await openHost({ factories: [factory] });
  const show = async () => await host.close(sessionId, { reason: "new" });
  await host.get(sessionId).session.attachSurface({ mode: "tui", ui: noUi, show });
  await host.get(sessionId).submit("/next", {});
  const [next] = host.sessionIds;
  expect(counts).toEqual([1]);
  expect(JSON.stringify(host.get(next!).session.messages)).toContain("what was said before");
  expect(JSON.stringify(host.get(next!).view)).toContain("what was said before");
});

test("a reload loads the files again, also the first extension, and leaves nothing of the old ones", async () => {
  const { host, directory, sessionId } = await openHost({ paths: ["tool.mjs"] });
  const { session } = host.get(sessionId);
  expect(session.notices.map(({ message }) => message).join()).toContain("tool.mjs");
  const write = (name: string) =>
    writeFile(
      join(directory, "tool.mjs"),
      `export default (tau) => tau.registerTool({ name: "${name}", label: "", description: "", parameters: { type: "object" }, execute: async () => ({ content: [] }) });`,
    );
  const names = () => session.tools.map(({ name }) => name);
  await write("first");
  await session.reload();
  expect(names()).toContain("first");
  await write("second");
  await session.reload();
  expect(names()).toContain("second");
  expect(names()).not.toContain("first");
});

test("reloads that overlap, and an end in the middle of one, leave one set of extensions or none", async () => {
  let running = 0;
  const gates: (() => void)[] = [];
  const factory: ExtensionFactory = async (tau) => {
    tau.on("session_start", () => void running++);
    tau.on("session_shutdown", async () => void running--);
    if (gates.length > 0) await new Promise<void>((resolve) => void gates.push(resolve));
  };
  const { host, sessionId } = await openHost({ factories: [factory] });
  const { session } = host.get(sessionId);
  await host.get(sessionId).run("hi", {});
  expect(running).toBe(1);
  await Promise.all([session.reload(), session.reload(), session.reload()]);
  expect(running).toBe(1);

  gates.push(() => {});
  const reload = session.reload();
  await expect.poll(() => gates.length).toBe(2);
  const closed = host.close(sessionId);
  for (const open of gates) open();
  await Promise.all([reload, closed]);
  expect(running).toBe(0);
});

test("an extension that reloads while it is told of a reload does not wait for itself", async () => {
  let reloads = 0;
  const factory: ExtensionFactory = (tau) => {
    tau.on("session_shutdown", async ({ reason }) => {
      if (reason === "reload" && reloads++ === 0) await session.reload();
    });
  };
  const { host, sessionId } = await openHost({ factories: [factory] });
  const { session } = host.get(sessionId);
  await host.get(sessionId).run("hi", {});
  await session.reload();
  expect(reloads).toBe(1);
});

test("skills of extensions are those of the last reload, and never replace those of the user", async () => {
  let skillPaths = ["one"];
  const factories: ExtensionFactory[] = [(tau) => void tau.on("resources_discover", () => ({ skillPaths }))];
  const { host, directory, sessionId } = await openHost({ factories });
  const write = async (path: string, name: string, description: string) => {
    await mkdir(join(directory, path, name), { recursive: true });
    const content = `---\nname: ${name}\ndescription: ${description}\n---\nDo it.\n`;
    await writeFile(join(directory, path, name, "SKILL.md"), content);
  };
  await write("agent/skills", "deploy", "mine");
  await write("one", "deploy", "its");
  await write("one", "only-one", "its");
  await write("two", "only-two", "its");
  const { session } = host.get(sessionId);
  const listSkills = () => {
    const { skills } = session.resourceLoader.resources;
    return skills
      .filter(({ filePath }) => filePath.startsWith(directory))
      .map((skill) => `${skill.name} ${skill.description}`);
  };
  await host.get(sessionId).run("hi", {});
  expect(listSkills()).toEqual(["deploy mine", "only-one its"]);
  skillPaths = ["two"];
  await session.reload();
  expect(listSkills()).toEqual(["deploy mine", "only-two its"]);
  skillPaths = [];
  await session.reload();
  expect(listSkills()).toEqual(["deploy mine"]);
  skillPaths = ["one"];
  await session.reload();
  factories.length = 0;
  expect(await session.reload()).toEqual(["skills"]);
  expect(listSkills()).toEqual(["deploy mine"]);
});

test("after a reload the old extensions follow the log no longer", async () => {
  const readers: { getEntries(): unknown[] }[] = [];
  const factory: ExtensionFactory = (tau) => {
    tau.on("session_start", (_event, { sessionManager }) => void readers.push(sessionManager));
  };
  const { host, sessionId } = await openHost({ factories: [factory] });
  const { session } = host.get(sessionId);
  await host.get(sessionId).run("hi", {});
  const before = readers[0]?.getEntries().length;
  await session.reload();
  await session.sessionManager.appendCustomEntry("later", {});
  expect(readers[0]?.getEntries()).toHaveLength(before!);
  expect(readers[1]?.getEntries().length).toBeGreaterThan(before!);
});

test("the login of a provider of an extension asks the user through the surface, and its models can be used", async () => {
  const factory: ExtensionFactory = (tau) =>
    tau.registerProvider("corp", {
      baseUrl: "https://corp.test/v1",
      api: "openai-completions",
      models: [{ id: "c" }],
      oauth: {
        name: "Corp (SSO)",
        async login({ onAuth, onPrompt, onSelect }) {
          const region = await onSelect({ message: "Region", options: [{ id: "eu", label: "Europe" }] });
          onAuth({ url: `https://corp.test/${region}`, instructions: "Sign in there." });
          return { access: `a-${await onPrompt({ message: "Code" })}`, refresh: "r", expires: 9e15 };
        },
        refreshToken: async (credentials) => credentials,
        getApiKey: ({ access }) => String(access),
      },
    });
  const { host, sessionId } = await openHost({ factories: [factory] });
  const { session } = host.get(sessionId);
  const answers: { select?: string; input?: string } = { select: "Europe", input: "42" };
  const ui = { ...noUi, select: async () => answers.select, input: async () => answers.input };
  await session.attachSurface({ mode: "tui", ui });
  const notices: string[] = [];
  host.get(sessionId).subscribe((event) => {
    if (event.kind === "event" && event.event.type === "notice") notices.push(event.event.message);
  });
  const { providers } = await host.execute(sessionId, { type: "get_providers" });
  expect(providers.find(({ name }) => name === "corp")).toMatchObject({ login: "Corp (SSO)", modelCount: 1 });
  await host.execute(sessionId, { type: "login", provider: "corp" });
  expect(notices).toEqual(["To log in to corp, open https://corp.test/eu\nSign in there."]);
  expect(await session.authStorage.get("corp")).toMatchObject({ type: "oauth", access: "a-42" });
  delete answers.select;
  await expect(host.execute(sessionId, { type: "login", provider: "corp" })).rejects.toMatchObject({
    code: "login_failed",
    message: "The login to Corp (SSO) failed: It was cancelled.",
  });
});

test("a program of an extension starts in a directory of the session, also if that is relative", async () => {
  const seen: string[] = [];
  const factory: ExtensionFactory = (tau) =>
    void tau.on("session_start", async () => {
      for (const options of [undefined, { cwd: "sub" }]) seen.push((await tau.exec("pwd", [], options)).stdout.trim());
    });
  const { host, sessionId, directory } = await openHost({ factories: [factory] });
  await mkdir(join(directory, "sub"));
  await host.get(sessionId).run("hi", {});
  expect(seen).toEqual([directory, join(directory, "sub")]);
});

test("a child that an extension opens is a session of the host until it is closed", async () => {
  let api!: ExtensionAPI;
  const { host, sessionId } = await openHost({ factories: [(tau: ExtensionAPI) => void (api ??= tau)] });
  const first = await api.openChild({ name: "one" });
  const second = await api.openChild({ name: "two" });
  expect(host.sessionIds).toEqual([sessionId, first.id, second.id]);
  expect(host.get(first.id).session.isChild).toBe(true);
  expect(await first.prompt("hi")).toMatchObject({ kind: "done", text: "One." });
  await first.close();
  expect(host.sessionIds).toEqual([sessionId, second.id]);
  await host.close(sessionId);
  expect(host.sessionIds).toEqual([]);
});
