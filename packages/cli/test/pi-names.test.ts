/** Says for each name that pi 1.5.0 documents whether it is the same here, and looks whether that is true. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { extensionEventNames } from "@tau/extensions";
import { isCommandName } from "@tau/protocol";
import { expect, test } from "vitest";
import { commands } from "../src/commands/index.ts";
import { keybindingDefinitions } from "../src/interactive/keybindings.ts";
import { terminalCommands } from "../src/interactive/slash-commands.ts";
import { flags } from "../src/start/flags.ts";
import { writeExtension } from "./extension-kit.ts";
import { createModelWorkspace, createWorkspace, run, textReply, toolReply } from "./kit.ts";
import { type Category, piNames, words } from "./pi-names/table.ts";

const root = join(import.meta.dirname, "../../..");
const readText = (path: string) => readFile(join(root, path), "utf8");

/** Looks for names. Returns those that tau has. */
type Find = (names: readonly string[]) => Promise<readonly string[]> | readonly string[];

const among = (known: Iterable<string>): Find => {
  const set = new Set(known);
  return (names) => names.filter((name) => set.has(name));
};

interface Schema {
  properties?: Record<string, Schema>;
}

const listSettings = ({ properties = {} }: Schema, prefix = ""): string[] =>
  Object.entries(properties).flatMap(([name, schema]) => [
    `${prefix}${name}`,
    ...listSettings(schema, `${prefix}${name}.`),
  ]);

/** Runs an extension, which writes down what each of its objects has. */
async function inspectExtension(
  names: Partial<Record<Category, readonly string[]>>,
): Promise<Record<string, string[]>> {
  const workspace = await createModelWorkspace([toolReply("look"), textReply("Done.")]);
  const path = join(workspace.directory, "found");
  await writeExtension(
    workspace,
    "inspect",
    `
    const names = ${JSON.stringify(names)};
    const found = {};
    const look = (category, object) => { found[category] = names[category].filter((name) => name in object); };
    look("api", tau);
    tau.on("session_start", (event, ctx) => {
      look("context", ctx);
      look("interface", ctx.ui);
      look("sessionManager", ctx.sessionManager);
      look("modelRegistry", ctx.modelRegistry);
    });
    const write = (part) => {
      const { writeFileSync } = process.getBuiltinModule("node:fs");
      writeFileSync(${JSON.stringify(path)} + part, JSON.stringify(found));
    };
    tau.registerCommand("inspect", { handler: async (args, ctx) => { look("commandContext", ctx); write(1); } });
    tau.registerTool({
      name: "look", label: "Look", description: "Look", parameters: { type: "object" },
      execute: async (id, params, signal, onUpdate, ctx) => {
        look("toolContext", ctx);
        write(2);
        return { content: [{ type: "text", text: "ok" }], details: {} };
      },
    });
    `,
  );
  await run(workspace, ["-p", "/inspect"]);
  const { code, err } = await run(workspace, ["-p", "Look."]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const read = async (part: number) => JSON.parse(await readFile(`${path}${part}`, "utf8")) as Record<string, string[]>;
  return { ...(await read(1)), ...(await read(2)) };
}

/** Writes a file with the names, and asks what is wrong with it. */
async function findModelNames(
  names: readonly string[],
  where: "model" | "compat" | "provider" | "modelOverrides",
): Promise<string[]> {
  const workspace = await createWorkspace();
  const fields = Object.fromEntries(names.map((name) => [name, null]));
  const model = { id: "m", ...(where === "compat" && { compat: fields }), ...(where === "model" && fields) };
  const usual = { baseUrl: "http://127.0.0.1:1/v1", api: "openai-completions", apiKey: "x", models: [model] };
  const provider = {
    ...(where === "provider" && fields),
    ...usual,
    ...(where === "modelOverrides" && { modelOverrides: { m: fields } }),
  };
  await mkdir(workspace.agentDir, { recursive: true, mode: 0o700 });
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify({ providers: { p: provider } }));
  const { out } = await run(workspace, ["doctor", "--json"]);
  const rows = JSON.parse(out) as { check: string; says: string; fix?: string }[];
  const { says, fix = "" } = rows.find(({ check }) => check === "models.json")!;
  const lines = `${says}\n${fix}`
    .split("\n")
    .filter((line) => /is not used by tau yet|unknown|no such|is not known/i.test(line));
  return names.filter((name) => !lines.some((line) => line.includes(`${name}"`)));
}

/** Looks for names in quotes, or as keys of objects, in sources or documents. */
const inTexts =
  (...paths: readonly string[]) =>
  async (): Promise<Find> => {
    const text = (await Promise.all(paths.map(readText))).join("\n");
    return (names) =>
      names.filter((name) => new RegExp(`["'\`/]${name.replaceAll(".", "\\.")}["'\`/]|\\b${name}: `).test(text));
  };

