/**
 * The lines of the READMEs, bundled from the packages as they are published, for each place where bundles run. Bundles for
 * browsers and workers run in a context that has what all of them have, and nothing of Node.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { startWireServer } from "@tau/ai/testing";
import { build as buildWithEsbuild } from "esbuild";
import { build as buildWithVite } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findRuntime, installLibraries } from "./kit.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..", "..");

let cwd = "";
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "tau-bundles-"));
  await installLibraries(cwd);
  await Promise.all(
    Object.entries(await readPrograms()).map(([name, text]) => writeFile(join(cwd, `${name}.js`), text)),
  );
});
afterAll(() => rm(cwd, { recursive: true, force: true, maxRetries: 10 }));

type Dialect = "openai-completions" | "anthropic-messages";
const dialects: Record<string, Dialect> = {
  catalogue: "anthropic-messages",
  entry: "anthropic-messages",
  agent: "anthropic-messages",
};

/** The programs of the READMEs, as functions of the server's address and of what takes their output. */
async function readPrograms(): Promise<Record<keyof typeof dialects, string>> {
  const [models, agents] = await Promise.all(
    [join(root, "packages", "ai", "README.md"), join(root, "README.md")].map(async (path) =>
      [...(await readFile(path, "utf8")).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!),
    ),
  );
  const key = 'apiKey: "key", baseUrl: tauUrl';
  const toProgram = (code: string | undefined) => {
    const imports = code!.match(/^import .*$/gm)!.join("\n");
    const body = code!
      .replace(/^import .*$/gm, "")
      .replace('provider: "ollama", model: "qwen3:8b"', 'provider: "anthropic", model: "claude-opus-4-5"')
      .replace('model: "claude-opus-4-5" }', `model: "claude-opus-4-5", ${key} }`)
      .replace('anthropic("claude-opus-4-5")', `anthropic("claude-opus-4-5", { ${key} })`)
      .replace("process.stdout.write", "tauPrint")
      .replace("console.log(", "tauPrint(");
    const [first, ...rest] = body.split(";\n");
    // An id that no catalogue has is used as well, and says so.
    const unlisted = code!.includes("anthropic(") ? 'createAI(anthropic("claude-opus-99"))' : undefined;
    const notice = unlisted ?? 'createAI({ provider: "anthropic", model: "claude-opus-99" })';
    return `${imports}
globalThis.tauRun = async (tauUrl, tauPrint) => {
${first};
${rest.join(";\n")}
tauPrint(" " + (${notice}.notice ?? "no notice"));
};
const url = globalThis.process?.argv?.[2];
let text = "";
const stop = (print, code) => (value) => { print(value ?? text); process.exit(code); };
if (url) globalThis.tauRun(url, (part) => (text += part)).then(stop(console.log, 0), stop(console.error, 1));
`;
  };
  return {
    catalogue: toProgram(models!.find((code) => code.includes('from "@tau/ai"'))),
    entry: toProgram(models!.find((code) => code.includes('from "@tau/ai/anthropic"'))),
    agent: toProgram(agents!.find((code) => code.includes("createAgent("))),
  };
}

const answer = { content: [{ type: "text" as const, text: "It scatters." }] };
const expected = /^It scatters\. The catalogue has no model "anthropic\/claude-opus-99"; .* are assumed\./;

async function ask(run: (url: string) => Promise<string>, program: string): Promise<string> {
  const server = await startWireServer(dialects[program]!, [{ kind: "answer", answer }]);
  try {
    return await run(server.url);
  } finally {
    await server.close();
  }
}

/** The globals that browsers and workers have in common. */
const webNames =
  "fetch URL TextEncoder TextDecoder AbortController AbortSignal ReadableStream crypto performance setTimeout clearTimeout setInterval clearInterval structuredClone queueMicrotask console Headers Request Response Blob DOMException atob btoa".split(
    " ",
  );

async function runOnTheWeb(code: string, url: string): Promise<string> {
  const context = createContext(
    Object.fromEntries(webNames.map((name) => [name, (globalThis as Record<string, unknown>)[name]])),
    // Workers allow neither.
    { codeGeneration: { strings: false, wasm: false } },
  );
  runInContext(code, context);
  let text = "";
  await context["tauRun"](url, (part: string) => (text += part));
  return text;
}

const web = {
  browser: ["browser", "module"],
  workerd: ["workerd", "worker", "browser"],
  "workerd alone": ["workerd"],
  "edge-light": ["edge-light"],
};

const isolatedEnv = () => ({ PATH: process.env["PATH"], HOME: cwd, TAU_DIR: join(cwd, "tau") });

async function runProgram(command: string, args: readonly string[], url: string): Promise<string> {
  const { stdout } = await execute(command, [...args, url], { cwd, env: isolatedEnv() });
  return stdout;
}

/** Packages of CommonJS ask for Node's modules with require, which modules do not have. */
const banner = {
  js: 'import { createRequire as tauRequire } from "node:module"; const require = tauRequire(import.meta.url);',
};

