/** Reads the files of pi: `~/.pi/agent`. Its files have our own forms. */
import { join, resolve } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { parseCredential } from "../auth/credential.ts";
import { packageEntries, toDetailed } from "../installs/package-entry.ts";
import {
  createItems,
  findAgents,
  findPrompts,
  findProviders,
  findServers,
  findSkills,
  none,
  toInstructions,
} from "./common.ts";
import type { FoundItem } from "./found-item.ts";
import { findOwnSettings } from "./setting-items.ts";
import type { ToolFiles } from "./tool-files.ts";
import type { ToolLocation } from "./tool-locations.ts";

const resourceSettings = ["extensions", "skills", "prompts", "themes"];

export async function readPi(files: ToolFiles, { root, home }: ToolLocation): Promise<FoundItem[]> {
  const at = (name: string) => join(root, name);
  const settings = (await files.readJson(at("settings.json"))) ?? {};
  const models = await files.readJson(at("models.json"));
  const servers = await files.readJson(at("mcp.json"));
  return [
    ...findOwnSettings("pi", at("settings.json"), settings, { skips: ["packages", ...resourceSettings] }),
    ...findResourceSettings(at("settings.json"), settings, root),
    ...findProviders("pi", at("models.json"), models?.["providers"]),
    ...(await findInstructions(files, root)),
    ...findSkills("pi", await files.list(at("skills"))),
    ...findPrompts("pi", await files.list(at("prompts"))),
    ...(await findAgents("pi", await files.list(at("agents")), files)),
    ...findPackages(at("settings.json"), settings["packages"], { root, home }),
    ...(await findExtensions(files, at("extensions"))),
    ...findServers("pi", at("mcp.json"), servers?.["mcpServers"]),
    ...findKeybindings(at("keybindings.json"), await files.readJson(at("keybindings.json"))),
    ...(await findThemes(files, at("themes"))),
    ...findCredentials(at("auth.json"), await files.readJson(at("auth.json"))),
  ];
}

/** Paths are from the directory of the settings. What only filters is left: it may filter other things here. */
function findResourceSettings(path: string, settings: Readonly<Record<string, unknown>>, root: string): FoundItem[] {
  return resourceSettings.flatMap((name) => {
    const given = settings[name];
    if (!Array.isArray(given) || given.length === 0) return [];
    const paths = given.filter((value): value is string => typeof value === "string" && !/^[!+-]/.test(value));
    const create = createItems("pi", path);
    if (paths.length < given.length)
      return [create("settings", name, none("has filters, which would apply to other files here"))];
    const absolute = paths.map((value) => (value.startsWith("~") ? value : resolve(root, value)));
    return [create("settings", name, { kind: "set", key: name, value: absolute })];
  });
}

async function findInstructions(files: ToolFiles, root: string): Promise<FoundItem[]> {
  const items: FoundItem[] = [];
  for (const name of ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"]) {
    const found = toInstructions("pi", join(root, name), await files.readText(join(root, name)));
    items.push(...found);
    if (found.length > 0) break;
  }
  for (const name of ["SYSTEM.md", "APPEND_SYSTEM.md"]) {
    const text = await files.readText(join(root, name));
    if (text === undefined) continue;
    items.push(createItems("pi", join(root, name))("instructions", name, { kind: "write", text, to: name }));
  }
  return items;
}

function findPackages(path: string, value: unknown, { root, home }: { root: string; home: string }): FoundItem[] {
  const entries = packageEntries.read(value ?? [], { path: [], report: () => {} }) ?? [];
  const create = createItems("pi", path);
  return packageEntries.resolve!(entries, { directory: root, cwd: root, home }).map((entry) =>
    create("packages", toDetailed(entry).source, { kind: "install", entry }),
  );
}

/** Single extensions, which stay where they are. */
async function findExtensions(files: ToolFiles, directory: string): Promise<FoundItem[]> {
  const entries = await files.list(directory);
  return entries
    .filter(({ name, isDirectory }) => !name.startsWith(".") && (isDirectory || /\.[jt]s$/.test(name)))
    .map(({ name, path }) => ({ tool: "pi", kind: "packages", name, path, action: { kind: "install", entry: path } }));
}

function findKeybindings(path: string, values: Readonly<Record<string, unknown>> | undefined): FoundItem[] {
  return Object.entries(values ?? {})
    .filter(([id]) => id !== "$schema")
    .map(([id, value]) =>
      createItems("pi", path)("keybindings", id, { kind: "add", file: "keybindings.json", to: [id], value }),
    );
}

async function findThemes(files: ToolFiles, directory: string): Promise<FoundItem[]> {
  return (await files.list(directory))
    .filter(({ name, isDirectory }) => !isDirectory && name.endsWith(".json"))
    .map(({ name, path }) => ({
      tool: "pi",
      kind: "themes",
      name: name.slice(0, -".json".length),
      path,
      action: { kind: "copy", from: path, to: join("themes", name), isDirectory: false },
    }));
}

function findCredentials(path: string, values: Readonly<Record<string, unknown>> | undefined): FoundItem[] {
  const create = createItems("pi", path);
  return Object.entries(values ?? {}).map(([provider, value]) => {
    const parsed = parseCredential(provider, value);
    if (parsed.kind === "bad" || !isRecord(value))
      return create("keys", provider, none("is not a key or a login that tau knows"));
    return create("keys", provider, { kind: "credential", provider, credential: parsed.credential });
  });
}