/** Types are gone at runtime, so the declarations are read. */
async function listToolFields(): Promise<string[]> {
  const declarations = [
    ["packages/extensions/src/api/api.ts", "export interface ToolDefinition"],
    ["packages/tools/src/tool.ts", "export interface ToolDescription"],
  ] as const;
  const lists = declarations.map(async ([path, start]) => {
    const text = await readText(path);
    const body = text.slice(text.indexOf(start));
    return [...body.slice(0, body.indexOf("\n}")).matchAll(/^ {2}(?:readonly )?(\w+)\??[:(<]/gm)].map(
      ([, name]) => name!,
    );
  });
  return (await Promise.all(lists)).flat();
}

const finders: Partial<Record<Category, () => Promise<Find> | Find>> = {
  flags: () => among(flags.map(({ name }) => name)),
  commands: () => among([...commands.map(({ name }) => name), "uninstall"]),
  slashCommands: () => among(Object.keys(terminalCommands)),
  settings: async () => among(listSettings(JSON.parse(await readText("docs/settings.schema.json")) as Schema)),
  variables: async () => {
    const text = `${await readText("docs/environment.md")}${await readText("docs/auth.md")}${await readText("docs/models.md")}`;
    // One sentence names those that have no effect.
    const used = text.replace(/`PI_SKIP_VERSION_CHECK` and `PI_TELEMETRY` are about/, "");
    return among(used.match(/\b[A-Z][A-Z0-9_]+\b/g) ?? []);
  },
  events: () => among(extensionEventNames),
  rpc: () => (names) => names.filter((name) => isCommandName(name)),
  toolDefinition: async () => among(await listToolFields()),
  modelFields: () => (names) => findModelNames(names, "model"),
  providerFields: () => (names) => findModelNames(names, "provider"),
  modelOverrides: () => (names) => findModelNames(names, "modelOverrides"),
  shortFlags: () => among(flags.flatMap(({ short }) => short ?? [])),
  authUsage: () => {
    const { usage } = commands.find(({ name }) => name === "auth")!;
    return (names) => names.filter((name) => usage.some((line) => new RegExp(`[ [|]${name}[ \\]]`).test(line)));
  },
  keybindings: () => among(Object.keys(keybindingDefinitions)),
  themeColors: async () => {
    const text = await readText("packages/tui/src/theme/tokens.ts");
    return among([...text.matchAll(/"(\w+)"|readonly (\w+Bg)\?/g)].map(([, token, page]) => (token ?? page)!));
  },
  records: inTexts(
    "packages/cli/src/rpc/pi-events.ts",
    "packages/cli/src/rpc/framing.ts",
    "packages/cli/src/rpc/rpc.ts",
    "packages/protocol/src/event.ts",
    "packages/agent/src/types.ts",
  ),
  uiRequests: inTexts("packages/cli/src/rpc/framing.ts", "packages/protocol/src/ui-request.ts"),
  entryTypes: inTexts("packages/harness/src/session/entry-table.ts", "packages/protocol/src/entry.ts"),
  tools: inTexts("docs/tools.md"),
  files: async () => {
    const pages = ["resources", "trust", "keybindings", "models", "mcp", "auth", "coming-from", "themes"];
    const text = (await Promise.all(pages.map((page) => readText(`docs/${page}.md`)))).join("\n");
    return (names) => names.filter((name) => text.includes(name));
  },
  packageFields: inTexts(
    "packages/config/src/installs/package-resources.ts",
    "packages/config/src/installs/manifest.ts",
  ),
  modelCompat: () => (names) => findModelNames(names, "compat"),
};

interface Lists {
  same: string[];
  absent: string[];
  decided: Readonly<Record<string, string>>;
}

function getLists(category: Category): Lists {
  const { same, ...others } = piNames[category] as {
    same: string;
    decided?: Record<string, string>;
    notApplicable?: string;
    missing?: string;
  };
  const { decided = {}, notApplicable, missing } = others;
  return { same: words(same), absent: [...Object.keys(decided), ...words(notApplicable), ...words(missing)], decided };
}

const categories = Object.keys(piNames) as Category[];

test.each(categories)("each of pi's names has one verdict: %s", (category) => {
  const { same, absent } = getLists(category);
  expect([...same, ...absent].toSorted()).toEqual([...new Set([...same, ...absent])].toSorted());
});

test.each(Object.entries(finders) as [Category, () => Promise<Find> | Find][])(
  "what is the same works, and what is not has not been built meanwhile: %s",
  async (category, create) => {
    const { same, absent } = getLists(category);
    const find = await create();
    expect(await find([...same, ...absent])).toEqual(same);
  },
);

test("an extension finds the members that are the same, and no others", async () => {
  const inspected: Category[] = [
    "api",
    "context",
    "commandContext",
    "toolContext",
    "interface",
    "sessionManager",
    "modelRegistry",
  ];
  const lists = inspected.map((category) => [category, getLists(category)] as const);
  const all = Object.fromEntries(lists.map(([category, { same, absent }]) => [category, [...same, ...absent]]));
  const expected = Object.fromEntries(lists.map(([category, { same }]) => [category, same]));
  expect(await inspectExtension(all)).toEqual(expected);
});

test("each decision is written down", async () => {
  const text = await readText("docs/decisions/pi.md");
  const reasons = new Set(categories.flatMap((category) => Object.values(getLists(category).decided)));
  for (const reason of reasons) expect(text).toContain(`- **${reason}`);
});
