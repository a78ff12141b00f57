/** Extensions of the packed program: its help, and packages that are fetched for one run and run isolated. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { type Registry, startRegistry } from "../../../config/test/installs/registry.ts";
import { writeExtension, writeModule } from "../extension-kit.ts";
import { createModelWorkspace, textReply, type Workspace } from "../kit.ts";
import { installed, runPacked, start } from "./kit.ts";
import { isRunning, listChildren } from "./pty.ts";

test("--help lists the options of extensions", async () => {
  const workspace = await createModelWorkspace([]);
  await writeExtension(
    workspace,
    "flagged",
    `tau.registerFlag("plan", { type: "boolean", description: "Only plan" });`,
  );
  const { code, out } = await runPacked(workspace, ["--help"]);
  expect(code).toBe(0);
  expect(out).toMatch(/Options of extensions:\n +--plan +Only plan\n/);
});

test("extensions import the schema library under both of its names, and write nothing into the output", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  const source = `import whole, { Type } from "typebox";
    import { Type as Old } from "@sinclair/typebox";
    import { Compile } from "typebox/compile";
    import { Value } from "typebox/value";
    const checks = [Compile(Type.Object({ a: Type.Number() })).Check({ a: 1 }), Value.Check(Old.String(), 1)];
    export default (tau) => tau.on("input", ({ text }) => {
      console.log("one");
      process.stdout.write("two\\n");
      return { action: "transform", text: [text, ...checks, whole.String().type].join("; ") };
    });`;
  await writeModule(join(workspace.agentDir, "extensions", "schemas.ts"), source);
  const { code, out, err } = await runPacked(workspace, ["-p", "Go"], { input: "" });
  expect({ code, out, err }).toEqual({ code: 0, out: "ok\n", err: "one\ntwo\n" });
  expect(JSON.stringify(workspace.server.requests.at(-1)?.body)).toContain("Go; true; false; string");
});

test("pi's package directory is that of the program", async () => {
  const workspace = await createModelWorkspace([textReply("ok")]);
  const source = `import { getPackageDir, getReadmePath } from "@earendil-works/pi-coding-agent";
    console.log([getPackageDir(), getReadmePath()].join());
    export default () => {};`;
  await writeModule(join(workspace.agentDir, "extensions", "directory.ts"), source);
  const { out, err } = await runPacked(workspace, ["-p", "Go"], { input: "" });
  const directory = await realpath(await installed());
  expect({ out, err }).toEqual({ out: "ok\n", err: `${directory},${join(directory, "README.md")}\n` });
});

test("a program that an extension starts imports tau's modules from the directory of pi's package", async () => {
  const workspace = await createModelWorkspace([textReply("ok"), textReply("from the program")]);
  const scope = join(workspace.agentDir, "extensions", "node_modules", "@earendil-works");
  await writeModule(join(scope, "other", "index.js"), "module.exports = 'its own';");
  const program = `import { createRequire } from "node:module";
    import { createAgentSession, ModelRuntime, SessionManager, VERSION } from "@earendil-works/pi-coding-agent";
    const require = createRequire(import.meta.url);
    const modelRuntime = await ModelRuntime.create();
    const model = modelRuntime.getModel(...process.argv[2].split(/\\/(.*)/));
    const { session } = await createAgentSession({ model, modelRuntime, sessionManager: SessionManager.inMemory() });
    await session.prompt("Hello");
    const { Type } = await import(require.resolve("typebox"));
    const { complete } = await import(require.resolve("@mariozechner/pi-ai/compat"));
    const other = (await import("@earendil-works/other")).default;
    console.log([session.getLastAssistantText(), VERSION, Type.String().type, typeof complete, other].join());`;
  const source = `import { spawnSync } from "node:child_process";
    import { writeFileSync } from "node:fs";
    import { dirname, join } from "node:path";
    import { fileURLToPath } from "node:url";
    export default (pi) => pi.on("agent_end", (_event, { model }) => {
      const file = fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent"));
      if (file !== require.resolve("@earendil-works/pi-coding-agent")) throw new Error(file);
      const path = join(dirname(file), "program.mjs");
      writeFileSync(path, ${JSON.stringify(program)});
      const { stdout, stderr } = spawnSync(process.execPath, [path, model.provider + "/" + model.id], { encoding: "utf8" });
      console.log(stdout + stderr);
    });`;
  await writeModule(join(workspace.agentDir, "extensions", "detached.ts"), source);
  const { code, out, err } = await runPacked(workspace, ["-p", "Go"], { input: "" });
  expect({ code, out, err: err.trim() }).toEqual({
    code: 0,
    out: "ok\n",
    err: "from the program,1.5.0,string,function,its own",
  });
});

test("the code of pi's SDK is loaded only for an extension that uses it", async () => {
  const workspace = await createModelWorkspace([textReply("ok"), textReply("ok")]);
  const copy = join(workspace.directory, "program");
  await cp(await installed(), copy, { recursive: true });
  await rm(join(copy, "dist", "pi-sdk.cjs"));
  const runWith = async (source: string) => {
    await writeModule(join(workspace.agentDir, "extensions", "a.ts"), source);
    const env = { PATH: process.env["PATH"] ?? "", HOME: workspace.directory, TAU_DIR: workspace.agentDir };
    const args = [join(copy, "dist", "tau.cjs"), "-p", "Go"];
    const running = promisify(execFile)(process.execPath, args, { cwd: workspace.directory, env });
    running.child.stdin?.end();
    const { stdout, stderr } = await running;
    return { out: stdout, err: stderr };
  };
  const without = `import { type AgentSession, createReadTool, SessionManager } from "@earendil-works/pi-coding-agent";
    console.log(createReadTool("/").name, typeof SessionManager.open);
    export default (_pi: unknown, _session?: AgentSession) => {};`;
  expect(await runWith(without)).toEqual({ out: "ok\n", err: "read function\n" });
  const using = `import { AgentSession } from "@earendil-works/pi-coding-agent";
    console.log(typeof AgentSession);
    export default () => {};`;
  expect((await runWith(using)).err).toContain("pi-sdk.cjs");
});

const createNpmEnv = ({ directory }: Workspace, { url }: Registry) => ({
  npm_config_cache: join(directory, "cache"),
  npm_config_userconfig: join(directory, "npmrc"),
  npm_config_registry: url,
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s during an installation ends npm too, and leaves no file",
  async (signal) => {
    const [workspace, registry] = await Promise.all([createModelWorkspace([]), startRegistry()]);
    registry.publish("pack", "1.0.0", { files: { "prompts/a.md": "" } });
    registry.isSilent = "archives";
    const env = createNpmEnv(workspace, registry);
    const { child, ended } = await start(workspace, ["install", "npm:pack", "--yes"], { env });
    await expect.poll(() => registry.requests).toContain("pack/-/1.0.0.tgz");
    const started = listChildren(child.pid!);
    expect(started).not.toEqual([]);
    child.kill(signal);
    expect((await ended).code).toBe(signal === "SIGINT" ? 130 : 143);
    expect(started.filter(isRunning)).toEqual([]);
    expect(existsSync(join(workspace.agentDir, "npm"))).toBe(false);
  },
);

test("npm ends also when the program is killed", async () => {
  const [workspace, registry] = await Promise.all([createModelWorkspace([]), startRegistry()]);
  registry.publish("pack", "1.0.0", { files: { "prompts/a.md": "" } });
  registry.isSilent = "archives";
  const env = createNpmEnv(workspace, registry);
  const { child, ended } = await start(workspace, ["install", "npm:pack", "--yes"], { env });
  await expect.poll(() => registry.requests).toContain("pack/-/1.0.0.tgz");
  const started = listChildren(child.pid!);
  const all = [...started, ...started.flatMap(listChildren)];
  child.kill("SIGKILL");
  await ended;
  await expect.poll(() => all.filter(isRunning)).toEqual([]);
});

test.runIf(spawnSync("bwrap", ["--dev-bind", "/", "/", "/bin/true"]).status === 0)(
  "an installation on a disk that is read-only says so",
  async () => {
    const workspace = await createModelWorkspace([]);
    const { agentDir } = workspace;
    const through = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", agentDir, agentDir];
    const { code, err } = await (await start(workspace, ["install", "npm:pack", "--yes"], { through })).ended;
    expect({ code, err }).toEqual({
      code: 1,
      err: `tau install: ${join(agentDir, "npm")} could not be written: the disk is read-only (EROFS). It was not changed.\n`,
    });
  },
);

test("-e npm:NAME runs isolated where nobody is asked, and leaves no file behind", async () => {
  const [workspace, registry] = await Promise.all([createModelWorkspace([textReply("ok")]), startRegistry()]);
  registry.publish("pack", "1.0.0", {
    files: {
      // What it asks of tau while it loads is asked before there is a session.
      "extensions/a.ts": `export default async (tau) => {
        tau.registerFlag("loud", { type: "boolean" });
        const early = [tau.getFlag("loud"), await fetch("https://127.0.0.1:1/").catch(() => "no answer")];
        tau.on("input", ({ text }) => ({
          action: "transform",
          text: [text, ...early, require("node:fs").existsSync("${join(workspace.agentDir, "settings.json")}")].join("; "),
        }));
      };`,
    },
  });
  const temporary = join(workspace.directory, "tmp");
  await mkdir(temporary);
  const env = {
    TMPDIR: temporary,
    // From Node 22 on, npm itself would keep one there.
    NODE_DISABLE_COMPILE_CACHE: "1",
    ...createNpmEnv(workspace, registry),
  };
  const { code, out, err } = await runPacked(workspace, ["-e", "npm:pack", "-p", "Go"], { env, input: "" });
  expect({ code, out, err }).toEqual({ code: 0, out: "ok\n", err: "" });
  const { out: log } = await runPacked(workspace, ["sessions", "export", "--format", "jsonl", "--yes"]);
  expect(log).toMatch(/"outcome":"denied".*127\.0\.0\.1/);
  expect(JSON.stringify(workspace.server.requests.at(-1)?.body)).toContain("Go; ; no answer; false");
  expect(await readdir(temporary)).toEqual([]);
});

test("over RPC, the question whether an isolated extension may ask is answered while a new session waits for it", async () => {
  const workspace = await createModelWorkspace([]);
  const { directory, agentDir } = workspace;
  const source = `export default (tau) => tau.on("session_before_switch", async (event, { ui }) =>
    ({ cancel: !(await ui.confirm("Leave?", "")) }));`;
  await writeModule(join(directory, "pack", "extensions", "a.ts"), source);
  expect(await runPacked(workspace, ["install", "./pack", "--yes"])).toMatchObject({ code: 0 });
  const program = join(await installed(), "dist", "tau.cjs");
  const env = { PATH: process.env["PATH"], HOME: directory, TAU_DIR: agentDir };
  const child = spawn(process.execPath, [program, "--mode", "rpc"], { cwd: directory, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const send = (record: object) => child.stdin.write(`${JSON.stringify(record)}\n`);
  send({ type: "new_session", id: "new" });
  const asked: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const { type, id, method, title, data } = JSON.parse(line) as Record<string, unknown>;
    if (method === "confirm") {
      asked.push(title);
      send({ type: "extension_ui_response", id, confirmed: true });
    }
    if (type !== "response") continue;
    expect(data).toMatchObject({ cancelled: false });
    break;
  }
  expect(asked).toEqual([expect.stringContaining("ui.confirm"), "Leave?"]);
});
