/** Definitions of servers on the disk, by the hash of their entry, so that a search in a new session starts no server. */
import { readFile } from "node:fs/promises";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { nodeFileSystem } from "@tau/tools/platform";
import { writeWhole } from "@tau/tools/durable";
import { type McpDefinitions, parsePrompts, parseTools } from "./definitions.ts";

const getDirectory = (agentDir: string): string => join(agentDir, "cache", "mcp");

const getFile = (agentDir: string, hash: string): string => join(getDirectory(agentDir), `${hash}.json`);

/** The directory that a server may write to. What is cached of it is beside it, where the server cannot change it. */
export function makeServerCache(agentDir: string, hash: string): string {
  const directory = join(getDirectory(agentDir), hash);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** Undefined without a cache that can be read. What is in it is checked as if the server had sent it. */
export async function readDefinitions(agentDir: string, hash: string): Promise<McpDefinitions | undefined> {
  const text = await readFile(getFile(agentDir, hash), "utf8").catch(() => undefined);
  const value = text === undefined ? undefined : tryParseJson(text);
  if (!isRecord(value) || !Array.isArray(value["tools"]) || !Array.isArray(value["prompts"])) return undefined;
  return {
    tools: parseTools(value["tools"]).definitions,
    prompts: parsePrompts(value["prompts"]).definitions,
    hasResources: value["hasResources"] === true,
  };
}

export async function writeDefinitions(agentDir: string, hash: string, definitions: McpDefinitions): Promise<void> {
  mkdirSync(getDirectory(agentDir), { recursive: true });
  const { tools, prompts, hasResources } = definitions;
  const bytes = Buffer.from(`${JSON.stringify({ tools, prompts, hasResources })}\n`);
  await writeWhole(nodeFileSystem, { path: getFile(agentDir, hash), bytes, ids: systemIds });
}
