/** The archives that would be published, and the example in the README of each. They are made from the build in `dist`. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startWireServer } from "@tau/ai/testing";
import { transform } from "esbuild";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { textReply } from "../kit.ts";
import { installed, installLibraries, libraries, published } from "./kit.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..", "..");

let directory = "";

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tau-packages-"));
  await installLibraries(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));

const listFiles = (directory: string): string[] => readdirSync(directory, { recursive: true }).map(String);

test("each archive has a licence and a README, and nothing of the build", async () => {
  const places = [...published.map((name) => join(directory, "node_modules", "@tau", name)), await installed()];
  for (const place of places) {
    const files = listFiles(place);
    expect(files, place).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    expect(files.filter((file) => /tsbuildinfo|npmignore|\.test\./.test(file))).toEqual([]);
    if (place.endsWith("cli")) continue;
    // Maps are beside the build, and no file refers to one that is not there.
    expect(files.filter((file) => file.endsWith(".map"))).toEqual([]);
    for (const file of files.filter((name) => name.endsWith(".js"))) {
      expect(readFileSync(join(place, file), "utf8"), file).not.toContain("//# sourceMappingURL=");
    }
  }
});

test("the example in the README of each library compiles and runs", async () => {
  const server = await startWireServer("openai-completions", ["ai", "agent", "tools"].map(textReply));
  onTestFinished(() => server.close());
  const home = join(directory, "home");
  await mkdir(home);
  for (const name of libraries) {
    const text = readFileSync(join(directory, "node_modules", "@tau", name, "README.md"), "utf8");
    expect(text).toMatch(new RegExp(`^npm install @tau/${name}\\b`, "m"));
    const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(text) ?? [];
    await writeFile(join(directory, `${name}.ts`), code);
    await writeFile(join(directory, `${name}.js`), (await transform(code, { loader: "ts" })).code);
  }
  const options = ["--noEmit", "--strict", "--target", "es2023", "--types", "node"];
  // As docs/install.md says.
  const resolutions = [
    ["--module", "nodenext"],
    ["--module", "esnext", "--moduleResolution", "bundler"],
  ];
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const typeRoots = ["--typeRoots", join(root, "node_modules", "@types")];
  const sources = libraries.map((name) => `${name}.ts`);
  for (const resolution of resolutions) {
    const args = [tsc, ...options, ...resolution, ...typeRoots, "--skipLibCheck", ...sources];
    await execute(process.execPath, args, { cwd: directory });
  }
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, OLLAMA_HOST: server.url };
  const printed = async (name: string) =>
    (await execute(process.execPath, [join(directory, `${name}.js`)], { cwd: home, env })).stdout;
  expect(await printed("ai")).toBe("ai");
  expect(await printed("agent")).toContain("agent_end\n");
  await printed("tools");
  expect(server.requests).toHaveLength(3);
  expect(await printed("protocol")).toContain("The session is open.");
  expect(await printed("tui")).toContain("| Hello from a       | 20");
  expect(await printed("pi")).toBe("function\n");
  expect(await printed("pi-sdk")).toBe("read bash edit write\n");
  expect(await printed("sandbox")).toMatch(/^(?:works|unavailable)\n$/);
  expect(await printed("policy")).toMatch(/^critical /);
  expect(await printed("config")).toBe("5\n");
  await printed("features");
  await printed("harness");
  expect(listFiles(home).some((file) => file.endsWith(".jsonl"))).toBe(true);
});

test("a program that imports pi's modules gets tau's", async () => {
  const server = await startWireServer("openai-completions", [textReply("from pi's SDK")]);
  onTestFinished(() => server.close());
  const agentDir = join(directory, "agent");
  await mkdir(agentDir);
  const provider = { baseUrl: `${server.url}/v1`, api: "openai-completions", apiKey: "key", models: [{ id: "small" }] };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme: provider } }));
  const program = `
    import { getProviders } from "@earendil-works/pi-ai/compat";
    import { visibleWidth } from "@mariozechner/pi-tui";
    import {
      createAgentSessionFromServices, createAgentSessionRuntime, createAgentSessionServices, getAgentDir,
      resolveCliModel, runPrintMode, SessionManager,
    } from "@earendil-works/pi-coding-agent";
    if (getProviders().length < 5 || visibleWidth("abc") !== 3) throw new Error("These are not pi's modules.");
    const create = async ({ cwd, sessionManager, sessionStartEvent }) => {
      const services = await createAgentSessionServices({ cwd });
      const { model } = resolveCliModel({ cliModel: "acme/small", modelRuntime: services.modelRuntime });
      const result = await createAgentSessionFromServices({ services, sessionManager, sessionStartEvent, model });
      return { ...result, services, diagnostics: services.diagnostics };
    };
    const options = { cwd: process.cwd(), agentDir: getAgentDir(), sessionManager: SessionManager.inMemory() };
    process.exitCode = await runPrintMode(await createAgentSessionRuntime(create, options), {
      mode: "text", initialMessage: "hello",
    });
  `;
  await writeFile(join(directory, "for-pi.mjs"), program);
  const env = { PATH: process.env["PATH"] ?? "", HOME: agentDir, TAU_DIR: agentDir };
  const args = ["--import", "@tau/pi-sdk/register", join(directory, "for-pi.mjs")];
  expect((await execute(process.execPath, args, { cwd: directory, env })).stdout).toBe("from pi's SDK\n");
});
