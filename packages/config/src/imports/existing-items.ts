/** Looks at what an import could collide with. */
import { join } from "node:path";
import { orUndefined } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";
import { contextFileNames } from "../resources/context-files.ts";
import { getEntryId } from "../installs/locate-source.ts";
import { getPackageEntries } from "../installs/package-settings.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { FoundItem } from "./found-item.ts";
import type { ExistingItems } from "./plan.ts";
import { ToolFiles, type UnreadPath } from "./tool-files.ts";

export interface ReadExistingOptions {
  agentDir: string;
  settings: SettingsManager;
  items: readonly FoundItem[];
  credentials: ReadonlySet<string>;
  keybindings: ReadonlySet<string>;
}

/** `problems` are files that cannot be read, so that nothing can be added to them. */
export async function readExisting({
  agentDir,
  settings,
  items,
  ...known
}: ReadExistingOptions): Promise<ExistingItems & { problems: readonly UnreadPath[] }> {
  const files = new ToolFiles();
  const read = async (name: string) => (await files.readJson(join(agentDir, name))) ?? {};
  const targets = items.flatMap(({ action }) => (action.kind === "copy" || action.kind === "write" ? [action.to] : []));
  const paths = new Set<string>();
  for (const path of [...contextFileNames, ...targets]) {
    if (await orUndefined(nodeFileSystem.lstat(join(agentDir, path)))) paths.add(path);
  }
  // One context file of a directory applies.
  if (contextFileNames.some((name) => paths.has(name))) for (const name of contextFileNames) paths.add(name);
  return {
    ...known,
    settings: await read("settings.json"),
    files: {
      "models.json": await read("models.json"),
      "mcp.json": await read("mcp.json"),
      "keybindings.json": await read("keybindings.json"),
    },
    paths,
    packages: new Set(getPackageEntries(settings).user.flatMap((entry) => getEntryId(entry) ?? [])),
    problems: files.problems,
  };
}
