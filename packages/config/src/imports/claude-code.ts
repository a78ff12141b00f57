/** Reads the files of Claude Code: `~/.claude` and `~/.claude.json`. */
import { dirname, isAbsolute, join } from "node:path";
import { asRecord, isRecord } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { readMarketplace } from "../installs/marketplace-manifest.ts";
import { findPlugin } from "../installs/marketplaces.ts";
import { parseSource, type PluginSource } from "../installs/package-source.ts";
import { createItems, findAgents, findFiles, findServers, none, toInstructions } from "./common.ts";
import type { FoundItem } from "./found-item.ts";
import { toSetting } from "./setting-items.ts";
import type { ToolFiles } from "./tool-files.ts";
import type { ToolLocation } from "./tool-locations.ts";

const inPlace = "stays where it is: tau reads it there";

/** How much is done without a question, by our names. A mode that asks less is never brought: choose it yourself. */
const permissionModes: Readonly<Record<string, string>> = { default: "ask", acceptEdits: "edit" };

/** Why settings have no counterpart. */
const reasons: Readonly<Record<string, string>> = {
  permissions: "has rules in another form: see tau help permissions",
  env: "may hold keys: set shellEnv yourself",
  apiKeyHelper: "is a program that prints a key: see tau help auth",
  statusLine: "is a program of Claude Code",
};

export async function readClaudeCode(files: ToolFiles, location: ToolLocation): Promise<FoundItem[]> {
  const { root, stateFile } = location;
  const at = (name: string) => join(root, name);
  const tool = "claude-code";
  const settings = (await files.readJson(at("settings.json"))) ?? {};
  const state = (stateFile === undefined ? undefined : await files.readJson(stateFile)) ?? {};
  const markdown = { ending: /\.md$/, reason: inPlace };
  const keybindings = await files.readText(at("keybindings.json"));
  return [
    ...findSettings(at("settings.json"), settings),
    ...toInstructions(tool, at("CLAUDE.md"), await files.readText(at("CLAUDE.md"))),
    ...findFiles(tool, "skills", await files.list(at("skills")), { ending: /$/, reason: inPlace }),
    ...findFiles(tool, "prompts", await files.list(at("commands")), markdown),
    ...(await findAgents(tool, await files.list(at("agents")), files)),
    ...findHooks(at("settings.json"), settings["hooks"]),
    ...findPlugins(at("settings.json"), settings["enabledPlugins"], {
      ...(await files.readJson(at("plugins/known_marketplaces.json"))),
      ...(isRecord(settings["extraKnownMarketplaces"]) && settings["extraKnownMarketplaces"]),
    }),
    ...findServers(tool, stateFile ?? "", state["mcpServers"]),
    ...findProjectServers(stateFile ?? "", state["projects"]),
    ...(keybindings === undefined
      ? []
      : [
          createItems(tool, at("keybindings.json"))(
            "keybindings",
            "keybindings.json",
            none("has actions of other names"),
          ),
        ]),
    ...findLogin(at(".credentials.json"), await files.readJson(at(".credentials.json"))),
  ];
}

function findSettings(path: string, settings: Readonly<Record<string, unknown>>): FoundItem[] {
  const create = createItems("claude-code", path);
  return Object.entries(settings).flatMap(([name, value]): FoundItem[] => {
    const source = { tool: "claude-code" as const, path, name };
    switch (name) {
      case "$schema":
      case "hooks":
      case "enabledPlugins":
      case "extraKnownMarketplaces":
        return [];
      case "model":
        if (typeof value !== "string" || !value.startsWith("claude-")) {
          return [create("settings", name, none("is a name that only Claude Code knows: see tau models"))];
        }
        return [toSetting(source, "defaultProvider", "anthropic"), toSetting(source, "defaultModel", value)];
      case "effortLevel":
        return [toSetting(source, "defaultThinkingLevel", value)];
      case "permissions":
        return findPermissions(path, value);
      default:
        return [create("settings", name, none(reasons[name] ?? "has no counterpart here"))];
    }
  });
}

function findPermissions(path: string, value: unknown): FoundItem[] {
  const create = createItems("claude-code", path);
  return Object.entries(isRecord(value) ? value : {}).map(([name, inner]) => {
    const full = `permissions.${name}`;
    const source = { tool: "claude-code" as const, path, name: full };
    if (name === "additionalDirectories") return toSetting(source, "additionalDirectories", inner);
    if (name !== "defaultMode") return create("settings", full, none(reasons["permissions"]!));
    const mode = typeof inner === "string" ? permissionModes[inner] : undefined;
    if (mode === undefined)
      return create("settings", full, none("is a mode that you choose yourself: see tau help permissions"));
    return toSetting(source, "policy.permissionMode", mode);
  });
}

