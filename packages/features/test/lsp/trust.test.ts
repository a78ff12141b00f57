/** Programs and configuration of a project are used only if it is trusted. */
import { chmod, readFile, rm, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { call } from "@tau/ai/testing";
import { SettingsManager } from "@tau/config/settings";
import { isSandboxMissing } from "@tau/sandbox/internal";
import { createFiles } from "@tau/tools";
import { expect, onTestFinished, test, vi } from "vitest";
import { findProgram } from "../../src/lsp/find-server.ts";
import { SourceFiles } from "../../src/lsp/source-files.ts";
import { discovery, lsp } from "../../src/index.ts";
import { lspCall, makeDirectory, readLines, runCalls, toyServer, writeFiles } from "./kit.ts";

async function writeProgram(directory: string, name: string, text = "exit 0"): Promise<string> {
  await writeFiles(directory, { [name]: `#!/bin/sh\n${text}\n` });
  await chmod(join(directory, name), 0o755);
  return join(directory, name);
}

test.each([false, true])("a session whose project is trusted: %s", async (projectTrusted) => {
  const [agentDir, cwd] = [await makeDirectory(), await makeDirectory()];
  const { command, args } = toyServer("good", join(cwd, "toy-starts"));
  await writeFiles(cwd, {
    "a.theirs": "one",
    "a.toml": "one = 1",
    ".tau/lsp.json": JSON.stringify({ servers: { theirs: { command, args, fileTypes: [".theirs"] } } }),
  });
  await writeProgram(cwd, "node_modules/.bin/taplo", `echo taplo >> ${join(cwd, "starts")}`);
  const features = [discovery(), lsp()];
  const settingsManager = await SettingsManager.create(cwd, agentDir, { projectTrusted, features, watch: false });
  const { results } = await runCalls(
    [
      lspCall({ action: "hover", file: "a.theirs", line: 1 }, "1"),
      lspCall({ action: "hover", file: "a.toml", line: 1 }, "2"),
    ],
    { agentDir, cwd, settingsManager, features, sandbox: { mode: "off" } },
  );
  const texts = results.map(({ text }) => text);
  expect(await readLines(join(cwd, "starts"))).toEqual(projectTrusted ? ["taplo"] : []);
  expect(await readLines(join(cwd, "toy-starts"))).toHaveLength(projectTrusted ? 1 : 0);
  if (projectTrusted) expect(texts[0]).toBe("word one");
  else expect(texts[1]).toContain("Programs of this project are used only after the user trusts it.");
});

test("the trust of a project is not that of another one, in which a file is", async () => {
  const [cwd, other, user] = [await makeDirectory(), await makeDirectory(), await makeDirectory()];
  const own = await writeProgram(cwd, "node_modules/.bin/server");
  await writeProgram(other, "node_modules/.bin/server");
  const ofUser = await writeProgram(user, "server");
  const options = { cwd, isProjectTrusted: true, env: { PATH: user } };
  expect(findProgram("server", cwd, options)).toBe(own);
  expect(findProgram("server", other, options)).toBe(ofUser);
  expect(findProgram("./node_modules/.bin/server", cwd, options)).toBe(own);
  expect(findProgram("./node_modules/.bin/server", other, options)).toBeUndefined();
  expect(findProgram("server", cwd, { ...options, isProjectTrusted: false })).toBe(ofUser);
  expect(findProgram(own, cwd, { ...options, isProjectTrusted: false })).toBeUndefined();
});

test("a server in the sandbox has the workspace and a cache of its own, and no network", async (context) => {
  const [cwd, agentDir, home] = [await makeDirectory(), await makeDirectory(), await makeDirectory()];
  if (isSandboxMissing(cwd)) return context.skip("bwrap is not installed");
  await writeFiles(home, { ".cargo/registry/index": "", ".cache/clangd/index": "" });
  vi.stubEnv("HOME", home);
  let connections = 0;
  const listener = createServer(() => void connections++);
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void listener.close());
  const { port } = listener.address() as { port: number };
  const written = [".cargo/registry/index", ".cache/clangd/index", "file"].map((name) => join(home, name));
  const options = { initOptions: { port, paths: [...written, join(cwd, "own")] } };
  // The name of a known server, with its place in the table.
  const servers = { "rust-analyzer": { ...toyServer("reaches-out"), ...options } };
  const { results } = await runCalls([lspCall({ action: "hover", file: "a.toy", line: 1 }, "1")], {
    cwd,
    agentDir,
    files: { "a.toy": "one" },
    settings: { lsp: { servers } } as object,
  });
  const [, cache] = /^alone (.+)$/.exec(results[0]!.text) ?? [];
  const read = (path: string) => readFile(path, "utf8").catch(() => undefined);
  expect(cache?.startsWith(agentDir)).toBe(true);
  expect(await read(join(cache!, "toy/index"))).toBe("here");
  expect(await read(join(cwd, "own"))).toBe("here");
  expect(await Promise.all(written.map(read))).toEqual(["", "", undefined]);
  expect(connections).toBe(0);
});

