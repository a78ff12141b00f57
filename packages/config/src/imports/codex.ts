/** Reads the files of codex: `~/.codex`. */
import { join } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { literalKey } from "../auth/key-value.ts";
import { createItems, findFiles, findPrompts, findSkills, none, toInstructions, toKey } from "./common.ts";
import type { FoundItem } from "./found-item.ts";
import { toSetting } from "./setting-items.ts";
import type { ToolFiles } from "./tool-files.ts";
import type { ToolLocation } from "./tool-locations.ts";

type Values = Readonly<Record<string, unknown>>;

/** Why settings have no counterpart. */
const reasons: Readonly<Record<string, string>> = {
  sandbox_mode: "is chosen by tau itself: see tau help security",
  sandbox_workspace_write: "is in another form: see the setting sandbox",
  projects: "is about trust, which you give here yourself: tau trust",
  profiles: "has no counterpart here",
  notify: "is a program of codex: see the setting terminal.notifications",
};

const apis: Readonly<Record<string, string>> = { responses: "openai-responses", chat: "openai-completions" };

export async function readCodex(files: ToolFiles, { root }: ToolLocation): Promise<FoundItem[]> {
  const at = (name: string) => join(root, name);
  const config = (await files.readToml(at("config.toml"))) ?? {};
  const override = await files.readText(at("AGENTS.override.md"));
  const hooks = await files.readJson(at("hooks.json"));
  return [
    ...findSettings(at("config.toml"), config),
    ...findProviders(at("config.toml"), config),
    ...(override === undefined
      ? toInstructions("codex", at("AGENTS.md"), await files.readText(at("AGENTS.md")))
      : toInstructions("codex", at("AGENTS.override.md"), override)),
    // Those that codex brings itself are in `.system`.
    ...findSkills("codex", await files.list(at("skills"))),
    ...findPrompts("codex", await files.list(at("prompts"))),
    ...findFiles("codex", "agents", await files.list(at("agents")), {
      ending: /\.toml$/,
      reason: "is an agent in codex's form: write it as a file, see tau help agents",
    }),
    ...[...Object.keys(getRecord(config["hooks"])), ...Object.keys(getRecord(hooks?.["hooks"]))].map((name) =>
      createItems("codex", at("config.toml"))("hooks", name, none("is a hook, and tau has none yet")),
    ),
    ...findServers(at("config.toml"), config["mcp_servers"]),
    ...findKeys(at("auth.json"), await files.readJson(at("auth.json"))),
  ];
}

const getRecord = (value: unknown): Values => (isRecord(value) ? value : {});

function findSettings(path: string, config: Values): FoundItem[] {
  const create = createItems("codex", path);
  return Object.entries(config).flatMap(([name, value]): FoundItem[] => {
    const source = { tool: "codex" as const, path, name };
    switch (name) {
      case "mcp_servers":
      case "model_providers":
      case "model_provider":
      case "hooks":
        return [];
      case "model":
        return [
          toSetting(source, "defaultProvider", config["model_provider"] ?? "openai"),
          toSetting(source, "defaultModel", value),
        ];
      case "model_reasoning_effort":
        return [toSetting(source, "defaultThinkingLevel", value === "none" ? "off" : value)];
      case "hide_agent_reasoning":
        return [toSetting(source, "hideThinkingBlock", value)];
      case "approval_policy":
        return value === "untrusted"
          ? [toSetting(source, "policy.permissionMode", "ask")]
          : [create("settings", name, none("is a mode that you choose yourself: see tau help permissions"))];
      default:
        return [create("settings", name, none(reasons[name] ?? "has no counterpart here"))];
    }
  });
}

