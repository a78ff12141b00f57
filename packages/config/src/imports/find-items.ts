/** Finds what other programs have on this machine. */
import { existsSync } from "node:fs";
import type { FileSystem } from "@tau/tools/platform";
import { getRealPath } from "../settings/locate.ts";
import { readClaudeCode } from "./claude-code.ts";
import { readCodex } from "./codex.ts";
import type { FoundItem, ImportTool } from "./found-item.ts";
import { readOmp } from "./omp.ts";
import { readOpencode } from "./opencode.ts";
import { readPi } from "./pi.ts";
import { ToolFiles, type UnreadPath } from "./tool-files.ts";
import type { ToolLocation } from "./tool-locations.ts";

const readers: Readonly<Record<ImportTool, (files: ToolFiles, location: ToolLocation) => Promise<FoundItem[]>>> = {
  pi: readPi,
  "claude-code": readClaudeCode,
  codex: readCodex,
  opencode: readOpencode,
  omp: readOmp,
};

/** Finds the programs that were used here. tau's own directory is none of them, even if it is pi's too. A few looks at the disk. */
export const findUsedTools = (locations: readonly ToolLocation[], agentDir: string): ToolLocation[] =>
  locations.filter(
    ({ root, dataRoot = root, stateFile = root }) =>
      [root, dataRoot, stateFile].some((path) => existsSync(path)) && getRealPath(root) !== getRealPath(agentDir),
  );

export interface FoundItems {
  items: FoundItem[];
  problems: (UnreadPath & { tool: ImportTool })[];
}

/** Writes nothing and contacts no server. A file that cannot be read is a problem, and the rest is found. */
export async function findItems(locations: readonly ToolLocation[], fs?: FileSystem): Promise<FoundItems> {
  const found: FoundItems = { items: [], problems: [] };
  for (const location of locations) {
    const files = new ToolFiles(fs);
    found.items.push(...(await readers[location.tool](files, location)));
    found.problems.push(...files.problems.map((problem) => ({ ...problem, tool: location.tool })));
  }
  return found;
}