test("a server that no sandbox holds is started like a command, after the same question", async () => {
  const cwd = await makeDirectory();
  const asked: string[] = [];
  const calls = [lspCall({ action: "hover", file: "a.toy", line: 1 }, "1")];
  const params = {
    cwd,
    files: { "a.toy": "one" },
    settings: { lsp: { servers: { toy: { ...toyServer("good", join(cwd, "starts")) } } } } as object,
    sandbox: { mode: "off" },
    permissionMode: "ask",
  } as const;
  const denied = await runCalls(calls, {
    ...params,
    ask: async ({ toolName, summary }) => {
      asked.push(`${toolName}: ${summary}`);
      return { decision: "deny" };
    },
  });
  expect(denied.results[0]).toMatchObject({ isError: true, text: expect.stringContaining("toy was not started") });
  expect(asked).toEqual([expect.stringMatching(/^lsp: Start the language server toy: .*scripted-server\.mjs good/)]);
  expect(await readLines(join(cwd, "starts"))).toEqual([]);
  const allowed = await runCalls(calls, params);
  expect(allowed.results[0]!.text).toBe("word one");
  await allowed.opened.session.dispose();
  const planning = await runCalls(calls, { ...params, permissionMode: "plan" });
  expect(planning.results[0]).toMatchObject({
    isError: true,
    text: expect.stringContaining("Commands cannot be run in plan mode without a sandbox"),
  });
});

test("a place in a file that the policy keeps from the model is shown without its lines", async () => {
  const cwd = await makeDirectory();
  const { results } = await runCalls([lspCall({ action: "definition", file: "a.toy", line: 1 }, "1")], {
    cwd,
    agentDir: join(cwd, "agent"),
    files: { "a.toy": "one", "agent/auth.json": "a key of the user" },
    settings: { lsp: { servers: { toy: { ...toyServer("key-file") } } } } as object,
  });
  expect(results[0]!.text).toMatch(/^agent\/auth\.json:1:\d+$/);
  expect(JSON.stringify(results[0]!.details)).not.toContain("a key of the user");
});

const withToy = { settings: { lsp: { servers: { toy: { ...toyServer("good") } } } } as object };

test("a file that became a link after the call was judged is not read for a server", async () => {
  const [cwd, agentDir] = [await makeDirectory(), await makeDirectory()];
  await writeFiles(agentDir, { "auth.json": "secret" });
  const { results } = await runCalls([lspCall({ action: "hover", file: "a.toy", line: 1 }, "1")], {
    ...withToy,
    cwd,
    agentDir,
    files: { "a.toy": "public" },
    sandbox: { mode: "off" },
    permissionMode: "ask",
    // Asked whether the server may be started: the call itself was judged before.
    async ask() {
      await rm(join(cwd, "a.toy"));
      await symlink(join(agentDir, "auth.json"), join(cwd, "a.toy"));
      return { decision: "allow" };
    },
  });
  expect(results[0]).toMatchObject({ isError: true, text: expect.stringContaining("auth.json") });
  expect(results[0]!.text).not.toContain("word secret");
});

test("the file of a change that is denied is not read for a server", async () => {
  const [cwd, agentDir] = [await makeDirectory(), await makeDirectory()];
  await writeFiles(agentDir, { "auth.json": "secret" });
  await symlink(join(agentDir, "auth.json"), join(cwd, "link.toy"));
  const { results } = await runCalls(
    [
      lspCall({ action: "hover", file: "a.toy", line: 1 }, "1"),
      call("write", { path: "link.toy", content: "public" }, "2"),
      lspCall({ action: "status" }, "3"),
    ],
    {
      ...withToy,
      cwd,
      agentDir,
      files: { "a.toy": "public" },
      ask: async ({ toolName }) => ({ decision: toolName === "write" ? "deny" : "allow" }),
    },
  );
  expect(results.map(({ isError }) => isError)).toEqual([false, true, false]);
  expect(results[2]!.text).toMatch(/1 file open/);
});

test("a place that a server names has the lines of the file that was opened, not of the one that was looked at", async () => {
  const [cwd, outside] = [await makeDirectory(), await makeDirectory()];
  await writeFiles(outside, { "secret.toy": "secret" });
  await writeFiles(cwd, { "a.toy": "public" });
  const files = createFiles();
  const port = {
    ...files,
    async openRead(path: string) {
      await rm(join(cwd, "a.toy"));
      await symlink(join(outside, "secret.toy"), join(cwd, "a.toy"));
      return await files.openRead(path);
    },
  };
  const sources = new SourceFiles({ cwd, clock: systemClock, port: files });
  expect((await sources.readNamed(join(cwd, "a.toy")))?.lines.text).toBe("public");
  expect(await sources.through(port).readNamed(join(cwd, "a.toy"))).toBeUndefined();
});
