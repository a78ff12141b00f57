/**
 * Plugins in Claude Code's form: `.claude-plugin/plugin.json`, with skills in `skills`, commands in `commands`, agents in `agents`
 * and MCP servers in `.mcp.json`. Its hooks are listed and not used, and what its front matter allows is not granted.
 */
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { asRecord, isRecord, tryParseJson } from "@tau/ai/internal";
import { isWithin } from "@tau/tools/platform";
import type { ResourceKind } from "./package-resources.ts";
import { getKind, orUndefinedSync } from "./read-directory.ts";

/** Names, for people. */
export interface PluginParts {
  readonly hooks: readonly string[];
}

interface PluginManifest {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly declared: Readonly<Record<ResourceKind, readonly string[]>>;
  readonly servers: Readonly<Record<string, unknown>>;
  readonly plugin: PluginParts;
}

const maxBytes = 1_000_000;

/** Undefined if the directory is no plugin. Fields of wrong types are as if they were not there. */
export function readPlugin(directory: string): PluginManifest | undefined {
  const manifest = readObject(directory, join(".claude-plugin", "plugin.json"));
  if (!manifest) return undefined;
  const toText = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  // A marketplace that describes a plugin without a manifest of its own lists all that belongs to it.
  const isWhole = manifest["strict"] === false;
  const withUsual = (usual: string, listed: unknown) =>
    isWhole && listed !== undefined ? toPaths(listed) : [usual, ...toPaths(listed)];
  // Scripts of a plugin are for its hooks and servers: none of them is an extension.
  const declared = {
    extensions: [],
    skills: withUsual("skills", manifest["skills"]),
    prompts: withUsual("commands", manifest["commands"]),
    themes: [],
    agents: withUsual("agents", manifest["agents"]),
  };
  return {
    name: toText(manifest["name"]),
    version: toText(manifest["version"]),
    declared,
    servers: readServers(directory, withFile(manifest["mcpServers"], ".mcp.json")),
    plugin: {
      hooks: Object.keys(listHooks(directory, manifest)).sort(),
    },
  };
}

/** Reads the hooks of a plugin by event, as written. */
export const readHooks = (directory: string): Record<string, unknown> =>
  listHooks(directory, readObject(directory, join(".claude-plugin", "plugin.json")) ?? {});

const listHooks = (directory: string, manifest: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  readNamed(directory, withFile(manifest["hooks"], "hooks/hooks.json"), "hooks");

const toPaths = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (path): path is string => typeof path === "string" && !/^[!+-]/.test(path),
  );

/** The usual file is read too, unless the manifest names others. */
function withFile(value: unknown, file: string): readonly unknown[] {
  const given = Array.isArray(value) ? value : [value];
  return given.some((each) => typeof each === "string") ? given : [file, ...given];
}

/** Objects by name, which a manifest has itself or names files for. Later ones win. Files may leave out the key around them. */
function readNamed(directory: string, values: readonly unknown[], key: string): Record<string, unknown> {
  const objects = values.map((value) => asRecord(typeof value === "string" ? readObject(directory, value) : value));
  const entries = objects.flatMap((object) => Object.entries(asRecord(object[key] ?? object)));
  return Object.fromEntries(entries.filter(([, value]) => typeof value === "object" && isFlat(value)));
}

/** The MCP servers by name, as written: unchecked. */
export const readServers = (directory: string, value: unknown): Record<string, unknown> =>
  readNamed(directory, Array.isArray(value) ? value : [value], "mcpServers");

/** Reads the object in a file of a plugin. What leads out of the plugin is not read. */
export function readObject(directory: string, name: string): Record<string, unknown> | undefined {
  const path = join(directory, name);
  if (getKind(path) !== "file") return undefined;
  const [root, real] = [directory, path].map((each) => orUndefinedSync(() => realpathSync.native(each)));
  if (root === undefined || real === undefined || !isWithin(root, real)) return undefined;
  const bytes = orUndefinedSync(() => readFileSync(real));
  if (!bytes || bytes.length > maxBytes) return undefined;
  const value = tryParseJson(bytes.toString("utf8").replace(/^\uFEFF/, ""));
  return isRecord(value) && isFlat(value) ? value : undefined;
}

const maxDepth = 50;

/** Whether all that walks through a value can do so with calls that call themselves. */
const isFlat = (value: unknown, depth = 0): boolean =>
  typeof value !== "object" ||
  value === null ||
  (depth < maxDepth && Object.values(value).every((each) => isFlat(each, depth + 1)));
