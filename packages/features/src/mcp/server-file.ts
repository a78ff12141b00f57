/** Changes the entries in a file of servers, and leaves everything else in it as it is. */
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { createFileSource, editText, parseJsonDocument } from "@tau/config/internal";
import { keepTrust } from "@tau/config/trust";
import { HarnessError } from "@tau/protocol";
import { nodeFileSystem } from "@tau/tools/platform";
import type { McpSource } from "./entry.ts";
import { getUserFile, projectFiles } from "../kit/mcp-files.ts";

export interface Directories {
  agentDir: string;
  cwd: string;
}

/** The file into which servers are written: the user's own, or tau's file of the project. */
export const getServerFile = ({ agentDir, cwd }: Directories, scope: "user" | "project"): string =>
  scope === "user" ? getUserFile(agentDir) : join(cwd, projectFiles[0]!);

/** An entry as it is written; undefined removes it, and undefined in it removes a key. */
export type EntryChange = Readonly<Record<string, unknown>> | undefined;

/**
 * Changes the entry of a name. `read` is called with the entry as it is, and throws to change nothing. Trust in the project that was
 * there before stays. Throws `HarnessError` if the file is damaged or cannot be written.
 */
export async function changeEntry(
  directories: Directories,
  { scope, path, name }: { scope: McpSource["scope"]; path: string; name: string },
  change: (entry: unknown) => EntryChange,
): Promise<void> {
  const { agentDir, cwd } = directories;
  const location = { directory: dirname(path), cwd, home: homedir() };
  const ports = { fileSystem: nodeFileSystem, clock: systemClock, ids: systemIds };
  const source = createFileSource({
    path,
    location,
    mode: 0o600,
    ...(scope === "project" && { within: cwd }),
    ...ports,
  });
  const rewrite = async () =>
    await source.rewrite(async (text) => {
      const servers = text.trim() === "" ? {} : await readServers(path, text);
      const before = Object.hasOwn(servers, name) ? servers[name] : undefined;
      return await editText(text, { mcpServers: { [name]: change(before) } });
    });
  if (scope === "project") await keepTrust({ agentDir, cwd, ids: systemIds }, rewrite, { trustsNew: true });
  else await rewrite();
}

async function readServers(path: string, text: string): Promise<Record<string, unknown>> {
  const parsed = await parseJsonDocument(text);
  if (parsed.kind === "damaged") {
    const { line, column } = parsed.position;
    throw new HarnessError("write_failed", `${path}:${line}:${column}: ${parsed.message} Correct the file first.`);
  }
  const { mcpServers = {} } = parsed.value;
  if (isRecord(mcpServers)) return mcpServers;
  throw new HarnessError("write_failed", `${path}: mcpServers is not an object. Correct the file first.`);
}
