/** Reads the files of opencode: `~/.config/opencode`, and its keys in `~/.local/share/opencode`. */
import { join } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { literalKey } from "../auth/key-value.ts";
import { createItems, findAgents, findFiles, findPrompts, findSkills, none, toInstructions, toKey } from "./common.ts";
import type { FoundItem } from "./found-item.ts";
import { toSetting } from "./setting-items.ts";
import type { ToolFiles } from "./tool-files.ts";
import type { ToolLocation } from "./tool-locations.ts";

type Values = Readonly<Record<string, unknown>>;

const getRecord = (value: unknown): Values => (isRecord(value) ? value : {});

/** Why settings have no counterpart. */
const reasons: Readonly<Record<string, string>> = {
  permission: "has rules in another form: see tau help permissions",
  tools: "has other names of tools: see the setting tools",
  instructions: "has no counterpart here: refer to the files in AGENTS.md",
  keybinds: "has actions of other names: see tau help keybindings",
  theme: "is a theme of opencode: see tau help themes",
  share: "is about a service of opencode",
};

/** The module that speaks to a provider says which API that is. */
const apis: Readonly<Record<string, string>> = {
  "@ai-sdk/openai-compatible": "openai-completions",
  "@ai-sdk/openai": "openai-responses",
  "@ai-sdk/anthropic": "anthropic-messages",
  "@ai-sdk/google": "google-generative-ai",
};

export async function readOpencode(files: ToolFiles, location: ToolLocation): Promise<FoundItem[]> {
  const { root, dataRoot = root } = location;
  const at = (name: string) => join(root, name);
  const items: FoundItem[] = [];
  for (const name of ["config.json", "opencode.json", "opencode.jsonc"]) {
    const config = await files.readJson(at(name));
    if (config) items.push(...readConfig(at(name), config));
  }
  items.push(...toInstructions("opencode", at("AGENTS.md"), await files.readText(at("AGENTS.md"))));
  const listBoth = async (one: string, many: string) => [
    ...(await files.list(at(one))),
    ...(await files.list(at(many))),
  ];
  const auth = join(dataRoot, "auth.json");
  return [
    ...items,
    ...findSkills("opencode", await listBoth("skill", "skills")),
    ...findPrompts("opencode", await listBoth("command", "commands")),
    ...(await findAgents("opencode", await listBoth("agent", "agents"), files)),
    ...findFiles("opencode", "packages", await listBoth("plugin", "plugins"), {
      ending: /\.[jt]s$/,
      reason: "is a plugin of opencode, which only opencode can run",
    }),
    ...findFiles("opencode", "themes", await files.list(at("themes")), {
      ending: /\.json$/,
      reason: "is a theme in another form",
    }),
    ...findKeys(auth, await files.readJson(auth)),
  ];
}

function readConfig(path: string, config: Values): FoundItem[] {
  const create = createItems("opencode", path);
  return Object.entries(config).flatMap(([name, value]): FoundItem[] => {
    switch (name) {
      case "$schema":
        return [];
      case "model":
        return findModel(path, value);
      case "provider":
        return findProviders(path, getRecord(value));
      case "mcp":
        return findServers(path, getRecord(value));
      case "command":
        return findCommands(path, getRecord(value));
      case "agent":
      case "mode":
        return Object.keys(getRecord(value)).map((agent) =>
          create("agents", agent, none("is an agent in opencode's settings: write it as a file, see tau help agents")),
        );
      case "plugin":
        return (Array.isArray(value) ? value : []).map((plugin) =>
          create("packages", String(plugin), none("is a plugin of opencode, which only opencode can run")),
        );
      default:
        return [create("settings", name, none(reasons[name] ?? "has no counterpart here"))];
    }
  });
}

function findModel(path: string, value: unknown): FoundItem[] {
  const source = { tool: "opencode" as const, path, name: "model" };
  const [, provider, model] = /^([^/]+)\/(.+)$/.exec(typeof value === "string" ? value : "") ?? [];
  if (provider === undefined)
    return [createItems("opencode", path)("settings", "model", none("does not name a provider and a model"))];
  return [toSetting(source, "defaultProvider", provider), toSetting(source, "defaultModel", model)];
}

/** `{env:NAME}` is a variable. Any other text that may be a key is not taken. */
const toVariable = (value: unknown, format: (name: string) => string): string | undefined => {
  const name = /^\{env:([A-Za-z_]\w*)\}$/.exec(typeof value === "string" ? value : "")?.[1];
  return name === undefined ? undefined : format(name);
};

