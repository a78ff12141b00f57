/** The servers of a session: the table, with the changes of settings and files. */
import { join } from "node:path";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { parseFields, flag, jsonObject, list, nonEmptyText, optional } from "@tau/config/fields";
import { parseJsonDocument, parseYaml } from "@tau/config/internal";
import { readTextFile } from "@tau/config/settings";
import { nodeFileSystem } from "@tau/tools/platform";
import { type ServerDefinition, serverTable } from "./server-table.ts";

/** The changes of one server, as settings and files write them. */
export interface ServerChanges {
  command?: string | undefined;
  args?: readonly string[] | undefined;
  fileTypes?: readonly string[] | undefined;
  rootMarkers?: readonly string[] | undefined;
  initOptions?: unknown;
  settings?: Readonly<Record<string, unknown>> | undefined;
  disabled?: boolean | undefined;
  isLinter?: boolean | undefined;
}

export interface ServerConfig {
  readonly servers: readonly ServerDefinition[];
  /** Errors in the configuration, a sentence each. */
  readonly problems: readonly string[];
}

interface ConfigOptions {
  cwd: string;
  agentDir: string;
  isProjectTrusted: boolean;
  /** `lsp.servers` of the settings. They win over files. */
  settings: Readonly<Record<string, ServerChanges>>;
}

/** Files with servers, in a directory. The second is used if the first does not exist. */
const fileNames = ["lsp.json", "lsp.yml"] as const;

/** Never rejects: what cannot be read is among the problems. */
export async function readServerConfig(options: ConfigOptions): Promise<ServerConfig> {
  const { cwd, agentDir, isProjectTrusted, settings } = options;
  const directories = [agentDir, ...(isProjectTrusted ? [join(cwd, ".tau")] : [])];
  const paths = directories.flatMap((directory) => fileNames.map((name) => join(directory, name)));
  const files = await Promise.all(paths.map(readServerFile));
  return combineServers([...files, { changes: settings, problems: [] }]);
}

interface ServerFile {
  changes: Readonly<Record<string, ServerChanges>>;
  problems: readonly string[];
}

async function readServerFile(path: string): Promise<ServerFile> {
  const fail = (problem: string): ServerFile => ({ changes: {}, problems: [`${path}: ${problem}`] });
  const file = await readTextFile(nodeFileSystem, path);
  if (file.kind === "absent") return { changes: {}, problems: [] };
  if (file.kind === "unreadable") return fail(file.message);
  try {
    const value = path.endsWith(".yml") ? await readYaml(path, file.text) : await readJson(file.text);
    return parseServers(path, value);
  } catch (error) {
    return fail(getErrorMessage(error));
  }
}

async function readJson(text: string): Promise<unknown> {
  const parsed = await parseJsonDocument(text);
  if (parsed.kind !== "damaged") return parsed.value;
  const { line, column } = parsed.position;
  throw new Error(`Line ${line}, column ${column}: ${parsed.message}`);
}

async function readYaml(path: string, text: string): Promise<unknown> {
  const parsed = await parseYaml(path, text);
  if (parsed.kind === "invalid") throw new Error(parsed.problem.message);
  const { root } = parsed;
  return root.kind === "map" ? Object.fromEntries([...root.entries].map(([name, { value }]) => [name, value])) : {};
}

const fields = {
  command: optional(nonEmptyText),
  args: optional(list(nonEmptyText)),
  fileTypes: optional(list(nonEmptyText)),
  rootMarkers: optional(list(nonEmptyText)),
  settings: optional(jsonObject),
  disabled: optional(flag),
  isLinter: optional(flag),
};

/** Reads `{ servers: { NAME: … } }`, or the servers alone. Pure. */
function parseServers(path: string, value: unknown): ServerFile {
  const servers = isRecord(value) && isRecord(value["servers"]) ? value["servers"] : (value ?? {});
  if (!isRecord(servers)) return { changes: {}, problems: [`${path}: There is no object with servers in it.`] };
  const changes: [string, ServerChanges][] = [];
  const problems: string[] = [];
  for (const [name, entry] of Object.entries(servers)) {
    const parsed = parseFields(fields, entry);
    const initOptions = isRecord(entry) ? entry["initOptions"] : undefined;
    if (parsed.kind === "wrong") problems.push(`${path}: The server ${name}: ${parsed.message}`);
    else changes.push([name, { ...parsed.values, ...(initOptions !== undefined && { initOptions }) }]);
  }
  return { changes: Object.fromEntries(changes), problems };
}

/** Later files win, field by field. New servers come first, since a person wants them. Pure. */
export function combineServers(files: readonly ServerFile[]): ServerConfig {
  const merged = new Map<string, ServerChanges>();
  for (const { changes } of files) {
    for (const [name, change] of Object.entries(changes)) {
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      merged.set(name, { ...merged.get(name), ...Object.fromEntries(given) });
    }
  }
  const problems = files.flatMap((file) => file.problems);
  const own: ServerDefinition[] = [];
  for (const [name, change] of merged) {
    if (serverTable.some((known) => known.name === name) || change.disabled) continue;
    const { command, fileTypes } = change;
    if (command === undefined || fileTypes === undefined)
      problems.push(`The language server ${name} is not known, so it needs a command and fileTypes.`);
    else own.push(applyChanges({ name, command, args: [], fileTypes, rootMarkers: [], install: "" }, change));
  }
  const known = serverTable.flatMap((definition) => {
    const change = merged.get(definition.name);
    if (!change) return [definition];
    return change.disabled ? [] : [applyChanges(definition, change)];
  });
  return { servers: [...own, ...known], problems };
}

function applyChanges(
  definition: ServerDefinition,
  { disabled: _disabled, ...changes }: ServerChanges,
): ServerDefinition {
  const { needsPackage, ...rest } = definition;
  // A person who names another program knows what it is.
  const keepsProgram = changes.command === undefined || changes.command === definition.command;
  return { ...rest, ...(keepsProgram && needsPackage && { needsPackage }), ...changes } as ServerDefinition;
}
