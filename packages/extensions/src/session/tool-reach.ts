/** Decides how a model reaches a tool: in the list of each request, with a search, or not at all. Pure. */
import { createNameMatcher, isServerTool } from "@tau/policy/internal";
import type { Settings } from "@tau/config/settings";
import type { ToolDefinition } from "../api/api.ts";

type DiscoveryMode = Settings["tools"]["discoveryMode"];

type ToolReach = "listed" | "found" | "none";

export interface ReachRules {
  mode: DiscoveryMode;
  /** The tools that a person, an agent file or an extension names; `*` stands for any text. */
  names: readonly string[];
  /** Whether the session has the tools that find and call others. */
  canSearch: boolean;
  /** Whether there are so many tools of extensions that requests should not list them. */
  hasManyTools: boolean;
}

/** From so many tools of extensions on, a search replaces their list. */
const maxListedTools = 40;

export const isMany = (toolCount: number): boolean => toolCount > maxListedTools;

export const resolveDiscoveryMode = ({ tools, mcp }: Pick<Settings, "tools" | "mcp">): DiscoveryMode =>
  mcp.discoveryMode && tools.discoveryMode !== "all" ? "mcp-only" : tools.discoveryMode;

/** Creates the decision for all tools of a session: names are matched often. */
export function createReach(
  rules: ReachRules,
): (tool: Pick<ToolDefinition, "name" | "exposure" | "defaultActive">, origin: "extension" | "feature") => ToolReach {
  const { mode, names, canSearch, hasManyTools } = rules;
  const isNamed = createNameMatcher(names.filter((name) => !isEveryTool(name)));
  return ({ name, exposure = "direct", defaultActive = true }, origin) => {
    switch (exposure) {
      case "hidden":
        return "none";
      case "codemode":
      case "deferred": {
        if (isNamed(name) || mode === "off" || (mode === "mcp-only" && !isServerTool(name))) return "listed";
        return canSearch ? "found" : "none";
      }
      case "direct":
      case "model-only": {
        if (names.includes(name)) return "listed";
        if (!defaultActive) return "none";
        // Named with a pattern, it stays where the person expects it.
        const isReplaceable = origin === "extension" && exposure === "direct" && canSearch && !isNamed(name);
        return isReplaceable && (mode === "all" || (mode === "auto" && hasManyTools)) ? "found" : "listed";
      }
      default:
        exposure satisfies never;
        return "none";
    }
  };
}

/** Whether a pattern allows every tool, and so names none. */
export const isEveryTool = (pattern: string): boolean => /^\*+$/.test(pattern);
