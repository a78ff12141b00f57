/** Reads the files of oh-my-pi: `~/.omp/agent`. Much of it is as pi has it, in YAML. */
import { join } from "node:path";
import {
  createItems,
  findAgents,
  findFiles,
  findPrompts,
  findProviders,
  findServers,
  findSkills,
  none,
  toInstructions,
} from "./common.ts";
import type { FoundItem } from "./found-item.ts";
import { findOmpRules } from "./omp-rules.ts";
import { findOmpModels, findOmpRoles } from "./omp-models.ts";
import { findOwnSettings } from "./setting-items.ts";
import type { ToolFiles } from "./tool-files.ts";
import type { ToolLocation } from "./tool-locations.ts";

export async function readOmp(files: ToolFiles, { root }: ToolLocation): Promise<FoundItem[]> {
  const at = (name: string) => join(root, name);
  const readEither = async (yaml: string, json: string) => {
    const value = await files.readYaml(at(yaml));
    return value ? { path: at(yaml), value } : { path: at(json), value: (await files.readJson(at(json))) ?? {} };
  };
  const config = await readEither("config.yml", "settings.json");
  const keys = await readEither("keybindings.yml", "keybindings.json");
  const servers = await files.readJson(at("mcp.json"));
  const script = { ending: /\.[jt]s$|$/, reason: "is written for oh-my-pi, which runs on Bun" };
  return [
    ...findOwnSettings("omp", config.path, config.value, { skips: ["modelRoles"] }),
    ...findOmpRoles(config.path, config.value["modelRoles"]),
    ...(files.exists(at("models.yml"))
      ? await findOmpModels(files, at("models.yml"))
      : findProviders("omp", at("models.json"), (await files.readJson(at("models.json")))?.["providers"])),
    ...toInstructions("omp", at("AGENTS.md"), await files.readText(at("AGENTS.md"))),
    ...(await findOmpRules(files, await files.list(at("rules")))),
    ...findSkills("omp", await files.list(at("skills"))),
    ...findPrompts("omp", await files.list(at("prompts"))),
    ...findPrompts("omp", await files.list(at("commands"))),
    ...(await findAgents("omp", await files.list(at("agents")), files)),
    ...findFiles(
      "omp",
      "hooks",
      [...(await files.list(at("hooks/pre"))), ...(await files.list(at("hooks/post")))],
      script,
    ),
    ...findFiles(
      "omp",
      "packages",
      [...(await files.list(at("extensions"))), ...(await files.list(at("tools")))],
      script,
    ),
    ...findServers("omp", at("mcp.json"), servers?.["mcpServers"]),
    ...Object.entries(keys.value).map(([id, value]) =>
      createItems("omp", keys.path)("keybindings", id, { kind: "add", file: "keybindings.json", to: [id], value }),
    ),
    ...findFiles("omp", "themes", await files.list(at("themes")), {
      ending: /\.json$/,
      reason: "has colors that only oh-my-pi has",
    }),
    ...(files.exists(at("agent.db"))
      ? [
          createItems("omp", at("agent.db"))(
            "keys",
            "agent.db",
            none("is a database that only oh-my-pi reads: log in here with tau auth login"),
          ),
        ]
      : []),
  ];
}
