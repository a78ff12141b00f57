/** Programs that extensions start and talk to: where they run, what they see, and that none is left. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { systemClock } from "@tau/ai";
import { build } from "esbuild";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ExtensionAPI, SpawnOptions } from "@tau/extensions";
import type { Program } from "@tau/tools";
import { openDesk, temporaryDirectory } from "../agent-session/desk.ts";

const works = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;
if (!works) console.warn("SKIPPED: bubblewrap does not work here, so no program is started inside of the sandbox.");
const modes = works ? (["off", "required"] as const) : (["off"] as const);

async function openApi(mode: "off" | "required", root?: string) {
  const directory = root ?? (await temporaryDirectory());
  const cwd = join(directory, "work");
  await mkdir(cwd, { recursive: true });
  let api!: ExtensionAPI;
  const { session } = await openDesk([], {
    cwd,
    agentDir: join(directory, "agent"),
    // Programs are real, and so is the time that they need.
    clock: systemClock,
    sandbox: { mode },
    extensions: { factories: [(tau) => void (api = tau)] },
  });
  onTestFinished(() => session.dispose());
  const sh = (script: string, options?: SpawnOptions) => api.spawn("sh", ["-c", script], options);
  return { session, api, sh, cwd, directory };
}

const readOutput = async (program: Program): Promise<string> => {
  program.stdin.end();
  const [output, , status] = await Promise.all([readText(program.stdout), readText(program.stderr), program.exit]);
  expect(status).toEqual({ kind: "exited", code: 0 });
  return output.trim();
};

/** The processes of this machine whose arguments contain a text. */
const findProcesses = (text: string): string[] =>
  spawnSync("ps", ["-eo", "pid=,stat=,args="], { encoding: "utf8" })
    .stdout.split("\n")
    .filter((line) => line.includes(text) && !/^\s*\d+ Z/.test(line));

let count = 0;
/** Seconds that no other process sleeps. */
const uniqueSleep = (): string => `86${process.pid}.${++count}`;

