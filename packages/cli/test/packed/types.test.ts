/**
 * A program that uses the libraries as they are published, checked by the versions of TypeScript that people have: the oldest
 * and the newest. `TAU_LONG=1` adds one between them, and checks all declarations with both ways to resolve modules.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installFromRegistry, installLibraries, published } from "./kit.ts";

const execute = promisify(execFile);

const root = join(import.meta.dirname, "..", "..", "..", "..");
const ours = join(root, "node_modules");

const program = `
import { Agent, type AgentTool } from "@tau/agent";
import type { AI, Model } from "@tau/ai";
import { createAgent, createAgentSession, type InputSchemaTool } from "@tau/harness";
import { createAgentSession as createPiSession, createReadTool } from "@tau/pi-sdk";
import type { ToolContext } from "@tau/tools";
import * as Type from "typebox";

const parameters = Type.Object({ place: Type.String(), days: Type.Optional(Type.Integer()) });

const weather: AgentTool<typeof parameters, { celsius: number }> = {
  name: "weather",
  label: "Weather",
  description: "The weather of a place.",
  parameters,
  async execute(_callId, { place, days }) {
    const text: string = place.toUpperCase() + String(days?.toFixed() ?? "");
    return { content: [{ type: "text", text }], details: { celsius: 21 } };
  },
};
const plain: AgentTool<typeof parameters> = { ...weather };

interface Sum { a: number; b: number }

const sum: InputSchemaTool<Sum, { sum: number }> = {
  name: "sum",
  description: "Adds.",
  beforeInvoke: ({ a }, context: ToolContext) => context.getLog().info(a.toFixed()),
  execute: ({ a, b }, { signal }) => ({ sum: signal.aborted ? 0 : a + b }),
  afterInvoke: ({ sum }) => sum.toFixed(),
};

export const open = (model: Model, ai: AI) => [
  createAgentSession({ model, customTools: [weather, plain, sum], tools: ["read", weather, plain, sum] }),
  createAgent({ ai, tools: [weather, "read"], customTools: [plain, sum] }),
  createPiSession({ model, tools: ["bash", createReadTool("/"), weather] }).then(({ session }) => session.prompt("Hi")),
  new Agent({ initialState: { model, tools: [weather, plain] } }),
];

// @ts-expect-error: the arguments are typed.
export const wrong: AgentTool<typeof parameters> = { ...weather, execute: async (_callId, { town }) => ({ content: town }) };
`;

let cwd = "";
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "tau-types-"));
  await installLibraries(cwd);
  await writeFile(join(cwd, "program.ts"), program);
});
afterAll(() => rm(cwd, { recursive: true, force: true, maxRetries: 10 }));

interface Options {
  resolution: "nodenext" | "bundler";
  checksLibraries: boolean;
  /** The place where the program runs: the types that it has, and the conditions of its entries. Default: Node. */
  place?: object;
  args?: readonly string[];
}

/** Returns what the compiler prints: its complaints. */
async function check(
  compiler: string,
  { resolution, checksLibraries, place = { types: ["node"] }, args = [] }: Options,
  file = "program.ts",
): Promise<string> {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    target: "es2023",
    module: resolution === "nodenext" ? "nodenext" : "esnext",
    moduleResolution: resolution,
    skipLibCheck: !checksLibraries,
    ...place,
  };
  await writeFile(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
  const done = execute(process.execPath, [join(compiler, "bin", "tsc"), ...args], { cwd, maxBuffer: 16 * 1024 * 1024 });
  return await done.then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

/** The names that programs import of the packages. The providers' entries differ in their data only. */
async function listEntries(): Promise<string[]> {
  const lists = await Promise.all(
    published.map(async (name) => {
      const manifest = await readFile(join(cwd, "node_modules", "@tau", name, "package.json"), "utf8");
      const { exports } = JSON.parse(manifest) as { exports: Record<string, unknown> };
      const paths = Object.keys(exports).filter((path) => !path.endsWith(".json"));
      return paths.map((path) => `@tau/${name}${path.slice(1).replace("*", "amazon-bedrock")}`);
    }),
  );
  return lists.flat();
}

const importAll = (names: readonly string[]) =>
  names.map((name, index) => `export type * as entry${index} from "${name}";\n`).join("");

const isLong = Boolean(process.env["TAU_LONG"]);

// What is sound under the stricter way to resolve modules is sound under the other.
test.each([
  ["nodenext", true],
  ["bundler", isLong],
] as const)(
  "typed tools fit without casts under TypeScript 7 with %s, and the declarations are sound (all of them: %s)",
  async (resolution, checksLibraries) => {
    expect(await check(join(ours, "typescript"), { resolution, checksLibraries })).toBe("");
  },
);

const forBrowsers = /^@tau\/(ai|agent|protocol|markdown|react)(\/(?!testing|node|mcp-server)|$)/;

describe("all declarations of all entries are sound", () => {
  test("in Node, also without the types of browsers", async () => {
    // The declarations of pi's modules are TypeBox's for the most part, which the program above has too.
    const entries = (await listEntries()).filter((name) => isLong || !/^@tau\/pi(\/|$)/.test(name));
    expect(entries.length).toBeGreaterThan(50);
    await writeFile(join(cwd, "entries.ts"), importAll(entries));
    const place = { types: ["node"], lib: ["es2023"] };
    const options = { resolution: "nodenext", checksLibraries: true, place } as const;
    expect(await check(join(ours, "typescript"), options, "entries.ts")).toBe("");
  });

  test("in browsers, without the types of Node", async () => {
    const entries = (await listEntries()).filter((name) => forBrowsers.test(name));
    expect(entries).toContain("@tau/protocol/client");
    await writeFile(join(cwd, "pages.ts"), importAll(entries));
    const place = {
      types: [],
      lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
      customConditions: ["browser"],
    };
    const options = { resolution: "bundler", checksLibraries: true, place } as const;
    expect(await check(join(ours, "typescript"), options, "pages.ts")).toBe("");
  });
});

test("a program that uses no TypeBox checks none of its declarations, which take four times as long as all others", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const lines = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].find(([, code]) => code!.includes("createAgent("))![1]!;
  await writeFile(join(cwd, "readme.ts"), lines);
  const options = { resolution: "nodenext", checksLibraries: true, args: ["--listFilesOnly"] } as const;
  const files = await check(join(ours, "typescript"), options, "readme.ts");
  expect(files).toContain(join("@tau", "harness", "dist", "index.d.ts"));
  expect(files).not.toContain("typebox");
});