function findProviders(path: string, config: Values): FoundItem[] {
  const create = createItems("codex", path);
  return Object.entries(getRecord(config["model_providers"])).map(([id, value]) => {
    const provider = getRecord(value);
    const api = apis[typeof provider["wire_api"] === "string" ? provider["wire_api"] : "chat"];
    if (typeof provider["base_url"] !== "string" || api === undefined) {
      return create("models", id, none("has no address, or an API that tau does not know"));
    }
    // codex asks for any model; here those that its configuration names are listed.
    const profiles = Object.values(getRecord(config["profiles"])).map(getRecord);
    const names = [config, ...profiles]
      .filter((profile) => (profile["model_provider"] ?? config["model_provider"]) === id)
      .map((profile) => profile["model"])
      .filter((model): model is string => typeof model === "string");
    const models = [...new Set(names)].map((model) => ({ id: model }));
    const headers = {
      ...withoutSecretNames(getRecord(provider["http_headers"])),
      ...Object.fromEntries(
        Object.entries(getRecord(provider["env_http_headers"])).map(([name, variable]) => [
          name,
          `$${String(variable)}`,
        ]),
      ),
    };
    const entry = {
      ...(typeof provider["name"] === "string" && { name: provider["name"] }),
      baseUrl: provider["base_url"],
      api,
      ...(typeof provider["env_key"] === "string" && { apiKey: `$${provider["env_key"]}` }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(models.length > 0 && { models }),
    };
    return create("models", id, { kind: "add", file: "models.json", to: ["providers", id], value: entry });
  });
}

/** Values are text there, and would be variables and commands here. */
const withoutSecretNames = (headers: Values) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && !/auth|key|token|secret|cookie/i.test(name) ? [[name, literalKey(value)]] : [],
    ),
  );

function findServers(path: string, servers: unknown): FoundItem[] {
  const create = createItems("codex", path);
  return Object.entries(getRecord(servers)).map(([name, value]) => {
    const server = getRecord(value);
    const { command, args, env, cwd, url, enabled, bearer_token_env_var: token } = server;
    if (typeof command !== "string" && typeof url !== "string") {
      return create("mcp", name, none("has neither a command nor an address"));
    }
    const variables = Array.isArray(server["env_vars"])
      ? server["env_vars"].filter((each) => typeof each === "string")
      : [];
    const environment = { ...getRecord(env), ...Object.fromEntries(variables.map((each) => [each, `\${${each}}`])) };
    const headers = {
      ...getRecord(server["http_headers"]),
      ...Object.fromEntries(
        Object.entries(getRecord(server["env_http_headers"])).map(([header, variable]) => [
          header,
          `\${${String(variable)}}`,
        ]),
      ),
      ...(typeof token === "string" && { Authorization: `Bearer \${${token}}` }),
    };
    const timeout = server["tool_timeout_sec"];
    const entry = {
      ...(typeof command === "string" && { command, ...(Array.isArray(args) && { args: args as unknown[] }) }),
      ...(Object.keys(environment).length > 0 && { env: environment }),
      ...(typeof cwd === "string" && { cwd }),
      ...(typeof url === "string" && { url }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(enabled === false && { enabled }),
      ...(typeof timeout === "number" && timeout > 0 && { timeout }),
    };
    return create("mcp", name, { kind: "add", file: "mcp.json", to: ["mcpServers", name], value: entry });
  });
}

function findKeys(path: string, auth: Values | undefined): FoundItem[] {
  const items: FoundItem[] = [];
  const key = auth?.["OPENAI_API_KEY"];
  if (typeof key === "string" && key !== "")
    items.push(toKey("codex", path, { provider: "openai", key: literalKey(key) }));
  const { access_token: access, refresh_token: refresh, account_id: accountId } = getRecord(auth?.["tokens"]);
  if (typeof access === "string" && typeof refresh === "string") {
    // It expired long ago, so it is renewed before it is used.
    const credential = {
      type: "oauth" as const,
      access,
      refresh,
      expires: 0,
      ...(typeof accountId === "string" && { accountId }),
    };
    items.push(
      createItems("codex", path)("keys", "openai-codex", { kind: "credential", provider: "openai-codex", credential }),
    );
  }
  return items;
}
