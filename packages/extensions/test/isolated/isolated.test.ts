/** Tests what isolated extensions can do, when their processes run, and when they are turned off. */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadIsolated } from "../../src/isolated/index.ts";
import { readExtensionTrust } from "@tau/config/trust";
import {
  callTool,
  countProcesses,
  createPlace,
  createPorts,
  createSource,
  canIsolate,
  load,
  openPolicy,
  type Place,
  toolCode,
  withApi,
} from "./kit.ts";

/** The file where it is remembered what the only extension registers. */
function findManifest({ agentDir }: Place): string {
  const directory = join(agentDir, "cache", "extensions");
  return join(
    directory,
    readdirSync(directory).find((name) => name.startsWith("registered-"))!,
  );
}

describe.runIf(canIsolate)("an isolated extension", () => {
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
    await expect.poll(() => closed.asked).toEqual([["setSessionName", "still", {}]]);
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
});
