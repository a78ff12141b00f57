/** Layer 5: hides tools that a session is not to have. It judges no calls; that is done where they are made. */
import type { Layer, PipelineInput, PipelineTool } from "./layer.ts";

export const policyFilter: Layer = (tools, input) => {
  const hide = hiding(input);
  return tools.filter((tool) => {
    const reason = hide(tool);
    if (reason !== undefined) input.report({ name: tool.name, layer: 5, reason });
    return reason === undefined;
  });
};

type Rules = Pick<PipelineInput, "allowed" | "excluded" | "scopes">;

/** Why a tool is hidden; undefined where it is not. Who says nothing of tools or scopes hides nothing. */
function hiding({ allowed, excluded, scopes }: Rules): (tool: PipelineTool) => string | undefined {
  const isAllowed = allowed && new Set(allowed);
  const isExcluded = new Set(excluded);
  return ({ name, requiredScope }) => {
    if (isAllowed && !isAllowed.has(name)) return "It is not among the tools that this session may have.";
    if (isExcluded.has(name)) return "This session excludes it.";
    if (requiredScope === undefined || !scopes || scopes.includes(requiredScope)) return undefined;
    return `It needs the scope ${JSON.stringify(requiredScope)}, which this session does not have.`;
  };
}
