/** Layer 5: hides tools that a session must not have. It judges no calls: the judge does. */
import type { Layer, PipelineInput, PipelineTool } from "./layer.ts";
import { createNameMatcher } from "@tau/policy/internal";

export const policyFilter: Layer = (tools, input) => {
  const getReason = createFilter(input);
  return tools.filter((tool) => {
    const reason = getReason(tool);
    if (reason !== undefined) input.report({ name: tool.name, layer: 5, reason, tool });
    return reason === undefined;
  });
};

type Rules = Pick<PipelineInput, "allowed" | "requested" | "excluded" | "scopes" | "binding">;

/** A function that says why a tool is hidden; undefined where it is not. Without lists or scopes, only tools for channels are hidden. */
function createFilter({
  allowed,
  requested,
  excluded,
  scopes,
  binding,
}: Rules): (tool: PipelineTool) => string | undefined {
  const isAllowed = allowed && createNameMatcher(allowed);
  const isExcluded = createNameMatcher(excluded);
  const named = new Set([...requested, ...(allowed ?? [])]);
  return ({ name, requiredScope, isForChannels = false }) => {
    if (isAllowed && !isAllowed(name)) return "It is not among the tools that this session may have.";
    if (isExcluded(name)) return "This session excludes it.";
    if (isForChannels && !binding && !named.has(name)) return "It is for sessions that serve a channel.";
    if (requiredScope === undefined || !scopes || scopes.includes(requiredScope)) return undefined;
    return `It needs the scope ${JSON.stringify(requiredScope)}, which this session does not have.`;
  };
}
