/** Tests that tracing costs nothing where it is off: nothing is loaded. Seen from outside, in a process of its own. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";

const source = join(import.meta.dirname, "../../src/observe/opentelemetry.ts");

/** Notes every module that is asked for, found or not. */
const spy = `
import { appendFileSync } from "node:fs";
export async function resolve(name, context, next) {
  appendFileSync(process.env.SEEN, name + "\\n");
  return next(name, context);
}`;

/** A directory with the module as it is shipped, and with what is installed beside it. */
async function install({ api }: { api: boolean }): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "tau-trace-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  await build({
    entryPoints: [source],
    outfile: join(directory, "opentelemetry.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["@opentelemetry/api"],
    logLevel: "error",
  });
  writeFileSync(join(directory, "spy.mjs"), spy);
  if (api) {
    const [packages = ""] = createRequire(import.meta.url)
      .resolve("@opentelemetry/api")
      .split(`${sep}api${sep}`);
    mkdirSync(join(directory, "node_modules"));
    symlinkSync(packages, join(directory, "node_modules", "@opentelemetry"));
  }
  return directory;
}

/** Runs a program that ends by printing JSON; gives that, and the modules that were asked for. */
function run(directory: string, program: string): { said: unknown; seen: string[] } {
  const seen = join(directory, "seen");
  writeFileSync(seen, "");
  writeFileSync(join(directory, "program.mjs"), `import { findTracer } from "./opentelemetry.mjs";\n${program}`);
  const hooks = `import { register } from "node:module"; register(${JSON.stringify(pathToFileURL(join(directory, "spy.mjs")).href)});`;
  const child = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(hooks)}`, join(directory, "program.mjs")],
    { env: { PATH: process.env["PATH"], SEEN: seen }, encoding: "utf8", timeout: 100_000 },
  );
  expect(child.stderr).toBe("");
  const modules = readFileSync(seen, "utf8").split("\n");
  return { said: JSON.parse(child.stdout), seen: modules.filter((name) => name.includes("@opentelemetry")) };
}

const look = `
import { createRequire } from "node:module";
const tracer = await findTracer({ enabled: true });
console.log(JSON.stringify({
  tracer: tracer !== undefined,
  global: Symbol.for("opentelemetry.js.api.1") in globalThis,
  loaded: Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes("@opentelemetry")),
}));`;

test("nothing of OpenTelemetry is loaded without an SDK, although the API is installed", async () => {
  const directory = await install({ api: true });
  expect(run(directory, look)).toEqual({ said: { tracer: false, global: false, loaded: false }, seen: [] });
});

test("with an SDK the API is loaded, and this test would see it", async () => {
  const directory = await install({ api: true });
  const { said, seen } = run(
    directory,
    `globalThis[Symbol.for("opentelemetry.js.api.1")] = { version: "1.9.0", trace: { getTracer: () => ({}) } };\n${look}`,
  );
  expect(said).toEqual({ tracer: true, global: true, loaded: true });
  expect(seen).toContain("@opentelemetry/api");
});

test("an SDK whose API cannot be imported leaves a run without spans, and is no error", async () => {
  const directory = await install({ api: false });
  const { said, seen } = run(
    directory,
    `globalThis[Symbol.for("opentelemetry.js.api.1")] = { version: "1.9.0", trace: {} };\n${look}`,
  );
  expect(said).toMatchObject({ tracer: false, loaded: false });
  expect(seen).toEqual(["@opentelemetry/api"]);
});

test("the registered value may be anything", async () => {
  const directory = await install({ api: true });
  const { said, seen } = run(
    directory,
    `const strange = [
      42, null, {}, { trace: null },
      { get trace() { throw new Error(); } },
      new Proxy({}, { has() { throw new Error(); } }),
    ];
    const found = [];
    for (const registered of strange) {
      globalThis[Symbol.for("opentelemetry.js.api.1")] = registered;
      found.push(await findTracer({ enabled: true }) ?? "none");
    }
    console.log(JSON.stringify(found));`,
  );
  expect(said).toEqual(["none", "none", "none", "none", "none", "none"]);
  expect(seen).toEqual([]);
});
