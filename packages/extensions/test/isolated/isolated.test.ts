/** Tests what isolated extensions can do, when their processes run, and when they are turned off. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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
import { getRuns, listExtensionRuns, readExtensionTrust } from "@tau/config/trust";
import {
  callTool,
  createPlace,
  createPorts,
  createSession,
  createSkippingClock,
  createSource,
  isWalled,
  load,
  openPolicy,
  type Place,
  toolCode,
} from "./kit.ts";

const withApi = (body: string, before = ""): string =>
  `let api; ${toolCode(body, before).replace("function (tau) {", "function (tau) { api = tau;")}`;

/** Running processes of the program of isolated extensions. */
const countProcesses = (program: string): number => {
  const pids = listPids();
  return pids.filter((pid) => readCommand(pid).includes(program)).length;
};
const listPids = (): string[] =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean);
const readCommand = (pid: string): string =>
  existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, "utf8") : "";

/** The file where it is remembered what the only extension registers. */
function findManifest({ agentDir }: Place): string {
  const directory = join(agentDir, "cache", "extensions");
  return join(
    directory,
    readdirSync(directory).find((name) => name.startsWith("registered-"))!,
  );
}

describe.runIf(isWalled)("an isolated extension", () => {
  test("runs in a process of its own, which is the first one that it sees", async () => {
    const host = await load(toolCode(`return String(process.pid);`));
    expect(host.extension).toMatchObject({ host: "isolated", state: "acknowledged" });
    expect(await callTool(host, "go")).toBe("1");
    expect(host.problems).toEqual([]);
  });

  test("leads the conversation to a server of its own only where it may send requests there", async () => {
    const model = { provider: "mine", id: "m", baseUrl: "https://models.test/v1" };
    const modelRegistry = { find: () => model } as never;
    const provider = `{ baseUrl: "https://models.test/v1", apiKey: "k", api: "openai-completions", models: [{ id: "m" }] }`;
    const code = withApi(`return String(await api.setModel({ provider: "mine", id: "m" }));`).replace(
      "api = tau;",
      `api = tau; tau.registerProvider("mine", ${provider}); tau.on("session_start", () => tau.setSessionName("still"));`,
    );
    const session = { modelRegistry };
    const closed = await load(code, {
      session,
      policy: { defaultCaps: ["events", "session", "tool"], mode: "strict" },
    });
    await expect(callTool(closed, "go")).rejects.toThrow(/policy.defaultCaps/);
    expect(closed.denied()).toEqual([expect.stringMatching(/^http:/)]);
    // That it may not use this server costs it nothing else.
    await closed.extension.handlers.get("session_start")![0]!(
      { type: "session_start", reason: "startup" },
      {} as never,
    );
    await expect.poll(() => closed.asked).toEqual([["setSessionName", "still"]]);
    const open = await load(code, { session });
    expect(await callTool(open, "go")).toBe("true");
    const network = { lookup: async () => [{ address: "127.0.0.1", family: 4 as const }], isOpen: () => false };
    const local = await load(code, { session, ports: { network } });
    await expect(callTool(local, "go")).rejects.toThrow(/needs trust/);
  });

  test("cannot share a resource with other sessions, and is told why", async () => {
    const extension = await load(withApi(`await api.shared("key", () => ({ close() {} }));`));
    await expect(callTool(extension, "go")).rejects.toThrow(/needs trust: tau\.shared/);
  });

  test("adds and takes away a provider while it runs, before its next line", async () => {
    const provider = `{ baseUrl: "https://models.test/v1", apiKey: "k", models: [{ id: "m" }], streamSimple: undefined }`;
    const code = withApi(`api.registerProvider("late", ${provider}); api.unregisterProvider("early");
      return String(await api.setModel({ provider: "late", id: "m" }));`).replace(
      "api = tau;",
      `api = tau; tau.registerProvider("early", ${provider});`,
    );
    const model = { provider: "late", id: "m", baseUrl: "https://models.test/v1" };
    const host = await load(code, { session: { modelRegistry: { find: () => model } as never } });
    expect(host.asked).toEqual([]);
    expect(await callTool(host, "go")).toBe("true");
    const data = { baseUrl: "https://models.test/v1", apiKey: "k", models: [{ id: "m" }] };
    const { name } = host.extension.source;
    expect(host.asked.slice(0, 2)).toEqual([
      ["registerProvider", name, "late", data],
      ["unregisterProvider", name, "early"],
    ]);
    expect([...host.extension.providers.keys()]).toEqual(["late"]);
  });

  test("is told why a provider is refused while it runs", async () => {
    const refuse = () => {
      throw new Error("It changes the provider openai, which needs trust.");
    };
    const code = withApi(`try { api.registerProvider("openai", {}); } catch (error) { return error.message; }`);
    const ports = { isIsolated: () => false, registerIsolated: refuse, unregisterIsolated: () => {} };
    const host = await load(code, { ports: { providers: ports } });
    expect(await callTool(host, "go")).toContain("needs trust");
    expect(host.extension.providers.size).toBe(0);
  });

  test.each([
    ["of its own that it has taken back", "tau.registerProvider('mine', { baseUrl: 'https://models.test/v1' });"],
    ["of another extension", ""],
  ])("leads the conversation to a server %s only where it may send requests there", async (_which, before) => {
    const model = { provider: "mine", id: "m", baseUrl: "https://models.test/v1" };
    const code = withApi(
      `api.unregisterProvider("mine"); await new Promise(setImmediate); return String(await api.setModel({ provider: "mine", id: "m" }));`,
    ).replace("api = tau;", `api = tau; ${before}`);
    const host = await load(code, {
      session: { modelRegistry: { find: () => model } as never },
      policy: { defaultCaps: ["events", "session", "tool"], mode: "strict" },
    });
    await expect(callTool(host, "go")).rejects.toThrow(/policy.defaultCaps/);
    expect(host.denied()).toEqual([expect.stringMatching(/^http:/)]);
  });

  test("puts nothing into the session that is no message and no label", async () => {
    const code = `export default (tau) => {
      tau.registerCommand("go", { handler: async (_args, ctx) => {
        tau.sendUserMessage([{ type: "image" }]);
        tau.sendUserMessage([{ type: "toolCall", id: "1", name: "bash", arguments: {} }]);
        await ctx.navigateTree("e1", { label: { length: 3 }, customInstructions: 7, summarize: true });
        await ctx.newSession({ parentSession: 5 });
        tau.sendUserMessage([{ type: "text", text: "hi" }]);
        await ctx.waitForIdle();
      } });
    };`;
    const host = await load(code);
    await host.extension.commands.get("go")!.handler("", {} as never);
    await expect
      .poll(() => host.asked)
      .toEqual([
        ["navigateTree", "e1", { summarize: true }],
        ["newSession", {}],
        ["sendUserMessage", [{ type: "text", text: "hi" }], {}],
        ["waitForIdle"],
      ]);
  });

  test("opens the user's own sessions, and no file that it may have written", async () => {
    const place = createPlace();
    const sessions = join(place.agentDir, "sessions");
    mkdirSync(sessions);
    const [own, forged] = [join(sessions, "own.jsonl"), join(place.cwd, "forged.jsonl")];
    for (const path of [own, forged]) writeFileSync(path, "");
    const code = `export default (tau) => {
      tau.registerCommand("go", { handler: async (args, ctx) => void (await ctx.switchSession(args)) });
    };`;
    const host = await load(code, { place, session: { reader: { getSessionDir: () => sessions } as never } });
    const go = (path: string) => host.extension.commands.get("go")!.handler(path, {} as never);
    for (const path of [forged, "forged.jsonl", join(sessions, "../../../project/forged.jsonl"), "later.jsonl"]) {
      await expect(go(path)).rejects.toThrow("which needs trust");
    }
    await go(own);
    await go("0198-abcd");
    expect(host.asked).toEqual([
      ["switch", own],
      ["switch", "0198-abcd"],
    ]);
  });

  test("shares no network, processes, mounts or messages with the host, and has no rights over the machine", async () => {
    const names = ["net", "pid", "mnt", "ipc", "uts"];
    const code = toolCode(
      `const own = ${JSON.stringify(names)}.map((name) => fs.readlinkSync("/proc/self/ns/" + name));
      const status = fs.readFileSync("/proc/self/status", "utf8");
      return [own, /^CapEff:\\t(.*)$/m.exec(status)[1], /^NoNewPrivs:\\t(.*)$/m.exec(status)[1], /^Seccomp:\\t(.*)$/m.exec(status)[1]];`,
      `import fs from "node:fs";`,
    );
    const [own, rights, ...fixed] = JSON.parse(await callTool(await load(code), "go")) as [
      string[],
      string,
      ...string[],
    ];
    const shared = names.filter((name, index) => readlinkSync(`/proc/self/ns/${name}`) === own[index]);
    expect(shared).toEqual([]);
    // Root may read and write files of other users, as far as they are mounted.
    expect(Number.parseInt(rights, 16)).toBe(process.getuid!() === 0 ? 2 : 0);
    expect(fixed).toEqual(["1", "2"]);
  });

  test("is known from the cache, and its process starts with the first call", async () => {
    const first = await load(toolCode(`return "called";`));
    await first.extension.close();
    const { ports, place, source } = first;
    const again = await loadIsolated(source, ports);
    onTestFinished(() => again.close());
    expect([...again.tools.keys()]).toEqual(["go"]);
    expect(countProcesses(ports.program.path)).toBe(0);
    expect(await callTool({ extension: again }, "go")).toBe("called");
    expect(countProcesses(ports.program.path)).toBe(1);
    expect(readFileSync(findManifest(place), "utf8")).toContain('"go"');
  });

  test("is not taken for another one of the same package", async () => {
    const { place, ports, source } = await load(toolCode(`return "called";`));
    const code = `export default (tau) => tau.registerCommand("other", { handler() {} });`;
    const other = await loadIsolated({ ...createSource(place, code, "other"), digest: source.digest }, ports);
    onTestFinished(() => other.close());
    expect([[...other.tools.keys()], [...other.commands.keys()]]).toEqual([[], ["other"]]);
  });

  test("does not start if its files have changed since it was found", async () => {
    const first = await load(toolCode(`return "called";`));
    await first.extension.close();
    const again = await loadIsolated({ ...first.source, isUnchanged: () => false }, first.ports);
    onTestFinished(() => again.close());
    await expect(callTool({ extension: again }, "go")).rejects.toThrow("Its files have changed");
    expect(countProcesses(first.ports.program.path)).toBe(0);
  });

  test("is learned anew when the cache is damaged", async () => {
    const first = await load(toolCode(`return "called";`));
    await first.extension.close();
    writeFileSync(findManifest(first.place), `{"version":1,"manifest":"nonsense"`);
    const again = await loadIsolated(first.source, first.ports);
    onTestFinished(() => again.close());
    expect(await callTool({ extension: again }, "go")).toBe("called");
  });

  test("is learned again each time where nothing can be kept, without a word", async () => {
    const place = createPlace();
    writeFileSync(join(place.agentDir, "cache"), "not a directory");
    const source = createSource(place, toolCode(`return "fine";`));
    for (let turn = 0; turn < 2; turn++) {
      const host = await load("", { place, source });
      expect(await callTool(host, "go")).toBe("fine");
      expect(host.problems).toEqual([]);
    }
  });

  test("leaves no process behind when it is closed", async () => {
    const { extension, ports } = await load(toolCode(`return "called";`));
    await extension.close();
    expect(countProcesses(ports.program.path)).toBe(0);
    await expect(callTool({ extension }, "go")).rejects.toThrow("The session has ended.");
  });

  test("that cannot be loaded says in which line", async () => {
    await expect(load(`export default (tau) => {\n  tau.nothing.here();\n};`)).rejects.toThrow(
      /index\.ts:2: .*(nothing|undefined)/,
    );
    await expect(load(`export default = ;`)).rejects.toThrow(/index\.ts/);
  });

  test.each(["guest", "@scope/guest"])("finds the dependencies that npm has installed beside %s", async (name) => {
    const place = createPlace();
    const directory = join(place.agentDir, "npm", `${name}@1.0.0`, "node_modules");
    const baseDir = join(directory, name);
    const path = join(baseDir, "index.ts");
    for (const each of [baseDir, join(directory, "dependency")]) mkdirSync(each, { recursive: true });
    writeFileSync(join(directory, "dependency", "index.js"), `exports.value = "of the dependency";`);
    writeFileSync(path, `import { value } from "dependency"; ${toolCode(`return value;`)}`);
    const source = createSource(place, "", "other");
    const host = await load("", { place, source: { ...source, path, info: { ...source.info, path, baseDir } } });
    expect(await callTool(host, "go")).toBe("of the dependency");
  });

  test("does not run where the sandbox does not work, and says why", async () => {
    const place = createPlace();
    const { ports } = await createPorts({ place });
    const source = createSource(place, toolCode(`return "";`));
    const loadThere = () => loadIsolated(source, { ...ports, cwd: "/" });
    await expect(loadThere()).rejects.toThrow(/not trusted and needs the sandbox.*root of the file system/);
    // Also one that is remembered.
    await (await loadIsolated(source, ports)).close();
    await expect(loadThere()).rejects.toThrow(/not trusted and needs the sandbox.*root of the file system/);
    expect(await readExtensionTrust(source, { agentDir: place.agentDir })).toBe("pending");
  });

  test("registers a tool later", async () => {
    const host =
      await load(`export default (tau) => tau.on("session_start", () => tau.registerTool({ name: "late", label: "l",
      description: "d", parameters: { type: "object" }, execute: async () => ({ content: [{ type: "text", text: "late" }] }) }));`);
    expect(host.extension.tools.size).toBe(0);
    await host.extension.handlers.get("session_start")![0]!({ type: "session_start", reason: "startup" }, {} as never);
    expect(await callTool(host, "late")).toBe("late");
  });

  test("that registers many tools at once describes each of them a few times", async () => {
    const code = `let described = 0;
      const register = (tau, prefix) => { for (let index = 0; index < 100; index++) tau.registerTool({ name: prefix + index, label: "l",
        get description() { described++; return "d"; }, parameters: { type: "object" },
        execute: async () => ({ content: [{ type: "text", text: String(described) }] }) }); };
      export default (tau) => { register(tau, "early"); tau.on("session_start", () => register(tau, "late")); };`;
    const host = await load(code);
    const countDescribed = async () => Number(await callTool(host, "early0"));
    expect(await countDescribed()).toBeLessThan(1_000);
    await host.extension.handlers.get("session_start")![0]!({ type: "session_start", reason: "startup" }, {} as never);
    await expect.poll(() => host.extension.tools.size).toBe(200);
    expect(await countDescribed()).toBeLessThan(2_000);
  });

  test("reads and writes files of the workspace, and only with permission", async () => {
    const code = toolCode(
      `const path = ctx.cwd + "/deep/file.txt"; fs.mkdirSync(ctx.cwd + "/deep"); fs.writeFileSync(path, "one");
      fs.appendFileSync(path, "two"); await fsp.copyFile(path, ctx.cwd + "/copy.txt"); fs.renameSync(path, ctx.cwd + "/moved.txt");
      fs.unlinkSync(ctx.cwd + "/copy.txt"); const stream = fs.createWriteStream(ctx.cwd + "/streamed.txt");
      await new Promise((done) => stream.end("three", done));
      return [await fsp.readFile(ctx.cwd + "/moved.txt", "utf8"), fs.existsSync(path), fs.readdirSync(ctx.cwd).sort().join()];`,
      `import fs from "node:fs"; import fsp from "node:fs/promises";`,
    );
    const host = await load(code);
    expect(await callTool(host, "go")).toBe(JSON.stringify(["onetwo", false, "deep,moved.txt,streamed.txt"]));
    expect(readFileSync(join(host.place.cwd, "streamed.txt"), "utf8")).toBe("three");
    const denied = await load(code, { policy: { ...openPolicy, perExtension: { guest: { deny: ["write"] } } } });
    await expect(callTool(denied, "go")).rejects.toThrow(/Capability 'write' denied/);
    expect(denied.denied()).toEqual(["write:capability:extension_deny"]);
  });

  test("adds to files without losing anything, and replaces none that must not exist", async () => {
    const place = createPlace();
    const names = ["flag.txt", "stream.txt", "kept.txt", "many.txt"];
    for (const name of names) writeFileSync(join(place.cwd, name), "old ");
    const code = toolCode(
      `const at = (name) => ctx.cwd + "/" + name; const codes = [];
      const attempt = (work) => { try { work(); codes.push("done"); } catch (error) { codes.push(error.code); } };
      fs.writeFileSync(at("flag.txt"), "new", { flag: "a" });
      await new Promise((done) => fs.createWriteStream(at("stream.txt"), { flags: "a" }).end("new", done));
      await Promise.all(["1", "2", "3", "4", "5"].map((text) => fs.promises.appendFile(at("many.txt"), text)));
      attempt(() => fs.writeFileSync(at("kept.txt"), "new", { flag: "wx" }));
      attempt(() => fs.copyFileSync(at("flag.txt"), at("kept.txt"), fs.constants.COPYFILE_EXCL));
      attempt(() => fs.writeFileSync(at("kept.txt"), "new", { flag: "r+" }));
      attempt(() => fs.writeFileSync(at("kept.txt"), undefined));
      attempt(() => fs.writeFileSync(at("fresh.txt"), "new", { flag: "wx" }));
      return codes;`,
      `import fs from "node:fs";`,
    );
    const said = await callTool(await load(code, { place }), "go");
    expect(JSON.parse(said)).toEqual(["EEXIST", "EEXIST", "EACCES", "ERR_INVALID_ARG_TYPE", "done"]);
    const [flag, stream, kept, many] = names.map((name) => readFileSync(join(place.cwd, name), "utf8"));
    expect([flag, stream, kept, [...many!].toSorted().join("")]).toEqual(["old new", "old new", "old ", " 12345dlo"]);
    expect(readFileSync(join(place.cwd, "fresh.txt"), "utf8")).toBe("new");
  });

  test("copies between the workspace and its own files, and moves nothing there", async () => {
    const place = createPlace();
    writeFileSync(join(place.cwd, "a.txt"), "text");
    const code = toolCode(
      `const codes = []; const attempt = (work) => { try { work(); codes.push("done"); } catch (error) { codes.push(error.code); } };
      const [inside, own] = [ctx.cwd + "/a.txt", os.tmpdir() + "/own-" + process.hrtime.bigint()];
      attempt(() => fs.copyFileSync(inside, own)); await fs.promises.copyFile(own, ctx.cwd + "/back.txt");
      attempt(() => fs.cpSync(inside, own + "-2")); attempt(() => fs.renameSync(inside, own)); attempt(() => fs.renameSync(own, inside));
      attempt(() => fs.closeSync(fs.openSync(inside, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW)));
      fs.copyFile(own + "-none", inside, (error) => codes.push(error.code)); await new Promise(setImmediate);
      return [codes, fs.readFileSync(own, "utf8"), fs.existsSync(own + "-2"), own];`,
      `import fs from "node:fs"; import os from "node:os";`,
    );
    const host = await load(code, { place });
    const [codes, text, hasCopy, own] = JSON.parse(await callTool(host, "go")) as [string[], string, boolean, string];
    expect([codes, text, hasCopy]).toEqual([["done", "done", "EXDEV", "EXDEV", "done", "ENOENT"], "text", true]);
    expect(readFileSync(join(place.cwd, "back.txt"), "utf8")).toBe("text");
    expect(existsSync(own)).toBe(false);
    expect(host.denied()).toEqual([]);
  });

  test("is told the code of the system about a file that the host does not find", async () => {
    const policy = { ...openPolicy, defaultCaps: openPolicy.defaultCaps!.filter((name) => name !== "read") };
    const place = createPlace();
    const code = toolCode(
      `try { fs.readFileSync(${JSON.stringify(join(place.cwd, "none.txt"))}); } catch (error) { return error.code; }`,
      `import fs from "node:fs";`,
    );
    const judge = { judge: async () => undefined, createFiles: () => createFiles(), endCall: () => {} };
    const host = await load(code, { place, policy, ports: { createJudge: () => judge } });
    expect(await callTool(host, "go")).toBe("ENOENT");
  });

  test("removes and moves no link, and nothing that one leads to", async () => {
    const place = createPlace();
    writeFileSync(join(place.cwd, "kept.txt"), "text");
    mkdirSync(join(place.cwd, "empty"));
    symlinkSync("kept.txt", join(place.cwd, "link"));
    symlinkSync("empty", join(place.cwd, "directory"));
    const code = toolCode(
      `const said = []; const attempt = (work) => { try { work(); said.push("done"); } catch (error) { said.push(error.message); } };
      attempt(() => fs.unlinkSync(ctx.cwd + "/link")); attempt(() => fs.rmSync(ctx.cwd + "/link", { force: true }));
      attempt(() => fs.renameSync(ctx.cwd + "/link", ctx.cwd + "/moved")); attempt(() => fs.rmdirSync(ctx.cwd + "/directory/"));
      return said;`,
      `import fs from "node:fs";`,
    );
    const said = JSON.parse(await callTool(await load(code, { place }), "go")) as string[];
    expect(said).toEqual(Array.from({ length: 4 }, () => expect.stringContaining("a link needs trust")));
    expect(readdirSync(place.cwd).sort()).toEqual(["directory", "empty", "kept.txt", "link"]);
  });

  test("hears nothing of what is no data on a shared channel, and disturbs nobody there", async () => {
    const events = createEventBus();
    const heard: unknown[] = [];
    const host = await load(
      `export default (tau) => { tau.events.on("news", () => {}); tau.registerTool({ name: "go", label: "l", description: "d",
      parameters: { type: "object" }, execute: async () => ({ content: [{ type: "text", text: "fine" }] }) }); }`,
      { ports: { events } },
    );
    expect(await callTool(host, "go")).toBe("fine");
    events.on("news", (data) => heard.push(data));
    events.emit("news", 1n);
    expect(heard).toEqual([1n]);
    await expect
      .poll(() => host.problems.map(({ message }) => message).join())
      .toContain('Its listener to "news" failed');
  });

  test("does not see the workspace if it may not read", async () => {
    const code = toolCode(`return fs.existsSync(${JSON.stringify("FILE")});`, `import fs from "node:fs";`);
    const place = createPlace();
    writeFileSync(join(place.cwd, "readme.txt"), "text");
    const text = code.replace("FILE", join(place.cwd, "readme.txt"));
    const policy = { ...openPolicy, perExtension: { guest: { deny: ["read" as const] } } };
    expect(await callTool(await load(text, { place }), "go")).toBe("true");
    expect(await callTool(await load(text, { place, policy }), "go")).toBe("false");
  });

  test("reads what it sees of the system without asking", async () => {
    const seen = "/usr /etc/ld.so.cache /etc/localtime /etc/alternatives".split(" ").filter((path) => existsSync(path));
    const code = toolCode(
      `return ${JSON.stringify(seen)}.map((path) => fs.statSync(path).isDirectory() ? fs.readdirSync(path).length : fs.readFileSync(path).length);`,
      `import fs from "node:fs";`,
    );
    const host = await load(code, { policy: { ...openPolicy, perExtension: { guest: { deny: ["read"] } } } });
    const sizes = seen.map((path) => (statSync(path).isDirectory() ? readdirSync(path) : readFileSync(path)).length);
    expect(JSON.parse(await callTool(host, "go"))).toEqual(sizes);
    expect(host.decisions).toEqual([]);
  });

  test("works in a workspace that is among temporary files", async () => {
    const place = createPlace("/tmp");
    const code = toolCode(
      `fs.writeFileSync(ctx.cwd + "/a.txt", "a"); fs.writeFileSync(os.tmpdir() + "/b.txt", "b");
      return fs.readFileSync(ctx.cwd + "/a.txt", "utf8") + fs.readFileSync("/tmp/b.txt", "utf8");`,
      `import fs from "node:fs"; import os from "node:os";`,
    );
    expect(await callTool(await load(code, { place }), "go")).toBe("ab");
    expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("a");
    expect(existsSync("/tmp/b.txt")).toBe(false);
  });

  test("does not see credentials in a workspace that is the home directory", async () => {
    const place = createPlace();
    mkdirSync(join(place.home, ".ssh"));
    writeFileSync(join(place.home, ".ssh", "id_rsa"), "the secret");
    const code = toolCode(
      `const { readFileSync } = process.getBuiltinModule?.("fs") ?? fs; return readFileSync(ctx.cwd + "/.ssh/id_rsa", "utf8") + "!";`,
      `import fs from "node:fs";`,
    );
    const host = await load(code, { place: { ...place, cwd: place.home } });
    expect(await callTool(host, "go").catch((error: Error) => error.message)).not.toContain("the secret");
  });

  test("is counted for each session in which it ran, and begins anew when it is refused something", async () => {
    const place = createPlace();
    const source = createSource(place, toolCode(`return await ctx.executeTool("read", {}).then(() => "done");`));
    const runOnce = async (policy: Parameters<typeof resolvePolicy>[0]) => {
      const { ports } = await createPorts({ place, policy: policy! });
      const extension = await loadIsolated(source, ports);
      await callTool({ extension }, "go").catch(() => "");
      await extension.close();
      return getRuns(await listExtensionRuns({ agentDir: place.agentDir }), source);
    };
    expect([await runOnce(openPolicy), await runOnce(openPolicy), await runOnce(openPolicy)]).toEqual([1, 2, 3]);
    expect(await runOnce({ ...openPolicy, denyCaps: ["tool"] })).toBe(0);
    expect(await runOnce(openPolicy)).toBe(1);
    expect(await readExtensionTrust(source, { agentDir: place.agentDir })).not.toBe("trusted");
  });

  describe("and files with secrets of the project:", () => {
    const readCode = (name: string) =>
      toolCode(
        `const path = ctx.cwd + ${JSON.stringify(`/${name}`)};
         const tries = [
           () => fs.readFileSync(path, "utf8"),
           () => fs.promises.readFile(path, "utf8"),
           () => { fs.copyFileSync(path, ctx.cwd + "/copy.txt"); return fs.readFileSync(ctx.cwd + "/copy.txt", "utf8"); },
           () => { fs.renameSync(path, ctx.cwd + "/moved.txt"); return fs.readFileSync(ctx.cwd + "/moved.txt", "utf8"); },
           () => { const fd = process.binding("fs").open(path, 0, 0o666, undefined, {}); return fs.readFileSync(fd, "utf8"); },
           () => fs.readFileSync(ctx.cwd + "/link.txt", "utf8"),
         ];
         const texts = [];
         for (const attempt of tries) try { texts.push(await attempt()); } catch (error) { texts.push(error.code); }
         return JSON.stringify(texts);`,
        `import fs from "node:fs";`,
      );

    test.each([".env", "config/.env.production", "server.pem", "keys/server.key", "id_ed25519", ".npmrc", "a.p12"])(
      "cannot read, copy or move %s, in whatever way",
      async (name) => {
        const place = createPlace();
        mkdirSync(join(place.cwd, name, ".."), { recursive: true });
        writeFileSync(join(place.cwd, name), "the secret");
        symlinkSync(name, join(place.cwd, "link.txt"));
        const host = await load(readCode(name), { place });
        expect(await callTool(host, "go")).not.toContain("the secret");
        expect(readFileSync(join(place.cwd, name), "utf8")).toBe("the secret");
        expect(host.decisions.some(({ rule }) => rule === "project-secret")).toBe(true);
      },
    );

    test("cannot read one that appears while it runs", async () => {
      const place = createPlace();
      const host = await load(readCode(".env.local"), { place });
      await callTool(host, "go");
      writeFileSync(join(place.cwd, ".env.local"), "the secret");
      const texts = JSON.parse(await callTool(host, "go")) as string[];
      // Code that goes around node:fs sees what was not there when the process started.
      expect(texts.toSpliced(4, 1)).not.toContain("the secret");
    });

    test("reads samples, and what the policy names for it alone", async () => {
      const place = createPlace();
      for (const name of [".env", ".env.example"]) writeFileSync(join(place.cwd, name), `of ${name}`);
      expect(await callTool(await load(readCode(".env.example"), { place }), "go")).toContain("of .env.example");
      const policy = (name: string) => ({ ...openPolicy, perExtension: { [name]: { secretFiles: [".env"] } } });
      expect(await callTool(await load(readCode(".env"), { place, policy: policy("guest") }), "go")).toContain(
        "of .env",
      );
      const other = createPlace();
      writeFileSync(join(other.cwd, ".env"), "the secret");
      const host = await load(readCode(".env"), { place: other, policy: policy("another") });
      expect(await callTool(host, "go")).not.toContain("the secret");
    });

    test("runs no command that names one, and its calls of tools are judged for it", async () => {
      const policy = { ...openPolicy, denyCaps: [], perExtension: { guest: { allow: ["exec" as const] } } };
      const body = `
        const texts = [];
        for (const args of [["cat", [".env"]], ["sh", ["-c", "sort < ./.env.local"]], ["cat", ["notes.txt"]]])
          texts.push(await api.exec(...args).then(() => "ran", (error) => error.code));
        await ctx.executeTool("read", { path: ".env" });
        return JSON.stringify(texts);`;
      const executeTool: ExtensionSessionPort["executeTool"] = async (_callerId, _name, _args, { onBegin }) => {
        onBegin?.("nested");
        return { result: { content: [] }, isError: false };
      };
      const host = await load(withApi(body), { policy, session: { executeTool } });
      expect(JSON.parse(await callTool(host, "go"))).toEqual(["denied", "denied", "ran"]);
      expect(host.changedCalls).toEqual(["nested"]);
    });
  });

  test("runs a command that the policy allows, and not another", async () => {
    const policy = { ...openPolicy, denyCaps: [], perExtension: { guest: { allow: ["exec" as const] } } };
    const host = await load(
      withApi(
        `return [await api.exec("git", ["status", "a b"]), await api.exec("rm", ["-rf", "/"]).catch((e) => [e.code, e.message.slice(0, 30)])];`,
      ),
      { policy },
    );
    const [status, refused] = JSON.parse(await callTool(host, "go")) as [unknown, unknown];
    expect(status).toEqual({ stdout: "done\n", stderr: "", code: 0, killed: false });
    expect(refused).toEqual(["denied", "The policy denied this command"]);
    expect(host.asked).toEqual([["exec", "git", ["status", "a b"], { signal: expect.any(AbortSignal) }]]);
  });

  test("runs a command elsewhere only if the policy allows it there", async () => {
    const policy = { ...openPolicy, denyCaps: [], perExtension: { guest: { allow: ["exec" as const] } } };
    const code = withApi(`const codes = [];
      for (const cwd of [ctx.cwd, "sub", "/"]) await api.exec("rm", ["-rf", "etc"], { cwd }).then(() => codes.push("done"), (error) => codes.push(error.code));
      return codes;`);
    const host = await load(code, { policy });
    expect(await callTool(host, "go")).toBe(JSON.stringify(["done", "done", "denied"]));
    expect(host.asked.map(([, , , options]) => (options as { cwd?: string }).cwd)).toEqual([
      undefined,
      join(host.place.cwd, "sub"),
    ]);
    const targets = host.decisions.flatMap(({ request }) => (request.capability === "exec" ? [request.target] : []));
    expect(targets.map((target) => "command" in target && target.command)).toEqual([
      "rm -rf etc",
      `cd ${join(host.place.cwd, "sub")} && rm -rf etc`,
      "cd / && rm -rf etc",
    ]);
  });

  test("fetches, follows redirects and sends bodies", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/other")
        return void request.socket.write("HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
      if (request.url === "/moved") return void response.writeHead(302, { location: "/there" }).end();
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () =>
        response.setHeader("x-method", request.method!).end(`got ${Buffer.concat(pieces).toString()}`),
      );
    });
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
    const base = `http://example.com:${(server.address() as AddressInfo).port}`;
    const host = await load(
      toolCode(`const one = await fetch("${base}/moved"); const two = await fetch("${base}/", { method: "POST", body: "hi" });
      const other = await fetch("${base}/other").catch((error) => error.name);
      return [one.status, await one.text(), one.url.endsWith("/there"), two.headers.get("x-method"), await two.text(), other];`),
    );
    expect(await callTool(host, "go")).toBe(JSON.stringify([200, "got ", true, "POST", "got hi", "TypeError"]));
    const closed = await load(toolCode(`return (await fetch("${base}/")).status;`), {
      policy: { ...openPolicy, perExtension: { guest: { deny: ["http"] } } },
    });
    await expect(callTool(closed, "go")).rejects.toThrow(/Capability 'http' denied/);
    const failing = await load(
      toolCode(`const names = [];
      for (const signal of [undefined, AbortSignal.abort()])
        await fetch("${base}/", { signal }).catch((error) => names.push(error.name, error.code));
      return names;`),
      { policy: { ...openPolicy, perExtension: { guest: { deny: ["http"] } } } },
    );
    expect(await callTool(failing, "go")).toBe(JSON.stringify(["TypeError", "denied", "AbortError", 20]));
  });

  test("follows redirects as fetch does: a HEAD stays one, and a GET describes no body", async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push([request.method, request.url, request.headers["content-type"] ?? "-"].join(" "));
      if (request.url === "/there") return void response.end();
      response.writeHead(303, { location: "/there" }).end();
    });
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
    const address = `http://example.com:${(server.address() as AddressInfo).port}/moved`;
    const code =
      toolCode(`const [head, post] = [await fetch("${address}", { method: "HEAD" }), await fetch("${address}", { method: "POST", body: "x" })];
      return [head.redirected, post.redirected];`);
    expect(await callTool(await load(code), "go")).toBe("[true,true]");
    expect(seen).toEqual(["HEAD /moved -", "HEAD /there -", "POST /moved text/plain;charset=UTF-8", "GET /there -"]);
  });

  test("of the object form gets only what it declares", async () => {
    const host =
      await load(`import fs from "node:fs"; export default { name: "thing", version: "1.0.0", capabilities: ["crypto"],
      tools: [{ name: "go", description: "d", execute: (params, ctx) => { fs.writeFileSync(process.cwd() + "/x", "x"); } }] };`);
    await expect(callTool(host, "go")).rejects.toThrow(/does not declare that it needs write/);
    expect(host.denied()).toEqual(["write:not-declared"]);
  });

  test("says what needs trust, and does the rest", async () => {
    const host = await load(`export default (tau) => { tau.registerMessageRenderer("x", () => undefined);
      tau.registerProvider("p", { baseUrl: "http://x", streamSimple: () => {} });
      tau.registerTool({ name: "go", label: "l", description: "d", parameters: { type: "object" }, renderCall: () => undefined,
        prepareArguments: (args) => args,
        execute: async (id, params, signal, update, ctx) => { ctx.ui.setFooter(() => ({})); ctx.ui.setWidget("w", () => ({}));
          const shown = await ctx.ui.custom(() => ({})); return { content: [{ type: "text", text: ctx.ui.theme.fg("accent", "plain") + String(shown) }] }; } }); };`);
    expect(await callTool(host, "go")).toBe("plainundefined");
    const told = () => host.problems.map(({ message }) => /needs trust: (.*?)\. /.exec(message)?.[1]);
    await expect
      .poll(told)
      .toEqual([
        "a renderer of its own",
        "the renderer of its tool go",
        "preparing the arguments of its tool go",
        "the provider p, which has functions of its own",
        "a footer of its own",
        "a widget that is a component",
        "a component that is shown with `ui.custom`",
      ]);
    expect(host.extension.providers.size).toBe(0);
  });

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
      ["setSessionName", "over"],
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
