/** Readers of things that several programs keep in the same form. */
import { join } from "node:path";
import { isRecord } from "@tau/ai/internal";
import type { FoundItem, ImportAction, ImportKind, ImportTool } from "./found-item.ts";
import { parseFrontMatter } from "../resources/front-matter.ts";
import type { ToolEntry, ToolFiles } from "./tool-files.ts";

/** Creates items of one file. */
export const createItems =
  (tool: ImportTool, path: string) =>
  (kind: ImportKind, name: string, action: ImportAction): FoundItem => ({ tool, kind, name, path, action });

export const none = (reason: string): ImportAction => ({ kind: "none", reason });

/** Markdown files of a directory, as prompt templates. */
export const findPrompts = (tool: ImportTool, entries: readonly ToolEntry[]): FoundItem[] =>
  findMarkdown(tool, "prompts", entries);

/** Markdown files of a directory, as agents. Their front matter is read as it is. */
export async function findAgents(
  tool: ImportTool,
  entries: readonly ToolEntry[],
  files: Pick<ToolFiles, "readText">,
): Promise<FoundItem[]> {
  const found = findMarkdown(tool, "agents", entries);
  return await Promise.all(
    found.map(async (item) => ((await hasPolicy(item.path, files)) ? withoutPolicy(item) : item)),
  );
}

/** In the agent directory, a file may loosen the policy, which the other program does not know. */
async function hasPolicy(path: string, files: Pick<ToolFiles, "readText">): Promise<boolean> {
  const { fields } = await parseFrontMatter(path, (await files.readText(path)) ?? "");
  return fields?.has("policy") ?? false;
}

const withoutPolicy = (item: FoundItem): FoundItem => ({
  ...item,
  action: none("It names a policy. Copy it to the directory agents yourself if its sessions shall have that."),
});

const findMarkdown = (tool: ImportTool, kind: "prompts" | "agents", entries: readonly ToolEntry[]): FoundItem[] =>
  entries
    .filter(({ name, isDirectory }) => !isDirectory && name.endsWith(".md"))
    .map(({ name, path }) => ({
      tool,
      kind,
      name: name.slice(0, -".md".length),
      path,
      action: { kind: "copy", from: path, to: join(kind, name), isDirectory: false },
    }));

/** Directories with a skill each. */
export const findSkills = (tool: ImportTool, entries: readonly ToolEntry[]): FoundItem[] =>
  entries
    .filter(({ name, isDirectory }) => isDirectory && !name.startsWith("."))
    .map(({ name, path }) => ({
      tool,
      kind: "skills",
      name,
      path,
      action: { kind: "copy", from: path, to: join("skills", name), isDirectory: true },
    }));

export const findFiles = (
  tool: ImportTool,
  kind: ImportKind,
  entries: readonly ToolEntry[],
  { ending, reason }: { ending: RegExp; reason: string },
): FoundItem[] =>
  entries
    .filter(({ name }) => ending.test(name) && !name.startsWith("."))
    .map(({ name, path }) => ({ tool, kind, name: name.replace(ending, ""), path, action: none(reason) }));

/** Instructions for every session; only one file of the agent directory applies. */
export const toInstructions = (tool: ImportTool, path: string, text: string | undefined): FoundItem[] =>
  text === undefined || text.trim() === ""
    ? []
    : [{ tool, kind: "instructions", name: "AGENTS.md", path, action: { kind: "write", text, to: "AGENTS.md" } }];

const serverKeys = "command args env cwd url headers oauth type enabled description timeout".split(" ");

/** Servers under `mcpServers`, in the form that most programs share. */
export function findServers(tool: ImportTool, path: string, servers: unknown): FoundItem[] {
  const create = createItems(tool, path);
  return Object.entries(isRecord(servers) ? servers : {}).map(([name, value]) => {
    const entry = isRecord(value) ? value : {};
    const isUsable = typeof entry["command"] === "string" || typeof entry["url"] === "string";
    if (!isUsable) return create("mcp", name, none("has neither a command nor an address"));
    const known = Object.fromEntries(Object.entries(entry).filter(([key]) => serverKeys.includes(key)));
    // A server that is turned off there stays so.
    const kept = entry["disabled"] === true ? { enabled: false, ...known } : known;
    return create("mcp", name, { kind: "add", file: "mcp.json", to: ["mcpServers", name], value: kept });
  });
}

/** Providers in pi's form. A key that is written out is brought only when it is asked for by name. */
export function findProviders(tool: ImportTool, path: string, providers: unknown): FoundItem[] {
  const create = createItems(tool, path);
  return Object.entries(isRecord(providers) ? providers : {}).flatMap(([name, value]): FoundItem[] => {
    if (!isRecord(value)) return [create("models", name, none("is not an object"))];
    const { apiKey, headers, ...rest } = value;
    const config = {
      ...rest,
      ...(isReference(apiKey) && { apiKey }),
      ...(isRecord(headers) && { headers: withoutSecrets(headers) }),
    };
    const item = create("models", name, { kind: "add", file: "models.json", to: ["providers", name], value: config });
    if (typeof apiKey !== "string" || isReference(apiKey)) return [item];
    return [item, toKey(tool, path, { provider: name, key: apiKey })];
  });
}

/** Whether a written key is a variable or a command, and not the key itself. */
export const isReference = (value: unknown): boolean => typeof value === "string" && /^[!$]/.test(value);

const withoutSecrets = (headers: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => isReference(value) || !/auth|key|token|secret|cookie/i.test(name),
    ),
  );

export const toKey = (
  tool: ImportTool,
  path: string,
  { provider, key }: { provider: string; key: string },
): FoundItem => ({
  tool,
  kind: "keys",
  name: provider,
  path,
  action: { kind: "credential", provider, credential: { type: "api_key", key } },
});
