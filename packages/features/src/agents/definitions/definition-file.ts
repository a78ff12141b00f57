/** Reads and writes the files of agents, of the user and of the project. */
import { join } from "node:path";
import { getRealPath, listBuiltInAgents } from "@tau/config/internal";
import type { AgentInfo } from "@tau/extensions";
import { nodeFileSystem, unlessMissing } from "@tau/tools/platform";
import { readTextFile, writeTextFile } from "../../kit/text-file.ts";
import { formatBuiltInAgent } from "./definition-text.ts";

export interface Directories {
  readonly agentDir: string;
  readonly cwd: string;
}

/** Whose agents a file is one of. */
export type DefinitionScope = "user" | "project";

/** A file of an agent as it was read. */
interface DefinitionFile {
  readonly path: string;
  /** Undefined if there is no file yet. */
  readonly text: string | undefined;
}

const getDirectory = ({ agentDir, cwd }: Directories, scope: DefinitionScope): string =>
  scope === "user" ? join(agentDir, "agents") : join(cwd, ".tau", "agents");

export const getDefinitionPath = (directories: Directories, scope: DefinitionScope, name: string): string =>
  join(getDirectory(directories, scope), `${name}.md`);

/** The home directory has no agents of a project: its `.tau` is the user's own. */
export const hasProjectAgents = ({ agentDir, cwd }: Directories): boolean =>
  getRealPath(agentDir) !== getRealPath(join(cwd, ".tau"));

/** The file with the prompt of an agent; undefined for one that comes with tau. */
async function getPromptPath({ path }: Pick<AgentInfo, "path">): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const stats = await unlessMissing(nodeFileSystem.stat(path));
  return stats?.isDirectory() ? join(path, "system-prompt.md") : path;
}

/** Reads the text of an agent, also of one that comes with tau. Throws `HarnessError` if it cannot be read. */
export async function readDefinition(agent: Pick<AgentInfo, "name" | "path">): Promise<DefinitionFile> {
  const path = await getPromptPath(agent);
  if (path !== undefined) return { path, text: await readTextFile(path) };
  const builtIn = listBuiltInAgents().find(({ name }) => name === agent.name);
  return { path: "", text: builtIn && formatBuiltInAgent(builtIn) };
}

/** Writes a new file. Throws `HarnessError` if there is one already, or if it would be outside of the project. */
export async function createDefinition(
  directories: Directories,
  { scope, path, text }: { scope: DefinitionScope; path: string; text: string },
): Promise<void> {
  await writeTextFile({ path, before: undefined, text, ...getBounds(directories, scope) });
}

/** Replaces the text of a file that was read before. Throws `HarnessError` if it has changed since. The target of a link is changed. */
export async function changeDefinition(
  directories: Directories,
  { scope, file, text }: { scope: DefinitionScope; file: DefinitionFile; text: string },
): Promise<void> {
  await writeTextFile({ path: file.path, before: file.text, text, ...getBounds(directories, scope) });
}

/** A file of the user is theirs alone, and may be a link to anywhere. */
const getBounds = ({ cwd }: Directories, scope: DefinitionScope) =>
  scope === "project" ? { within: cwd, mode: 0o644 } : { mode: 0o600 };
