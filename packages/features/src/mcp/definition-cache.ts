/** Definitions of servers on the disk, by the hash of their entry, so that a search in a new session starts no server. */
import { readFile } from "node:fs/promises";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { nodeFileSystem } from "@tau/tools/platform";
import { writeWhole } from "@tau/tools/durable";
import { type McpDefinitions, type McpResource, parsePrompts, parseResources, parseTools } from "./definitions.ts";

const getDirectory = (agentDir: string): string => join(agentDir, "cache", "mcp");

const getFile = (agentDir: string, hash: string): string => join(getDirectory(agentDir), `${hash}.json`);
const getResourceFile = (agentDir: string, hash: string): string =>
  join(getDirectory(agentDir), `${hash}-resources.json`);

/** The directory that a server may write to. What is cached of it is beside it, where the server cannot change it. */
export function makeServerCache(agentDir: string, hash: string): string {
  const directory = join(getDirectory(agentDir), hash);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** Undefined without a cache that can be read. What is in it is checked as if the server had sent it. */
export async function readDefinitions(agentDir: string, hash: string): Promise<McpDefinitions | undefined> {
  const value = await readJson(getFile(agentDir, hash));
  if (!isRecord(value) || !Array.isArray(value["tools"]) || !Array.isArray(value["prompts"])) return undefined;
  return {
    tools: parseTools(value["tools"]).definitions,
    prompts: parsePrompts(value["prompts"]).definitions,
    hasResources: value["hasResources"] === true,
  };
}

export async function writeDefinitions(agentDir: string, hash: string, definitions: McpDefinitions): Promise<void> {
  const { tools, prompts, hasResources } = definitions;
  await writeJson(agentDir, getFile(agentDir, hash), { tools, prompts, hasResources });
}

/** Reads which resources a server had when they were last listed. Undefined without a cache that can be read. */
export async function readResources(agentDir: string, hash: string): Promise<readonly McpResource[] | undefined> {
  const value = await readJson(getResourceFile(agentDir, hash));
  return isRecord(value) && Array.isArray(value["resources"]) ? parseResources(value["resources"]) : undefined;
}

export async function writeResources(agentDir: string, hash: string, resources: readonly McpResource[]): Promise<void> {
  await writeJson(agentDir, getResourceFile(agentDir, hash), { resources });
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text === undefined ? undefined : tryParseJson(text);
}

async function writeJson(agentDir: string, path: string, value: object): Promise<void> {
  mkdirSync(getDirectory(agentDir), { recursive: true });
  await writeWhole(nodeFileSystem, { path, bytes: Buffer.from(`${JSON.stringify(value)}\n`), ids: systemIds });
}