describe("bundled by esbuild", () => {
  for (const program of ["catalogue", "entry"]) {
    for (const [name, conditions] of Object.entries(web)) {
      test(`${program}: runs under the conditions of ${name}`, async () => {
        const { outputFiles } = await buildWithEsbuild({
          entryPoints: [join(cwd, `${program}.js`)],
          bundle: true,
          write: false,
          format: "iife",
          platform: "browser",
          ...(name !== "browser" && { conditions }),
          logLevel: "error",
        });
        expect(await ask((url) => runOnTheWeb(outputFiles[0]!.text, url), program)).toMatch(expected);
      });
    }
  }
  for (const program of ["catalogue", "entry", "agent"]) {
    test.each(["esm", "cjs"] as const)(`${program}: runs on Node as %s`, async (format) => {
      // Away from the packages, so that nothing can be found beside the bundle.
      const outfile = join(
        await mkdtemp(join(cwd, "..", "tau-bundle-")),
        format === "esm" ? "bundle.mjs" : "bundle.cjs",
      );
      await buildWithEsbuild({
        entryPoints: [join(cwd, `${program}.js`)],
        bundle: true,
        format,
        platform: "node",
        outfile,
        logLevel: "error",
        ...(format === "esm" && { banner }),
      });
      try {
        expect(await ask((url) => runProgram(process.execPath, [outfile], url), program)).toMatch(expected);
      } finally {
        await rm(join(outfile, ".."), { recursive: true });
      }
    });
  }
});

describe("bundled by Vite", () => {
  const shared = { configFile: false, logLevel: "error" } as const;
  test.each(["catalogue", "entry"])("%s: runs in a browser", async (program) => {
    const outDir = join(cwd, `vite-${program}`);
    const input = join(cwd, `${program}.js`);
    await buildWithVite({
      ...shared,
      root: cwd,
      // Preloading asks for a document, which the context has not.
      build: { outDir, modulePreload: false, rolldownOptions: { input, output: { entryFileNames: "bundle.js" } } },
    });
    // Joins the modules that Vite has split it into: a context of `vm` runs scripts only.
    const { outputFiles } = await buildWithEsbuild({
      entryPoints: [join(outDir, "bundle.js")],
      bundle: true,
      write: false,
      format: "iife",
      // Vite names the modules of what it has split off.
      logOverride: { "empty-import-meta": "silent" },
    });
    expect(await ask((url) => runOnTheWeb(outputFiles[0]!.text, url), program)).toMatch(expected);
  });
  test.each(["es", "cjs"] as const)("runs on Node as %s", async (format) => {
    const outDir = await mkdtemp(join(tmpdir(), "tau-vite-"));
    try {
      await buildWithVite({
        ...shared,
        root: cwd,
        ssr: { noExternal: true },
        build: {
          ssr: join(cwd, "catalogue.js"),
          outDir,
          rolldownOptions: { output: { format, entryFileNames: format === "es" ? "bundle.mjs" : "bundle.cjs" } },
        },
      });
      const bundle = join(outDir, format === "es" ? "bundle.mjs" : "bundle.cjs");
      expect(await ask((url) => runProgram(process.execPath, [bundle], url), "catalogue")).toMatch(expected);
    } finally {
      await rm(outDir, { recursive: true });
    }
  });
});

describe("not bundled", () => {
  for (const [name, args] of [
    ["bun", ["run"]],
    ["deno", ["run", "--allow-all", "--node-modules-dir=manual"]],
  ] as const) {
    test.for(["catalogue", "entry"])(`%s: runs on ${name}`, async (program, { skip }) => {
      const runtime = await findRuntime(name);
      if ("missing" in runtime) {
        const reason = `npm could not reach its registry (${runtime.missing}): ${name} was not tested.`;
        console.log(reason);
        skip(reason);
        return;
      }
      expect(await ask((url) => runProgram(runtime.path, [...args, `${program}.js`], url), program)).toMatch(expected);
    });
  }
});

/** In KB, minified, for a browser. The limits are those that docs/decisions/performance.md explains. */
test.each([
  [
    "one provider, with its 8 KB of models",
    'import { anthropic, createAI } from "@tau/ai/anthropic"; createAI(anthropic("x"));',
    84,
  ],
  [
    "one with the API of OpenAI, with 21 KB of models",
    'import { openai, createAI } from "@tau/ai/openai"; createAI(openai("x"));',
    107,
  ],
  ["the reducer", 'export { reduce } from "@tau/protocol";', 6],
])("%s is small", async (_name, contents, maxKb) => {
  const { outputFiles } = await buildWithEsbuild({
    stdin: { contents, resolveDir: cwd },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    logLevel: "error",
  });
  expect(outputFiles[0]!.contents.length).toBeLessThanOrEqual(maxKb * 1_000);
});

test("says what is missing where a bundler has left out the condition", async () => {
  const outfile = join(await mkdtemp(join(cwd, "..", "tau-bundle-")), "bundle.mjs");
  await buildWithEsbuild({
    entryPoints: [join(cwd, "catalogue.js")],
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["production"],
    outfile,
    logLevel: "error",
    banner,
  });
  await expect(runProgram(process.execPath, [outfile], "http://127.0.0.1:1")).rejects.toThrow(/condition "module"/);
  await rm(join(outfile, ".."), { recursive: true });
});
