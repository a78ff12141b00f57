import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ScriptedModel, scriptedModel, text } from "@tau/ai/testing";
import type { ExtensionFactory } from "@tau/extensions";
import { SessionManager } from "@tau/pi/internal";
import { AuthStorage } from "../auth/auth-storage.ts";
import { ModelRuntime } from "../models/model-runtime.ts";
import { createAgentSessionRuntime, SessionImportFileNotFoundError } from "./agent-session-runtime.ts";
import { runPrintMode } from "./print-mode.ts";
import { createAgentSessionFromServices, createAgentSessionServices } from "./services.ts";
import { MissingSessionCwdError } from "./session-directory.ts";

let directory: string;
let model: ScriptedModel;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "pi-runtime-")));
  for (const name of ["agent", "project", "sessions"]) mkdirSync(join(directory, name));
  model = scriptedModel([[text("one")], [text("two")], [text("three")]]);
});
afterEach(() => {
  model.dispose();
  rmSync(directory, { recursive: true });
});

async function open(factories: ExtensionFactory[] = []) {
  const modelRuntime = await ModelRuntime.create({ credentials: AuthStorage.inMemory(), modelsPath: null });
  const { id, api, provider } = model;
  modelRuntime.registerProvider(provider, { baseUrl: "http://localhost", apiKey: "key", models: [{ id, api }] });
  const cwd = join(directory, "project");
  const created: unknown[] = [];
  const runtime = await createAgentSessionRuntime(
    async ({ cwd, agentDir, sessionManager, sessionStartEvent }) => {
      created.push({ cwd, ...sessionStartEvent });
      const resourceLoaderOptions = { extensionFactories: factories };
      const services = await createAgentSessionServices({ cwd, agentDir, modelRuntime, resourceLoaderOptions });
      const start = sessionStartEvent && { sessionStartEvent };
      const result = await createAgentSessionFromServices({ services, sessionManager, model, ...start });
      return { ...result, services, diagnostics: services.diagnostics };
    },
    {
      cwd,
      agentDir: join(directory, "agent"),
      sessionManager: SessionManager.create(cwd, join(directory, "sessions")),
    },
  );
  return { runtime, created, cwd };
}

const getTexts = (session: { messages: readonly unknown[] }) =>
  (session.messages as { role: string; content: string | { text?: string }[] }[]).map(({ role, content }) =>
    typeof content === "string" ? `${role}: ${content}` : `${role}: ${content.map((block) => block.text).join("")}`,
  );

describe("a runtime", () => {
  test("replaces its session by a new one and by one that exists, and says so to extensions", async () => {
    const seen: string[] = [];
    const { runtime, created, cwd } = await open([
      (tau) => {
        tau.on("session_start", ({ reason }) => void seen.push(`start ${reason}`));
        tau.on("session_shutdown", ({ reason }) => void seen.push(`shutdown ${reason}`));
      },
    ]);
    runtime.setRebindSession((session) => session.bindExtensions({}));
    await runtime.session.bindExtensions({});
    const first = runtime.session;
    await first.prompt("hello");
    expect(await runtime.newSession()).toEqual({ cancelled: false });
    expect(runtime.session).not.toBe(first);
    expect(runtime.session.messages).toEqual([]);
    await runtime.switchSession(first.sessionFile!);
    expect(getTexts(runtime.session)).toEqual(["user: hello", "assistant: one"]);
    expect(created).toMatchObject([
      { cwd },
      { cwd, reason: "new", previousSessionFile: first.sessionFile },
      { cwd, reason: "resume" },
    ]);
    await runtime.dispose();
    expect(seen).toEqual([
      "start startup",
      "shutdown new",
      "start new",
      "shutdown resume",
      "start resume",
      "shutdown quit",
    ]);
  });

  test("forks before a message and at an answer, and leaves the session as it was", async () => {
    const { runtime } = await open();
    const { session } = runtime;
    await session.prompt("first");
    await session.prompt("second");
    const [, second] = session.getUserMessagesForForking();
    const before = getTexts(session);
    expect(await runtime.fork(second!.entryId)).toEqual({ cancelled: false, selectedText: "second" });
    expect(getTexts(runtime.session)).toEqual(["user: first", "assistant: one"]);
    expect(runtime.session.sessionFile).not.toBe(session.sessionFile);
    await runtime.switchSession(session.sessionFile!);
    expect(getTexts(runtime.session)).toEqual(before);
    const last = runtime.session.sessionManager.getLeafId()!;
    expect(await runtime.fork(last, { position: "at" })).toEqual({ cancelled: false });
    expect(getTexts(runtime.session)).toEqual(before);
    await expect(runtime.fork("missing")).rejects.toThrow("Invalid entry ID");
    await runtime.dispose();
  });

  test("stays with its session when an extension cancels", async () => {
    const { runtime } = await open([(tau) => void tau.on("session_before_switch", () => ({ cancel: true }))]);
    const { session } = runtime;
    expect(await runtime.newSession()).toEqual({ cancelled: true });
    expect(runtime.session).toBe(session);
    await runtime.dispose();
  });

  test("gives the new session to whoever replaced the old one, whose contexts are of no use any more", async () => {
    let old: { cwd: string } | undefined;
    const { runtime } = await open([
      (tau) => void tau.on("session_start", (_event, context) => void (old ??= context)),
    ]);
    await runtime.session.bindExtensions({});
    await runtime.newSession({ withSession: async (context) => await context.sendUserMessage("go") });
    await runtime.session.waitForIdle();
    expect(getTexts(runtime.session)).toEqual(["user: go", "assistant: one"]);
    expect(() => old!.cwd).toThrow(/stale|no longer|replaced/);
    await runtime.dispose();
  });

  test("imports a file, and refuses one that is not there or whose directory is gone", async () => {
    const { runtime, cwd } = await open();
    const path = join(directory, "import.jsonl");
    const header = { type: "session", version: 3, id: "abc", timestamp: new Date(0).toISOString() };
    const write = (workingDirectory: string) =>
      writeFileSync(
        path,
        [
          { ...header, cwd: workingDirectory },
          {
            type: "message",
            id: "e1",
            parentId: null,
            timestamp: header.timestamp,
            message: { role: "user", content: "imported", timestamp: 1 },
          },
        ]
          .map((line) => `${JSON.stringify(line)}\n`)
          .join(""),
      );
    await expect(runtime.importFromJsonl(path)).rejects.toBeInstanceOf(SessionImportFileNotFoundError);
    write(join(directory, "gone"));
    await expect(runtime.importFromJsonl(path)).rejects.toBeInstanceOf(MissingSessionCwdError);
    expect(await runtime.importFromJsonl(path, cwd)).toEqual({ cancelled: false });
    expect(getTexts(runtime.session)).toEqual(["user: imported"]);
    expect(runtime.session.sessionFile).toBe(join(directory, "sessions", "import.jsonl"));
    await runtime.dispose();
  });
});

