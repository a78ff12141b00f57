/** Tests when the processes of isolated extensions start, end and ask a person. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { createFiles } from "@tau/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { createEventBus } from "../../src/runner/create-api.ts";
import { createHostcallJudge, loadIsolated } from "../../src/isolated/index.ts";
import type { HostcallJudge } from "../../src/isolated/ports.ts";
import type { ExtensionSessionPort } from "../../src/api/session-port.ts";
import { noUi } from "../../src/api/ui.ts";
import { resolvePolicy, verifyLedger } from "@tau/policy";
import { readExtensionTrust } from "@tau/config/trust";
import {
  callTool,
  countProcesses,
  createPlace,
  createSession,
  createSkippingClock,
  canIsolate,
  load,
  openPolicy,
  toolCode,
  withApi,
} from "./kit.ts";

describe.runIf(canIsolate)("an isolated extension", () => {
  test("whose process ended is started again, and told that the session has started", async () => {
    const host =
      await load(`let started = "no"; export default (tau) => { tau.on("session_start", ({ reason }) => { started = reason; });
      tau.registerTool({ name: "go", label: "l", description: "d", parameters: { type: "object" }, execute: async (id, { ends }) => {
        if (ends) process.exit(3); return { content: [{ type: "text", text: started }] }; } }); };`);
    await host.extension.handlers.get("session_start")![0]!({ type: "session_start", reason: "startup" }, {} as never);
    expect(await callTool(host, "go")).toBe("startup");
    await expect(callTool(host, "go", { ends: true })).rejects.toThrow("It ended with code 3.");
    expect(await callTool(host, "go")).toBe("reload");
  });

  test("whose process ended has its tools loaded again before they are called", async () => {
    const host =
      await load(`let loaded = "no"; export default (tau) => tau.registerTool({ name: "go", label: "l", description: "d",
      parameters: { type: "object" }, async onLoad() { await new Promise(setImmediate); loaded = "yes"; }, onUnload() {},
      execute: async (id, { ends }) => { if (ends) process.exit(3); return { content: [{ type: "text", text: loaded }] }; } });`);
    const context = { signal: new AbortController().signal, toolCallId: "" } as never;
    const { onLoad, onUnload } = host.extension.tools.get("go")!;
    const crash = () => expect(callTool(host, "go", { ends: true })).rejects.toThrow("It ended with code 3.");
    await onLoad!(context);
    await crash();
    expect(await callTool(host, "go")).toBe("yes");
    await onUnload!(context);
    await crash();
    expect(await callTool(host, "go")).toBe("no");
  });

  test("asks nobody in a dialog whose signal is aborted already", async () => {
    const host = await load(
      toolCode(`const dialog = { signal: AbortSignal.abort() };
      return [await ctx.ui.select("s", ["a"], dialog), await ctx.ui.confirm("c", "m", dialog), await ctx.ui.input("i", "", dialog)];`),
    );
    expect(await callTool(host, "go")).toBe("[null,false,null]");
    expect(host.asked).toEqual([]);
  });

  test("whose process starts with the session is told so once", async () => {
    const code = `const started = []; export default (tau) => { tau.on("session_start", ({ reason }) => void started.push(reason));
      tau.registerTool({ name: "go", label: "l", description: "d", parameters: { type: "object" }, execute: async () =>
        ({ content: [{ type: "text", text: started.join() }] }) }); };`;
    const first = await load(code);
    await first.extension.close();
    const extension = await loadIsolated(first.source, first.ports);
    onTestFinished(() => extension.close());
    await extension.handlers.get("session_start")![0]!({ type: "session_start", reason: "startup" }, {} as never);
    expect(await callTool({ extension }, "go")).toBe("startup");
  });

  test("registers the same with other flags", async () => {
    const code = `export default (tau) => { tau.registerFlag("loud", { type: "boolean", default: false });
      if (tau.getFlag("loud")) tau.registerCommand("shout", { handler() {} });
      tau.registerTool({ name: "go", label: "l", description: "d", parameters: { type: "object" }, execute: async () =>
        ({ content: [{ type: "text", text: String(tau.getFlag("loud")) }] }) }); };`;
    const host = await load(code, { ports: { flagValues: new Map([["loud", true]]) } });
    expect([...host.extension.commands.keys()]).toEqual([]);
    expect(await callTool(host, "go")).toBe("true");
  });

  test("finds a directory of its own where tau's is, and nobody is asked where that is", async () => {
    const code = toolCode(
      `fs.writeFileSync(process.env.TAU_DIR + "/a", "kept"); return fs.readFileSync(process.env.TAU_DIR + "/a", "utf8");`,
      `import fs from "node:fs";`,
    );
    const host = await load(code, { ports: { env: { TAU_DIR: "/home/me/.tau" } } });
    expect(await callTool(host, "go")).toBe("kept");
    expect(host.denied()).toEqual([]);
  });

  test("has what every object has in process.env, and nobody is asked for a variable of that name", async () => {
    const code = toolCode(
      `return [process.env.hasOwnProperty("LANG"), String(process.env), typeof process.env.constructor];`,
    );
    const host = await load(code, { ports: { env: {} } });
    expect(await callTool(host, "go")).toBe(JSON.stringify([true, "[object Object]", "function"]));
    expect(host.decisions).toEqual([]);
  });

  test("may change what it read of the session, and reads it as it is again", async () => {
    const code =
      toolCode(`const read = () => ctx.sessionManager.getEntries(); read().length = 0; read()[0].data = "changed";
      return read().map(({ data }) => data);`);
    expect(await callTool(await load(code), "go")).toBe("[1]");
  });

  test("sees that the session changes while nothing is told to it", async () => {
    let asked = 0;
    const code = toolCode(`for (let turn = 1; turn <= 100; turn++) {
        if (ctx.isIdle() && ctx.isIdle()) return String(turn);
        await new Promise(setImmediate);
      }
      return "never";`);
    // Busy for two turns. Within one turn it is asked once.
    const host = await load(code, { session: { isIdle: () => ++asked > 2 } });
    expect([await callTool(host, "go"), asked]).toEqual(["3", 3]);
  });

  test("is ended after what it begins while the session ends, also if the policy takes time", async () => {
    const code = `export default (tau) => tau.on("session_shutdown", (event, { ui }) => {
      ui.notify("bye"); tau.setSessionName("over"); });`;
    const slow = { judge: () => new Promise<undefined>((done) => setTimeout(done, 50)), endCall: () => {} };
    const createJudge = () => ({ ...slow, createFiles: () => createFiles() });
    const { extension, asked } = await load(code, { ports: { createJudge } });
    await extension.handlers.get("session_shutdown")![0]!({ type: "session_shutdown", reason: "quit" }, {} as never);
    await extension.close();
    expect(asked.toSorted()).toEqual([
      ["notify", "bye", "info"],
      ["setSessionName", "over", {}],
    ]);
  });

  test("has all names of the models, and is told that asking one needs trust", async () => {
    const host = await load(
      toolCode(`const models = ctx.modelRegistry;
      const failures = await Promise.all([() => models.complete(ctx.model, {}), async () => models.streamSimple(ctx.model, {}), () => models.getApiKeyForProvider("test")]
        .map((ask) => ask().catch((error) => /needs trust: (.*?)\\. /.exec(error.message)[1])));
      return [models.hasConfiguredAuth(ctx.model), models.findOfType("image", "test", "one"), ...failures];`),
    );
    const refused = ["asking a model", "asking a model", "reading API keys"];
    expect(await callTool(host, "go")).toBe(JSON.stringify([true, null, ...refused]));
  });

  test("that is in an endless loop is ended, and costs its own calls only", async () => {
    const { clock, skip } = createSkippingClock();
    const host = await load(
      toolCode(`onUpdate({ content: [] }); setImmediate(() => { for (;;); }); await new Promise(() => {});`),
      {
        ports: { clock },
      },
    );
    let timer: NodeJS.Timeout | undefined;
    onTestFinished(() => clearInterval(timer));
    const onUpdate = () => void (timer = setInterval(() => skip(5_000), 20));
    const call = callTool(host, "go", {}, { onUpdate });
    await expect(call).rejects.toThrow("It did not answer for 10 seconds.");
  });

  test("is told what the user can do about what the policy denies", async () => {
    const host = await load(withApi(`return await api.exec("ls", []).catch((error) => error.message);`));
    expect(await callTool(host, "go")).toBe(
      "Capability 'exec' denied by policy (deny_caps). To allow it, change the setting policy.denyCaps, or trust the extension: tau extensions trust guest",
    );
  });

  test("shows nothing where there is no interface, and nobody is asked whether it may", async () => {
    const policy = { ...openPolicy, defaultCaps: ["events" as const] };
    const code = toolCode(`ctx.ui.setStatus("a", "b"); return String(await ctx.ui.confirm("Sure?", ""));`);
    const silent = await load(code, { policy, session: { mode: "print", ui: noUi } });
    expect(await callTool(silent, "go")).toBe("false");
    expect(silent.decisions).toEqual([]);
    const shown = await load(code, { policy, session: { ui: noUi } });
    await expect(callTool(shown, "go")).rejects.toThrow("wants to use ui");
  });

  test("asks a person once whether it may use the interface, also if it uses it twice at a time", async () => {
    const questions: string[] = [];
    const answers = ["allow", "deny"] as const;
    for (const decision of answers) {
      const ask = async ({ summary }: { summary: string }) => {
        questions.push(summary);
        return { decision } as const;
      };
      const place = createPlace();
      const parts = {
        decide: async () => ({ kind: "ask", rule: "test", reason: "It asks." }) as const,
        ask,
        audit: () => {},
        remembered: { covers: async () => false, add: async () => {} },
        cwd: place.cwd,
        home: place.home,
        getMode: () => "edit" as const,
        files: createFiles(),
        ids: systemIds,
      };
      const pathRules = { roots: [place.cwd], home: place.home, agentDir: place.agentDir };
      const host = await load(
        toolCode(`ctx.ui.setStatus("a", "b"); ctx.ui.notify("c"); return await ctx.ui.input("?").then(() => "shown");`),
        {
          place,
          session: { ui: noUi },
          ports: {
            createJudge: (extension) => createHostcallJudge(parts, { extension, pathRules, getPolicy: resolvePolicy }),
          },
        },
      );
      const call = callTool(host, "go");
      if (decision === "allow") expect(await call).toBe("shown");
      else await expect(call).rejects.toThrow("did not allow");
    }
    expect(questions).toHaveLength(answers.length);
  });

  test("is asked about in the session what nobody could be asked about while it was loaded", async () => {
    const events = createEventBus();
    const heard: unknown[] = [];
    events.on("news", (data) => void heard.push(data));
    const sessions: ExtensionSessionPort[] = [];
    const judge = async () => (sessions.length === 0 ? "Nobody can be asked while extensions load." : undefined);
    const createJudge = () => ({ judge, createFiles: () => createFiles(), endCall: () => {} });
    const host = await load(
      withApi(`api.events.emit("news", 1);`).replace("api = tau;", `api = tau; tau.events.on("news", () => {});`),
      { ports: { events, createJudge, getSession: () => sessions[0] } },
    );
    sessions.push(createSession(host.place, host.asked));
    await callTool(host, "go");
    await expect.poll(() => heard).toEqual([1]);
  });

  test("waits for a person by itself: neither a dialog nor a question of the policy is its work", async () => {
    const open: (() => void)[] = [];
    const wait = <T>(value: T) => new Promise<T>((resolve) => open.push(() => resolve(value)));
    const judge = { judge: () => wait(undefined), createFiles: () => createFiles(), endCall: () => {} };
    const host = await load(toolCode(`return String(await ctx.ui.confirm("Sure?", ""));`), {
      session: { ui: { ...noUi, confirm: () => wait(true) } },
      ports: { createJudge: () => judge },
    });
    const { waits } = host.extension;
    const call = callTool(host, "go");
    for (const question of ["the policy", "the dialog"]) {
      await expect.poll(() => open.length, { message: question }).toBe(1);
      expect(waits.isWaiting).toBe(true);
      open.pop()!();
    }
    expect(await call).toBe("true");
    expect(waits.isWaiting).toBe(false);
  });

  test("that is turned off is so in the audit, and gone from the session", async () => {
    const host = await load(
      withApi(`for (let n = 0; n < 3; n++) await api.exec("id", []).catch(() => {}); await new Promise(() => {});`),
    );
    await expect(callTool(host, "go")).rejects.toThrow(/turned off: 3 calls in a row/);
    const { place, source, extension } = host;
    await expect.poll(() => readExtensionTrust(source, { agentDir: place.agentDir })).toBe("killed");
    expect(extension.tools.size + extension.handlers.size).toBe(0);
    const { records, problems } = verifyLedger(readFileSync(join(place.agentDir, "audit.jsonl"), "utf8"));
    expect(problems).toEqual([]);
    expect(records.at(-1)).toMatchObject({ event: "extension_trust", operator: "denied-calls", new_state: "killed" });
    expect(host.problems.at(-1)!.message).toMatch(/tau extensions revive guest/);
  });

  test("that is turned off while it starts for the third time within a minute can be closed", async () => {
    const place = createPlace();
    const switchPath = join(place.cwd, "ask");
    const code = toolCode(
      `process.exit(3);`,
      `import fs from "node:fs"; if (fs.existsSync(${JSON.stringify(switchPath)})) for (const name of ["A", "B", "C"]) process.env[name];`,
    );
    const host = await load(code, { place, ports: { env: { A: "1", B: "2", C: "3" } } });
    for (let crash = 0; crash < 2; crash++) await expect(callTool(host, "go")).rejects.toThrow("ended with code 3");
    writeFileSync(switchPath, "");
    await expect(callTool(host, "go")).rejects.toThrow(/turned off: 3 calls in a row/);
    await host.extension.close();
    expect(await readExtensionTrust(host.source, { agentDir: place.agentDir })).toBe("killed");
  });

  test("is closed while a person is asked whether it may listen to events", async () => {
    const code = `export default (tau) => tau.on("session_start", () => {});`;
    const first = await load(code);
    await first.extension.close();
    const asked: string[] = [];
    const judge: HostcallJudge["judge"] = ({ method }, signal) => {
      asked.push(method);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve("Aborted.")));
    };
    const createJudge = () => ({ judge, createFiles: () => createFiles(), endCall: () => {} });
    const extension = await loadIsolated(first.source, { ...first.ports, createJudge });
    const [handler] = extension.handlers.get("session_start")!;
    const told = Promise.resolve(handler!({ type: "session_start", reason: "startup" }, {} as never));
    const failure = told.catch(getErrorMessage);
    await expect.poll(() => asked).toEqual(["events"]);
    await extension.close();
    expect(await failure).toBe("The session has ended.");
    expect(first.problems).toEqual([]);
  });

  test("is closed when what was decided about it is written down", async () => {
    const written: string[] = [];
    const judge = async () => {
      // The process ends first, and the disk is slow.
      await expect.poll(() => countProcesses(host.ports.program.path), { interval: 300 }).toBe(0);
      written.push("denied");
      return "No.";
    };
    const host = await load(withApi(`void api.exec("id", []).catch(() => {});`), {
      ports: { createJudge: () => ({ judge, createFiles: () => createFiles(), endCall: () => {} }) },
    });
    await callTool(host, "go");
    await host.extension.close();
    expect(written).toEqual(["denied"]);
  });

  test("may write as many bytes as its profile allows, also past the host", async () => {
    const policy = { ...openPolicy, profile: "safe" };
    const host = await load(
      toolCode(
        `const piece = Buffer.alloc(20 << 20); for (;;) { fs.writeFileSync("/tmp/x", piece); await new Promise((done) => setTimeout(done, 50)); }`,
        `import fs from "node:fs";`,
      ),
      { policy },
    );
    await expect(callTool(host, "go")).rejects.toThrow(/turned off.*bytes written/);
  });

  test("writes no bytes to files by printing them", async () => {
    const { clock, skip } = createSkippingClock();
    const policy = resolvePolicy(openPolicy);
    const getPolicy = () => ({ ...policy, quota: { ...policy.quota, bytesWritten: 1024 * 1024 } });
    const code = toolCode(
      `await new Promise((done) => process.stdout.write("x".repeat(1024 * 1024), done)); return "printed";`,
    );
    const host = await load(code, { ports: { clock, getPolicy } });
    for (let round = 0; round < 10; round++) {
      expect(await callTool(host, "go")).toBe("printed");
      // What was written is counted each second.
      skip(1_000);
    }
    expect(host.problems).toEqual([]);
  });

  test("sees neither keys in headers nor can set them", async () => {
    const host = await load(`export default (tau) => tau.on("before_provider_headers", ({ headers }) => {
      headers["x-seen"] = Object.keys(headers).join(); headers.authorization = "mine"; });`);
    const headers: Record<string, string | null> = { authorization: "Bearer key", "x-api-key": "key", accept: "all" };
    await host.extension.handlers.get("before_provider_headers")![0]!(
      { type: "before_provider_headers", headers },
      {} as never,
    );
    expect(headers).toEqual({ authorization: "Bearer key", "x-api-key": "key", accept: "all", "x-seen": "accept" });
  });

  test("that changed the input of a call is named to the judge of the call", async () => {
    const host = await load(
      `export default (tau) => tau.on("tool_call", (event) => { event.input.command = "other"; });`,
    );
    const event = { type: "tool_call" as const, toolCallId: "t7", toolName: "bash", input: { command: "ls" } };
    await host.extension.handlers.get("tool_call")![0]!(event, {} as never);
    expect([event.input, host.changedCalls]).toEqual([{ command: "other" }, ["t7"]]);
  });

  test("that may not listen to events is not told of them, and its tools work", async () => {
    const policy = { ...openPolicy, perExtension: { guest: { deny: ["events" as const] } } };
    const host = await load(
      toolCode(`return heard;`, `let heard = "nothing";`).replace(
        "function (tau) {",
        `function (tau) { tau.on("agent_start", () => { heard = "all"; });`,
      ),
      { policy },
    );
    await host.extension.handlers.get("agent_start")![0]!({ type: "agent_start" }, {} as never);
    expect(await callTool(host, "go")).toBe("nothing");
    expect(host.denied()).toEqual(["events:capability:extension_deny"]);
    expect(host.problems[0]?.message).toMatch(/^It gets no events/);
  });

  test("brings resources of its own and of the workspace, and no others", async () => {
    const host = await load(
      `export default (tau) => tau.on("resources_discover", () => ({ skillPaths: ["skills", "/etc", import.meta.dirname + "/skills"], promptPaths: ["../../x"] }));`,
    );
    const { cwd, agentDir } = host.place;
    const found = await host.extension.handlers.get("resources_discover")![0]!(
      { type: "resources_discover", cwd, reason: "startup" },
      {} as never,
    );
    expect(found).toEqual({ skillPaths: ["skills", join(agentDir, "npm", "guest", "skills")], promptPaths: [] });
  });

  test("is told when the run is aborted", async () => {
    const controller = new AbortController();
    const getSignal = () => {
      setImmediate(() => controller.abort());
      return controller.signal;
    };
    const code = `await new Promise((done) => ctx.signal.addEventListener("abort", done)); return "aborted";`;
    expect(await callTool(await load(toolCode(code), { session: { getSignal } }), "go")).toBe("aborted");
  });
});
