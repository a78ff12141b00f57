/** The tools that a script can call, and the functions with which it finds and describes them. */
import type { AgentTool } from "@tau/agent";
import { asRecord } from "@tau/ai/internal";
import type { ToolInfo } from "@tau/extensions";
import { toDiscoverableTool } from "../kit/tool-search/describe-tools.ts";
import { buildDiscoverableToolSearchIndex, searchDiscoverableTools } from "../kit/tool-search/search-index.ts";
import { type DeclaredTool, declareTool, toIdentifier } from "./declarations.ts";
import type { GuestTool } from "./engine/guest.ts";
import { isReachable } from "./reach.ts";

const maxSummary = 300;
const defaultLimit = 8;
const maxLimit = 100;
const maxQuery = 2_000;

interface ScriptTool extends DeclaredTool {
  readonly info: ToolInfo | undefined;
}

export class ScriptTools {
  readonly #tools: readonly ScriptTool[];

  /** `infos` know more of some of the tools: where they come from, and their guidelines. */
  constructor(callable: readonly AgentTool[], infos: readonly ToolInfo[]) {
    const byName = new Map(infos.map((info) => [info.name, info]));
    this.#tools = callable.filter(isReachable).map((tool) => {
      const info = byName.get(tool.name);
      const { outputSchema } = tool as { outputSchema?: unknown };
      return {
        name: tool.name,
        description: tool.description ?? "",
        parameters: info?.parameters ?? tool.parameters,
        ...(outputSchema !== undefined && { outputSchema }),
        promptGuidelines: info?.promptGuidelines,
        info,
      };
    });
  }

  listForGuest(): GuestTool[] {
    return this.#tools.map(({ name, description }) => ({
      name,
      identifier: toIdentifier(name),
      description: description.slice(0, maxSummary),
    }));
  }

  /** By its name, else by its identifier, which another tool may have as its name. */
  find(name: string): ScriptTool | undefined {
    return (
      this.#tools.find((tool) => tool.name === name) ?? this.#tools.find((tool) => toIdentifier(tool.name) === name)
    );
  }

  /** Answers `searchTools`. Throws for arguments of the wrong kind. */
  search(args: unknown): { name: string; description: string }[] {
    const { query, limit = defaultLimit, namespace } = asRecord(args);
    if (typeof query !== "string") throw new Error("searchTools() takes a text.");
    const count = typeof limit === "number" && limit >= 1 ? Math.min(maxLimit, Math.trunc(limit)) : defaultLimit;
    const tools = namespace === undefined ? this.#tools : this.#tools.filter((tool) => isOf(tool, String(namespace)));
    const index = buildDiscoverableToolSearchIndex(tools.map((tool) => toDiscoverableTool(toInfo(tool))));
    return searchDiscoverableTools(index, query.slice(0, maxQuery), count).map(({ tool: { name } }) => ({
      name,
      description: this.find(name)!.description.slice(0, maxSummary),
    }));
  }

  /** Answers `describeTool`. */
  describe(args: unknown): string | undefined {
    const { name } = asRecord(args);
    const tool = typeof name === "string" ? this.find(name) : undefined;
    return tool && declareTool(tool);
  }

  /** Answers `describeNamespace`. */
  describeNamespace(args: unknown): object | undefined {
    const { name } = asRecord(args);
    const tools = typeof name === "string" ? this.#tools.filter((tool) => isOf(tool, name)) : [];
    const namespace = tools[0]?.info?.namespace;
    if (tools.length === 0) return undefined;
    return {
      name: namespace?.name ?? name,
      ...(namespace?.description !== undefined && { description: namespace.description }),
      ...(namespace?.instructions !== undefined && { instructions: namespace.instructions }),
      tools: tools.map((tool) => tool.name),
    };
  }
}

/** Whether a tool is of a namespace, such as a server, which may be named with or without `mcp__` and as an identifier. */
function isOf({ name, info }: ScriptTool, namespace: string): boolean {
  const wanted = toIdentifier(namespace.replace(/^mcp__/, ""));
  const server = /^mcp__(.+?)__/su.exec(name)?.[1];
  const names = [server, info?.namespace?.name, ...(info?.namespace?.aliases ?? [])];
  return names.some((each) => each !== undefined && toIdentifier(each) === wanted);
}

const toInfo = ({ name, description, parameters, info }: ScriptTool): ToolInfo =>
  info ?? {
    name,
    description,
    parameters,
    exposure: "direct",
    sourceInfo: { path: "", source: "builtin", scope: "user", origin: "top-level" },
  };
