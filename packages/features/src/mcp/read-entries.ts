/** Reads the servers of a session: of the user, of a project that is trusted, of packages, and of extensions. */
import { join } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { parseJsonDocument } from "@tau/config/internal";
import { readTextFile } from "@tau/config/settings";
import type { FeaturePlace } from "@tau/extensions";
import { nodeFileSystem } from "@tau/tools/platform";
import type { McpConfiguration, McpEntryProblem, McpSource } from "./entry.ts";
import { getUserFile, projectFiles } from "../kit/mcp-files.ts";
import { readPackageServers } from "./package-servers.ts";
import { type McpServerList, parseEntries } from "./parse-entries.ts";

interface ReadEntriesOptions extends Pick<FeaturePlace, "cwd" | "agentDir" | "settings"> {
  /** Whether the user trusts the project as it is now. */
  isProjectTrusted: boolean;
  /** The servers of extensions. Those of files and packages have precedence. */
  registered?: readonly McpServerList[];
}

/** Never rejects: what cannot be read is among the problems. */
export async function readEntries(options: ReadEntriesOptions): Promise<McpConfiguration> {
  const { cwd, agentDir, isProjectTrusted, registered = [] } = options;
  const user: McpSource = { scope: "user", path: getUserFile(agentDir) };
  const ofProject = projectFiles.map((name): McpSource => ({ scope: "project", path: join(cwd, name) }));
  // In the home directory one of them is the user's own.
  const sources = [...(isProjectTrusted ? ofProject.filter(({ path }) => path !== user.path) : []), user];
  const [files, ofPackages] = await Promise.all([Promise.all(sources.map(readFile)), readPackageServers(options)]);
  const lists = files.flatMap((file) => ("servers" in file ? [file] : []));
  const unreadable = files.flatMap((file) => ("message" in file ? [file] : []));
  const { entries, problems } = parseEntries([...lists, ...ofPackages, ...registered]);
  return { entries, problems: [...unreadable, ...problems] };
}

async function readFile(source: McpSource): Promise<McpServerList | McpEntryProblem> {
  const file = await readTextFile(nodeFileSystem, source.path);
  if (file.kind === "absent") return { source, servers: undefined };
  if (file.kind === "unreadable") return { source, message: file.message };
  const parsed = await parseJsonDocument(file.text);
  if (parsed.kind === "damaged") {
    const { line, column } = parsed.position;
    return { source, message: `Line ${line}, column ${column}: ${parsed.message}` };
  }
  const { mcpServers } = parsed.value;
  return { source, servers: isRecord(mcpServers) || mcpServers === undefined ? mcpServers : [] };
}
