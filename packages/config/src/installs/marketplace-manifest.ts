/** Marketplaces in Claude Code's form: `.claude-plugin/marketplace.json` lists plugins and where they are. */
import { join, posix } from "node:path";
import { asRecord, isRecord } from "@tau/ai/internal";
import { isPluginName, parseSource } from "./package-source.ts";
import { readObject } from "./plugin.ts";

export interface MarketplaceManifest {
  readonly name: string;
  /** Each name once. */
  readonly plugins: readonly ListedPlugin[];
}

/** A plugin that a marketplace lists. */
export interface ListedPlugin {
  readonly name: string;
  readonly description: string;
  /** Undefined for one that tau cannot fetch. */
  readonly location: PluginLocation | undefined;
  /** The manifest of the plugin if it has none itself. */
  readonly manifest: Readonly<Record<string, unknown>>;
}

/** Paths have slashes and stay inside; empty for the directory itself. */
export type PluginLocation =
  /** A directory of the marketplace. */
  | { readonly kind: "inside"; readonly path: string }
  /** `source` is one of the kind `git`. */
  | { readonly kind: "git"; readonly source: string; readonly path: string }
  | { readonly kind: "npm"; readonly source: string };

const manifestKeys = "name version description strict skills commands agents hooks mcpServers".split(" ");

/** Undefined if the directory is no marketplace. Plugins without a valid name are left out. */
export function readMarketplace(directory: string): MarketplaceManifest | undefined {
  const value = readObject(directory, join(".claude-plugin", "marketplace.json"));
  const { name, plugins, metadata } = value ?? {};
  if (typeof name !== "string" || !isPluginName(name) || !Array.isArray(plugins)) return undefined;
  const { pluginRoot } = asRecord(metadata);
  const base = typeof pluginRoot === "string" ? pluginRoot : "";
  const byName = new Map<string, ListedPlugin>();
  for (const plugin of plugins.filter(isRecord)) {
    const { name: pluginName, description, source } = plugin;
    if (typeof pluginName !== "string" || !isPluginName(pluginName) || byName.has(pluginName)) continue;
    byName.set(pluginName, {
      name: pluginName,
      description: typeof description === "string" ? description : "",
      location: locate(source, base),
      manifest: Object.fromEntries(Object.entries(plugin).filter(([key]) => manifestKeys.includes(key))),
    });
  }
  return { name, plugins: [...byName.values()] };
}

/** Reads the forms that a source in a marketplace can have. */
function locate(value: unknown, base: string): PluginLocation | undefined {
  if (typeof value === "string") {
    if (posix.isAbsolute(value)) return undefined;
    const path = toInnerPath(value.startsWith("./") ? value : `./${base}/${value}`);
    return path === undefined ? undefined : { kind: "inside", path };
  }
  const { source: kind, repo, url, package: name, version, registry, path = "" } = asRecord(value);
  switch (kind) {
    case "github":
      return locateRepository(repo, value, "");
    case "url":
      return locateRepository(url, value, "");
    case "git-subdir":
      return typeof path === "string" ? locateRepository(url, value, path) : undefined;
    case "npm": {
      const source = `npm:${String(name)}${version === undefined ? "" : `@${String(version)}`}`;
      return registry === undefined && parseSource(source, "/").kind === "npm" ? { kind: "npm", source } : undefined;
    }
    default:
      return undefined;
  }
}

/** A commit (`sha`) has precedence over a branch or a tag (`ref`). */
function locateRepository(address: unknown, value: unknown, directory: string): PluginLocation | undefined {
  const { ref, sha = ref } = asRecord(value);
  const path = toInnerPath(directory);
  if (typeof address !== "string" || path === undefined) return undefined;
  if (sha !== undefined && typeof sha !== "string") return undefined;
  const isShort = /^[\w.-]+\/[\w.-]+$/.test(address);
  const source = `git:${isShort ? "github.com/" : ""}${address}${sha === undefined ? "" : `@${sha}`}`;
  return parseSource(source, "/").kind === "git" ? { kind: "git", source, path } : undefined;
}

/** The normal form of a path from a directory that stays in it; undefined for any other. */
export function toInnerPath(text: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- they are what a path must not have
  if (/[\u0000-\u001f\u007f\\]/.test(text) || posix.isAbsolute(text)) return undefined;
  const path = posix.normalize(text).replace(/\/+$/, "");
  if (path.split("/").some((part) => part === ".." || part === ".git")) return undefined;
  return path === "." ? "" : path;
}
