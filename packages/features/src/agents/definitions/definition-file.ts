/** Reads and writes the files of agents, of the user and of the project. */
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { systemIds } from "@tau/ai";
import { getRealPath, listBuiltInAgents } from "@tau/config/internal";
import type { AgentInfo } from "@tau/extensions";
import { HarnessError } from "@tau/protocol";
import { formatReadFailure, namingFile, readWhole, writeWhole } from "@tau/tools/durable";
import { nodeFileSystem, systemCode, unlessMissing } from "@tau/tools/platform";
import { formatBuiltInAgent } from "./definition-text.ts";

export interface Directories {
  readonly agentDir: string;
  readonly cwd: string;
}

/** Whose agents a file is one of. */
export type DefinitionScope = "user" | "project";

/** A file of an agent as it was read. */
export interface DefinitionFile {
  readonly path: string;
  /** Undefined if there is no file yet. */
  readonly text: string | undefined;
}

/** The largest file that is shown in a dialog; of a larger one, agents have only the beginning. */
const maxBytes = 256 * 1024;

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
  if (path !== undefined) return { path, text: await readText(path) };
  const builtIn = listBuiltInAgents().find(({ name }) => name === agent.name);
  return { path: "", text: builtIn && formatBuiltInAgent(builtIn) };
}

async function readText(path: string): Promise<string | undefined> {
  try {
    const stats = await unlessMissing(nodeFileSystem.stat(path));
    if (!stats) return undefined;
    const bytes = await readWhole(nodeFileSystem, path, maxBytes);
    if (!bytes)
      throw new HarnessError("invalid_input", `${path} is too large to be shown here. Use an editor of files.`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof HarnessError) throw error;
    const code = systemCode(error) ?? "";
    const message =
      code === "ERR_ENCODING_INVALID_ENCODED_DATA"
        ? `${path} is not text in UTF-8. Change it with an editor of files.`
        : formatReadFailure(path, code);
    throw new HarnessError("invalid_input", message, { cause: error });
  }
}

/** Writes a new file. Throws `HarnessError` if there is one already, or if it would be outside of the project. */
export async function createDefinition(
  { cwd }: Directories,
  { scope, path, text }: { scope: DefinitionScope; path: string; text: string },
): Promise<void> {
  if (scope === "project") await mustBeWithin(cwd, path);
  const mode = scope === "project" ? 0o644 : 0o600;
  try {
    const file = { path, bytes: Buffer.from(text), ids: systemIds, mode, replaces: false };
    await namingFile(path, () => writeWhole(nodeFileSystem, file));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    throw new HarnessError("invalid_input", `${path} exists already, so it was not written.`, { cause: error });
  }
}

/** Replaces the text of a file that was read before. Throws `HarnessError` if it has changed since. The target of a link is changed. */
export async function changeDefinition(
  directories: Directories,
  { scope, file, text }: { scope: DefinitionScope; file: DefinitionFile; text: string },
): Promise<void> {
  const { path } = file;
  if (file.text === undefined) return await createDefinition(directories, { scope, path, text });
  if (scope === "project") await mustBeWithin(directories.cwd, path);
  if ((await readText(path)) !== file.text) {
    const message = `${path} was changed meanwhile, so it was not written. Look at it again.`;
    throw new HarnessError("write_failed", message);
  }
  const target = await nodeFileSystem.realpath(path);
  const { mode } = await nodeFileSystem.stat(target);
  const change = { path: target, bytes: Buffer.from(text), ids: systemIds, mode: mode & 0o777 };
  await namingFile(path, () => writeWhole(nodeFileSystem, change));
}

/** A link in a project must not lead a write to other files of the user. */
async function mustBeWithin(cwd: string, path: string): Promise<void> {
  const target = await resolveLinks(path);
  const inside = relative(await nodeFileSystem.realpath(cwd), target);
  if (inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return;
  const message = `${path} leads to ${target}, outside of the project, so it is not written. Change that file yourself.`;
  throw new HarnessError("invalid_input", message);
}

/** Also of a file that does not exist yet. */
async function resolveLinks(path: string): Promise<string> {
  const real = await unlessMissing(nodeFileSystem.realpath(path));
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await resolveLinks(dirname(path)), path.slice(dirname(path).length));
}