describe("services", () => {
  test("report what does not work and take values of flags", async () => {
    const cwd = join(directory, "project");
    const agentDir = join(directory, "agent");
    writeFileSync(join(agentDir, "models.json"), "{ broken");
    const values = new Map<string, boolean | string>([
      ["loud", true],
      ["unknown", "x"],
    ]);
    let loud: unknown;
    const services = await createAgentSessionServices({
      cwd,
      agentDir,
      extensionFlagValues: values,
      resourceLoaderOptions: {
        extensionFactories: [
          (tau) => {
            tau.registerFlag("loud", { type: "boolean" });
            tau.on("session_start", () => void (loud = tau.getFlag("loud")));
          },
        ],
      },
    });
    expect(services.diagnostics).toEqual([
      { type: "warning", message: expect.stringContaining("models.json") },
      { type: "error", message: "No extension has the flag --unknown." },
    ]);
    const sessionManager = SessionManager.inMemory(cwd);
    const { session } = await createAgentSessionFromServices({ services, sessionManager });
    await session.bindExtensions({});
    expect(loud).toBe(true);
    session.dispose();
  });
});

describe("print mode", () => {
  const run = async (options: Parameters<typeof runPrintMode>[1]) => {
    const { runtime } = await open();
    const out: string[] = [];
    const err: string[] = [];
    const keep = (stream: NodeJS.WriteStream, pieces: string[]) =>
      vi.spyOn(stream, "write").mockImplementation((chunk, ...rest: unknown[]) => {
        pieces.push(String(chunk));
        for (const each of rest) if (typeof each === "function") each();
        return true;
      });
    const spies = [keep(process.stdout, out), keep(process.stderr, err)];
    try {
      const code = await runPrintMode(runtime, options);
      return { code, out: out.join(""), err: err.join("") };
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  };

  test("prints the last answer of all messages", async () => {
    const result = await run({ mode: "text", initialMessage: "a", messages: ["b"] });
    expect(result).toEqual({ code: 0, out: "two\n", err: "" });
  });

  test("prints the header and every event", async () => {
    const { code, out } = await run({ mode: "json", initialMessage: "a" });
    const types = out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(code).toBe(0);
    expect(types[0]).toBe("session");
    expect(types).toEqual(expect.arrayContaining(["agent_start", "message_end", "agent_settled"]));
  });

  test("fails with the error of the model", async () => {
    model.dispose();
    model = scriptedModel([{ failure: { kind: "invalid_request", message: "no such thing" } }]);
    const { code, out, err } = await run({ mode: "text", initialMessage: "a" });
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toContain("no such thing");
  });
});
