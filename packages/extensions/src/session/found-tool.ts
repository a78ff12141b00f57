/** Tools that a model finds with a search, and how they are described. */
import type { SourceInfo, ToolDefinition, ToolInfo } from "../api/api.ts";
import type { ExtensionSource } from "../api/extension.ts";
import type { PipelineTool } from "../pipeline/layer.ts";

export interface FoundTool {
  readonly tool: PipelineTool;
  readonly info: ToolInfo;
  /** The extension or the feature that has it. */
  readonly owner: { readonly kind: "extension" | "feature"; readonly name: string };
  /** See `FeatureTool.isFoundBeside`. */
  readonly isFoundBeside?: boolean;
}

/** The tools of extensions and features, by how a model reaches them. */
export interface ReachedTools {
  readonly listed: readonly PipelineTool[];
  readonly found: readonly FoundTool[];
}

export const toFoundTool = (
  definition: Omit<ToolDefinition, "execute">,
  tool: PipelineTool,
  { name, origin, info }: Pick<ExtensionSource, "name" | "origin" | "info">,
): FoundTool => ({
  tool,
  info: describeTool(definition, info),
  owner: { kind: origin === "feature" ? "feature" : "extension", name },
});

export function describeTool(tool: Omit<ToolDefinition, "execute">, sourceInfo: SourceInfo): ToolInfo {
  const { name, label, description, parameters, promptGuidelines, namespace, annotations, reachesTools } = tool;
  return {
    name,
    ...(label !== undefined && { label }),
    description,
    parameters,
    exposure: tool.exposure ?? "direct",
    sourceInfo,
    ...(promptGuidelines && { promptGuidelines }),
    ...(namespace && { namespace }),
    ...(annotations && { annotations }),
    ...(reachesTools && { reachesTools }),
  };
}