describe.each(modes)("with the sandbox %s", (mode) => {
  test("a program keeps its caches where it was told to", async () => {
    const { sh, directory } = await openApi(mode);
    const cache = join(directory, "cache");
    await mkdir(cache);
    const env = { XDG_CACHE_HOME: cache, npm_config_cache: join(cache, "npm") };
    const script = 'mkdir "$npm_config_cache" && echo "$XDG_CACHE_HOME" >"$XDG_CACHE_HOME/npm/file"';
    expect(await readOutput(await sh(script, { env, sandbox: { allowedPaths: [cache] } }))).toBe("");
    expect(await readFile(join(cache, "npm", "file"), "utf8")).toBe(`${cache}\n`);
  });

  test("a program is talked to over its pipes", async () => {
    const { api } = await openApi(mode);
    const program = await api.spawn("cat", []);
    program.stdin.write("one ");
    const [first] = (await once(program.stdout, "data")) as [Buffer];
    expect(first.toString()).toBe("one ");
    program.stdin.end("two");
    expect(await readText(program.stdout)).toBe("two");
    expect(await program.exit).toEqual({ kind: "exited", code: 0 });
  });

  test("it runs in the directory that it was given, and gets the variables that were asked for", async () => {
    const { sh, cwd } = await openApi(mode);
    await mkdir(join(cwd, "sub"));
    expect(await readOutput(await sh("pwd", { cwd: "sub" }))).toBe(join(cwd, "sub"));
    const some = await sh("env", { inherits: ["PATH"], env: { OWN: "1" } });
    const names = (await readOutput(some)).split("\n").map((line) => line.split("=")[0]);
    expect(names).toContain("OWN");
    expect(names).toContain("PATH");
    expect(names).not.toContain("TAU_SESSION_ID");
    expect(await readOutput(await sh("echo $TAU_SESSION_ID"))).not.toBe("");
  });

  test("what does not exist is a failure, not an exception", async () => {
    const { api } = await openApi(mode);
    const { exit, stderr } = await api.spawn("/does/not/exist", []);
    const [status, complaint] = await Promise.all([exit, readText(stderr)]);
    expect(status.kind === "exited" ? status.code : status.kind).not.toBe(0);
    expect(`${complaint}${JSON.stringify(status)}`).toMatch(/not found|No such file|ENOENT/);
  });

  test("it ends with its session, together with everything that it started", async () => {
    const { session, sh } = await openApi(mode);
    const seconds = uniqueSleep();
    const program = await sh(`sleep ${seconds} & setsid sleep ${seconds} & echo ready; wait`);
    await once(program.stdout, "data");
    expect(findProcesses(`sleep ${seconds}`)).not.toEqual([]);
    await session.dispose();
    await program.exit;
    await expect.poll(() => findProcesses(`sleep ${seconds}`)).toEqual([]);
  });

  test("one that takes more memory than it was given is ended, and says why", async () => {
    const { api } = await openApi(mode);
    const grow = "const all = []; setInterval(() => all.push(Buffer.alloc(16 << 20, 1)), 50)";
    const program = await api.spawn(process.execPath, ["-e", grow], { maxMemoryMb: 200 });
    await Promise.all([readText(program.stdout), readText(program.stderr), program.exit]);
    expect(program.getExcess()).toBe("[The command was ended: it used more than 200.0 MB of memory.]");
  });

  test("one that ignores the request to end is killed", async () => {
    const { sh } = await openApi(mode);
    const program = await sh("trap '' TERM; echo ready; while :; do sleep 0.05; done");
    await once(program.stdout, "data");
    await program.end(50);
    expect((await program.exit).kind).not.toBe("failed");
  });

  test("a shared one outlives the session that opened it, and ends with the last", async () => {
    const first = await openApi(mode);
    const second = await openApi(mode, first.directory);
    const share = ({ api }: { api: ExtensionAPI }) =>
      api.shared("cat", async ({ spawn: start }) => {
        const program = await start("cat", []);
        return { program, close: () => program.end() };
      });
    const [{ program }, other] = [await share(first), await share(second)];
    expect(other.program).toBe(program);
    await first.session.dispose();
    program.stdin.write("still here");
    const [answer] = (await once(program.stdout, "data")) as [Buffer];
    expect(answer.toString()).toBe("still here");
    await second.session.dispose();
    expect((await program.exit).kind).not.toBe("failed");
  });

  test("nothing is left when tau is killed", async () => {
    const directory = await temporaryDirectory();
    await symlink(join(import.meta.dirname, "../../../../node_modules"), join(directory, "node_modules"));
    const outfile = join(directory, "program.mjs");
    const seconds = uniqueSleep();
    await build({
      stdin: {
        resolveDir: import.meta.dirname,
        loader: "ts",
        contents: `
          import { createAgentSession } from "../../src/index.ts";
          let api;
          await createAgentSession({
            cwd: ${JSON.stringify(directory)},
            agentDir: ${JSON.stringify(join(directory, "agent"))},
            sandbox: { mode: ${JSON.stringify(mode)} },
            extensions: { factories: [(tau) => void (api = tau)] },
          });
          const program = await api.spawn("sh", ["-c", "sleep ${seconds} & setsid sleep ${seconds} & echo ready; wait"]);
          program.stdout.once("data", () => console.log("ready"));
          setInterval(() => {}, 1_000);
        `,
      },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      // With the models inside: the program is not where the files of the catalogue are.
      conditions: ["@tau/source", "module"],
      external: ["google-auth-library", "@silvia-odwyer/photon-node", "@vscode/ripgrep", "@napi-rs/keyring"],
      logLevel: "error",
    });
    const child = spawn(process.execPath, [outfile], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
    expect(findProcesses(`sleep ${seconds}`)).not.toEqual([]);
    child.kill("SIGKILL");
    await expect.poll(() => findProcesses(`sleep ${seconds}`), { timeout: 20_000 }).toEqual([]);
  });
});

test.skipIf(!works)("inside, it sees and changes what commands of the model do, unless it was given more", async () => {
  const { sh, cwd, directory } = await openApi("required");
  const outside = await temporaryDirectory();
  await mkdir(join(directory, "agent"), { recursive: true });
  await writeFile(join(directory, "agent", "auth.json"), "secret");
  const tryAll = `echo inside > own; cat ${directory}/agent/auth.json; echo more > ${outside}/file; true`;
  expect(await readOutput(await sh(tryAll))).not.toContain("secret");
  expect(await readFile(join(cwd, "own"), "utf8")).toBe("inside\n");
  await expect(readFile(join(outside, "file"))).rejects.toThrow(/ENOENT/);
  await readOutput(await sh(tryAll, { sandbox: { allowedPaths: [outside] } }));
  expect(await readFile(join(outside, "file"), "utf8")).toBe("more\n");
});

test.skipIf(!works)(
  "inside, it reads the hidden and temporary paths that it was given, and changes none of them",
  async () => {
    const { sh, directory } = await openApi("required");
    const agentDir = join(directory, "agent");
    const temporary = await temporaryDirectory();
    await mkdir(join(agentDir, "git", "plugin"), { recursive: true });
    await writeFile(join(agentDir, "auth.json"), "secret");
    for (const [path, text] of [
      [join(agentDir, "git", "plugin"), "installed"],
      [temporary, "local"],
    ] as const) {
      await writeFile(join(path, "file"), text);
      const tryAll = `cat ${path}/file ${agentDir}/auth.json; echo changed > ${path}/file; true`;
      expect(await readOutput(await sh(tryAll))).toBe("");
      expect(await readOutput(await sh(tryAll, { sandbox: { readablePaths: [path] } }))).toBe(text);
      expect(await readFile(join(path, "file"), "utf8")).toBe(text);
    }
    // One that contains our own directory would show all of it.
    const above = await sh(`cat ${agentDir}/auth.json; true`, { sandbox: { readablePaths: [directory, agentDir] } });
    expect(await readOutput(above)).toBe("");
  },
);

test.skipIf(!works)("without a sandbox, it has the rights of the user", async () => {
  const { sh, directory } = await openApi("required");
  await mkdir(join(directory, "agent"), { recursive: true });
  await writeFile(join(directory, "agent", "file"), "mine");
  expect(await readOutput(await sh(`cat ${directory}/agent/file`, { sandbox: false }))).toBe("mine");
});