/** Tools with the schemas of libraries that people have, which are typed, shown to a model and checked. */
const schemas = `
import { validateToolArguments } from "@tau/ai";
import { defineTool } from "@tau/harness";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";

const zod = z.object({ place: z.string(), days: z.number().optional() });
const valibot = toStandardJsonSchema(v.object({ place: v.string(), days: v.optional(v.number()) }));
const arktype = type({ place: "string", "days?": "number" });
const shared = { name: "weather", description: "The weather of a place." };
const tools = [
  defineTool({ ...shared, input: zod, execute: ({ place, days }) => place.toUpperCase() + (days?.toFixed() ?? "") }),
  defineTool({ ...shared, input: valibot, execute: ({ place, days }) => place.toUpperCase() + (days?.toFixed() ?? "") }),
  defineTool({ ...shared, input: arktype, execute: ({ place, days }) => place.toUpperCase() + (days?.toFixed() ?? "") }),
];
// @ts-expect-error: the arguments are typed.
defineTool({ ...shared, input: zod, execute: ({ place }) => place.toFixed() });
// @ts-expect-error: the arguments are typed.
defineTool({ ...shared, input: valibot, execute: ({ place }) => place.toFixed() });
// @ts-expect-error: the arguments are typed.
defineTool({ ...shared, input: arktype, execute: ({ place }) => place.toFixed() });

for (const tool of tools) {
  const call = { type: "toolCall" as const, id: "1", name: tool.name };
  const { content } = await tool.execute("1", validateToolArguments(tool, { ...call, arguments: { place: "Rome", days: 2 } }));
  try {
    validateToolArguments(tool, { ...call, arguments: { place: ["Rome"] } });
  } catch (error) {
    console.log(JSON.stringify(content), String(error).includes("- place: "));
  }
}
`;
const schemaLibraries = ["zod@4.6.7", "valibot@1.5.0", "@valibot/to-json-schema@1.8.0", "arktype@2.2.9"];

const older = [["5.8", "nodenext"] as const, ...(isLong ? [["5.9", "bundler"] as const] : [])];

// Each once: the older compilers take long, and both ways to resolve read the same fields.
describe("typed tools fit without casts", () => {
  let directory = "";
  let missing: string | undefined;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "tau-compilers-"));
    missing = await installFromRegistry(
      directory,
      ...older.map(([version]) => `ts${version}@npm:typescript@${version}`),
      ...schemaLibraries,
    );
  });
  afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));

  test.for(older)("under TypeScript %s with %s", async ([version, resolution], { skip }) => {
    if (missing !== undefined) {
      skip(`npm could not reach its registry (${missing}): TypeScript ${version} was not tested.`);
    }
    const compiler = join(directory, "node_modules", `ts${version}`);
    expect(await check(compiler, { resolution, checksLibraries: false })).toBe("");
  });

  test("with schemas of zod, valibot and arktype, which check what a model sends", async ({ skip }) => {
    if (missing !== undefined) skip(`npm could not reach its registry (${missing}): their schemas were not tested.`);
    const modules = join(directory, "node_modules");
    await symlink(join(cwd, "node_modules", "@tau"), join(modules, "@tau"));
    await symlink(join(ours, "@types"), join(modules, "@types"));
    await writeFile(join(directory, "schemas.mts"), schemas);
    const compiler = join(ours, "typescript", "bin", "tsc");
    const options = ["--noEmit", "--strict", "--target", "es2023", "--module", "nodenext", "--types", "node"];
    const args = [compiler, ...options, "--skipLibCheck", "schemas.mts"];
    await execute(process.execPath, args, { cwd: directory });
    await writeFile(join(directory, "schemas.mjs"), (await transform(schemas, { loader: "ts" })).code);
    const { stdout } = await execute(process.execPath, ["schemas.mjs"], { cwd: directory });
    expect(stdout).toBe('[{"type":"text","text":"ROME2"}] true\n'.repeat(3));
  });
});
