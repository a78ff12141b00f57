/** Tools of extensions as tools of a session. */
import { oncePerPair } from "@tau/ai/internal";
import { noParameters } from "../pipeline/adapt-tool.ts";
import type { PipelineTool } from "../pipeline/layer.ts";
import type { ToolDefinition } from "../api/api.ts";
import type { ExtensionToolContext } from "../api/context.ts";
import type { Extension } from "../api/extension.ts";
import type { Owned } from "../load/conflicts.ts";
import { mustBeData } from "../api/must-be-data.ts";

/** The context of one call of a tool of this extension. */
type CreateToolContext = (
  extension: Extension,
  call: { id: string; signal: AbortSignal | undefined; ports?: ExtensionToolContext["ports"] },
) => ExtensionToolContext;

/** Whether requests list the tool unless the settings say otherwise. */
export const isListed = ({ exposure = "direct" }: Pick<ToolDefinition, "exposure">): boolean =>
  exposure === "direct" || exposure === "model-only";

/** Whether it is shown before anybody asks for it. */
export const isActiveByDefault = (tool: Pick<ToolDefinition, "exposure" | "defaultActive">): boolean =>
  isListed(tool) && tool.defaultActive !== false;

/** Adapts tools. Equal definitions always give the identical tool, so that the pipeline recognises it. */
export function createToolAdapter(createContext: CreateToolContext): (tool: Owned<ToolDefinition>) => PipelineTool {
  const adapt = oncePerPair((tool: ToolDefinition, extension: Extension): PipelineTool => {
    const { annotations, readOnly = annotations?.readOnlyHint ?? false } = tool;
    return {
      ...tool,
      label: tool.label ?? tool.name,
      parameters: tool.parameters ?? noParameters,
      readOnly,
      // Whatever it says: nothing contains the code of an extension.
      isContained: false,
      ...(tool.exposure === "model-only" && { isModelOnly: true }),
      async execute(toolCallId, params, signal, onUpdate, ports) {
        const context = createContext(extension, { id: toolCallId, signal, ...(ports && { ports }) });
        const update: typeof onUpdate = onUpdate && ((partial) => onUpdate(checkDetails(partial)));
        return checkDetails(await tool.execute(toolCallId, params, signal, update, context));
      },
    };
  });
  return ({ definition, extension }) => adapt(definition, extension);
}

function checkDetails<T extends { details?: unknown } | undefined>(result: T): T {
  mustBeData(result?.details, "Its details");
  return result;
}