function findProviders(path: string, providers: Values): FoundItem[] {
  const create = createItems("opencode", path);
  return Object.entries(providers).flatMap(([id, value]): FoundItem[] => {
    const { npm, name, options, models } = getRecord(value);
    const { baseURL, apiKey } = getRecord(options);
    if (typeof baseURL !== "string") return [create("models", id, none("has no address of its own"))];
    const api = apis[typeof npm === "string" ? npm : "@ai-sdk/openai-compatible"];
    if (api === undefined) return [create("models", id, none("needs a module of opencode to speak to it"))];
    const variable = toVariable(apiKey, (each) => `$${each}`);
    const entry = {
      ...(typeof name === "string" && { name }),
      baseUrl: baseURL,
      api,
      ...(variable !== undefined && { apiKey: variable }),
      models: Object.entries(getRecord(models)).map(([modelId, model]) => toModel(modelId, getRecord(model))),
    };
    const item = create("models", id, { kind: "add", file: "models.json", to: ["providers", id], value: entry });
    if (typeof apiKey !== "string" || apiKey === "" || apiKey.startsWith("{")) return [item];
    return [item, toKey("opencode", path, { provider: id, key: literalKey(apiKey) })];
  });
}

function toModel(id: string, { name, reasoning, attachment, limit, cost }: Values) {
  const { context, output } = getRecord(limit);
  const prices = getRecord(cost);
  const isPrice = (value: unknown): value is number => typeof value === "number" && value >= 0;
  return {
    id,
    ...(typeof name === "string" && { name }),
    ...(typeof reasoning === "boolean" && { reasoning }),
    ...(attachment === true && { input: ["text", "image"] }),
    ...(typeof context === "number" && context > 0 && { contextWindow: context }),
    ...(typeof output === "number" && output > 0 && { maxTokens: output }),
    ...(isPrice(prices["input"]) &&
      isPrice(prices["output"]) && {
        cost: {
          input: prices["input"],
          output: prices["output"],
          ...(isPrice(prices["cache_read"]) && { cacheRead: prices["cache_read"] }),
          ...(isPrice(prices["cache_write"]) && { cacheWrite: prices["cache_write"] }),
        },
      }),
  };
}

/** `{env:NAME}` in any text becomes `${NAME}`. */
const withVariables = (values: Values) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "string"
        ? value.replaceAll(/\{env:([A-Za-z_]\w*)\}/g, (_whole, variable) => `\${${String(variable)}}`)
        : value,
    ]),
  );

function findServers(path: string, servers: Values): FoundItem[] {
  const create = createItems("opencode", path);
  return Object.entries(servers).map(([name, value]) => {
    const { type, command, environment, enabled, url, headers, timeout } = getRecord(value);
    const [program, ...args] = Array.isArray(command) ? (command as unknown[]) : [];
    const more = {
      ...(enabled === false && { enabled }),
      // Milliseconds there, seconds here.
      ...(typeof timeout === "number" && timeout > 0 && { timeout: Math.ceil(timeout / 1_000) }),
    };
    if (type !== "remote" && typeof program === "string") {
      const env = withVariables(getRecord(environment));
      const entry = { command: program, args, ...(Object.keys(env).length > 0 && { env }), ...more };
      return create("mcp", name, { kind: "add", file: "mcp.json", to: ["mcpServers", name], value: entry });
    }
    if (typeof url !== "string") return create("mcp", name, none("has neither a command nor an address"));
    const own = withVariables(getRecord(headers));
    const entry = { url, ...(Object.keys(own).length > 0 && { headers: own }), ...more };
    return create("mcp", name, { kind: "add", file: "mcp.json", to: ["mcpServers", name], value: entry });
  });
}

function findCommands(path: string, commands: Values): FoundItem[] {
  const create = createItems("opencode", path);
  return Object.entries(commands).map(([name, value]) => {
    const { template, description } = getRecord(value);
    if (typeof template !== "string" || !/^[\w.-]+$/.test(name))
      return create("prompts", name, none("has no template, or a name that no file can have"));
    const matter = typeof description === "string" ? `---\ndescription: ${JSON.stringify(description)}\n---\n` : "";
    return create("prompts", name, {
      kind: "write",
      text: `${matter}${template.trimEnd()}\n`,
      to: join("prompts", `${name}.md`),
    });
  });
}

function findKeys(path: string, auth: Values | undefined): FoundItem[] {
  const create = createItems("opencode", path);
  return Object.entries(auth ?? {}).map(([provider, value]) => {
    const { type, key, access, refresh, expires, accountId } = getRecord(value);
    if (type === "api" && typeof key === "string") return toKey("opencode", path, { provider, key: literalKey(key) });
    if (type !== "oauth" || typeof access !== "string" || typeof refresh !== "string" || typeof expires !== "number") {
      return create("keys", provider, none("is not a key or a login that tau knows"));
    }
    // opencode has one name for the keys and the subscriptions of OpenAI.
    const id = provider === "openai" ? "openai-codex" : provider;
    const credential = {
      type: "oauth" as const,
      access,
      refresh,
      expires,
      ...(typeof accountId === "string" && { accountId }),
    };
    return create("keys", id, { kind: "credential", provider: id, credential });
  });
}
