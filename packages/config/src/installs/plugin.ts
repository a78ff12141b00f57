/**
 * Plugins in Claude Code's form: `.claude-plugin/plugin.json`, with skills in `skills`, commands in `commands` and MCP servers
 * in `.mcp.json`. Its agents and hooks are listed and not used, and what its front matter allows is not granted.
 */
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { asRecord, isRecord, tryParseJson } from "@tau/ai/internal";
import { isWithin } from "@tau/tools/platform";
import type { ResourceKind } from "./package-resources.ts";
import { getKind, listEntries, orUndefinedSync } from "./read-directory.ts";

/** Names, for people. */
export interface PluginParts {
  readonly agents: readonly string[];
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
  // Scripts of a plugin are for its hooks and servers: none of them is an extension.
  const declared = {
    extensions: [],
    skills: ["skills", ...toPaths(manifest["skills"])],
    prompts: ["commands", ...toPaths(manifest["commands"])],
    themes: [],
  };
  return {
    name: toText(manifest["name"]),
    version: toText(manifest["version"]),
    declared,
    servers: readServers(directory, withFile(manifest["mcpServers"], ".mcp.json")),
    plugin: {
      agents: listAgents(directory, manifest["agents"]),
      hooks: Object.keys(readNamed(directory, withFile(manifest["hooks"], "hooks/hooks.json"), "hooks")).sort(),
    },
  };
}

const toPaths = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (path): path is string => typeof path === "string" && !/^[!+-]/.test(path),
  );

const listAgents = (directory: string, named: unknown): string[] => [
  ...listEntries(join(directory, "agents"))
    .filter(({ name, kind }) => kind === "file" && name.endsWith(".md"))
    .map(({ name }) => name.slice(0, -".md".length)),
  ...toPaths(named),
];

/** The usual file is read too, unless the manifest names others. */
function withFile(value: unknown, file: string): readonly unknown[] {
  const given = Array.isArray(value) ? value : [value];
  return given.some((each) => typeof each === "string") ? given : [file, ...given];
}

/** Objects by name, which a manifest has itself or names files for. Later ones win. Files may leave out the key around them. */
function readNamed(directory: string, values: readonly unknown[], key: string): Record<string, unknown> {
  const objects = values.map((value) => asRecord(typeof value === "string" ? readObject(directory, value) : value));
  const entries = objects.flatMap((object) => Object.entries(asRecord(object[key] ?? object)));
  return Object.fromEntries(entries.filter(([, value]) => typeof value === "object"));
}

/** The MCP servers by name, as written: unchecked. */
export const readServers = (directory: string, value: unknown): Record<string, unknown> =>
  readNamed(directory, Array.isArray(value) ? value : [value], "mcpServers");

/** The object in a file of the plugin. What leads out of the plugin is not read. */
function readObject(directory: string, name: string): Record<string, unknown> | undefined {
  const path = join(directory, name);
  if (getKind(path) !== "file") return undefined;
  const [root, real] = [directory, path].map((each) => orUndefinedSync(() => realpathSync.native(each)));
  if (root === undefined || real === undefined || !isWithin(root, real)) return undefined;
  const bytes = orUndefinedSync(() => readFileSync(real));
  if (!bytes || bytes.length > maxBytes) return undefined;
  const value = tryParseJson(bytes.toString("utf8").replace(/^\uFEFF/, ""));
  return isRecord(value) ? value : undefined;
}

/** A plugin that a marketplace lists. */
export interface ListedPlugin {
  readonly name: string;
  readonly description: string;
  /** The source for `tau install`; undefined for one that tau cannot fetch. */
  readonly source: string | undefined;
}

/** The plugins of a marketplace; undefined if the directory is none. Nothing of them is fetched. */
export function readMarketplace(directory: string, text: string): ListedPlugin[] | undefined {
  const value = readObject(directory, join(".claude-plugin", "marketplace.json"));
  if (!value || !Array.isArray(value["plugins"])) return undefined;
  return value["plugins"].filter(isRecord).map((plugin) => ({
    name: typeof plugin["name"] === "string" ? plugin["name"] : "?",
    description: typeof plugin["description"] === "string" ? plugin["description"] : "",
    source: toSource(plugin["source"], text),
  }));
}

/** Paths are in the marketplace itself, which can be installed from only if it is a directory of this machine. */
function toSource(source: unknown, marketplace: string): string | undefined {
  if (typeof source === "string") {
    const isInside = source.startsWith("./") && !source.split("/").includes("..");
    return isInside && marketplace.startsWith("/") ? join(marketplace, source) : undefined;
  }
  const { source: kind, repo, url, ref } = asRecord(source);
  const suffix = typeof ref === "string" ? `@${ref}` : "";
  if (kind === "github" && typeof repo === "string" && /^[\w.-]+\/[\w.-]+$/.test(repo))
    return `git:github.com/${repo}${suffix}`;
  return kind === "url" && typeof url === "string" && url.startsWith("https://") ? `${url}${suffix}` : undefined;
}