function findHooks(path: string, hooks: unknown): FoundItem[] {
  const create = createItems("claude-code", path);
  return Object.keys(isRecord(hooks) ? hooks : {}).map((name) =>
    create("hooks", name, none('stays where it is: the setting claudeHooks "all" reads it there')),
  );
}

/** Plugins that are turned on, each after its marketplace. What they are is looked up again, and asked about. */
function findPlugins(path: string, plugins: unknown, marketplaces: Readonly<Record<string, unknown>>): FoundItem[] {
  const create = createItems("claude-code", path);
  const sources = new Map<string, FoundItem>();
  const items = Object.entries(isRecord(plugins) ? plugins : {}).map(([name, isEnabled]): FoundItem => {
    if (isEnabled !== true) return create("packages", name, none("is turned off there"));
    const parsed = parseSource(name, "/");
    const market = parsed.kind === "plugin" ? findMarket(marketplaces[parsed.marketplace]) : undefined;
    if (parsed.kind !== "plugin" || market === undefined)
      return create("packages", name, none("is of a marketplace that is not here: see tau help packages"));
    const plugin = market.find(parsed);
    if (plugin.kind === "none") return create("packages", name, plugin);
    sources.set(market.entry, create("packages", parsed.marketplace, { kind: "install", entry: market.entry }));
    return create("packages", name, plugin);
  });
  return [...sources.values(), ...items];
}

interface Market {
  /** Its source, as `tau install` takes it. */
  entry: string;
  find: (plugin: PluginSource) => FoundItem["action"];
}

/** Plugins of a repository are looked up when they are installed; those of a directory stay where they are. */
function findMarket(value: unknown): Market | undefined {
  const { source: kind, repo, url, ref, path } = asRecord(asRecord(value)["source"]);
  if ((kind === "directory" || kind === "file") && typeof path === "string") return findLocalMarket(kind, path);
  const address = kind === "github" ? `github.com/${String(repo)}` : kind === "git" ? url : undefined;
  if (typeof address !== "string") return undefined;
  const text = `git:${address}${typeof ref === "string" ? `@${ref}` : ""}`;
  if (parseSource(text, "/").kind !== "git") return undefined;
  return { entry: text, find: ({ name, marketplace }) => ({ kind: "install", entry: `${name}@${marketplace}` }) };
}

/** `path` is the directory, or the file with the list in it. Undefined if there is no list. */
function findLocalMarket(kind: "directory" | "file", path: string): Market | undefined {
  const root = kind === "file" ? dirname(dirname(path)) : path;
  const manifest = isAbsolute(root) ? readMarketplace(root) : undefined;
  if (!manifest) return undefined;
  const marketplace = {
    ...manifest,
    source: { kind: "local", id: root, path: root } as const,
    root,
    commit: undefined,
  };
  return {
    entry: root,
    find(plugin) {
      try {
        const target = findPlugin(plugin, [marketplace]);
        return {
          kind: "install",
          entry: target.kind === "source" ? target.text : `${plugin.name}@${plugin.marketplace}`,
        };
      } catch (error) {
        if (!(error instanceof HarnessError)) throw error;
        return none(`cannot be installed: ${error.message.replace(/\.$/, "")}`);
      }
    },
  };
}

/** Servers of one project. Those in its `.mcp.json` are not here: the project has them. */
function findProjectServers(path: string, projects: unknown): FoundItem[] {
  const create = createItems("claude-code", path);
  return Object.entries(isRecord(projects) ? projects : {}).flatMap(([project, value]) =>
    Object.keys(isRecord(value) && isRecord(value["mcpServers"]) ? value["mcpServers"] : {}).map((name) =>
      create("mcp", name, none(`is for ${project} alone: put it into .tau/mcp.json there`)),
    ),
  );
}

function findLogin(path: string, credentials: Readonly<Record<string, unknown>> | undefined): FoundItem[] {
  const login = credentials?.["claudeAiOauth"];
  if (!isRecord(login)) return [];
  const create = createItems("claude-code", path);
  const { accessToken: access, refreshToken: refresh, expiresAt: expires } = login;
  if (typeof access !== "string" || typeof refresh !== "string" || typeof expires !== "number") {
    return [create("keys", "anthropic", none("is not a login that tau knows"))];
  }
  const credential = { type: "oauth" as const, access, refresh, expires };
  return [create("keys", "anthropic", { kind: "credential", provider: "anthropic", credential })];
}
