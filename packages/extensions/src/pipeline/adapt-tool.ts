/** Turns the tools that a session accepts into tools as layers see them. */
import { type JsonSchema } from "@tau/ai";
import { isRecord, isToolParameters, oncePer, withoutUndefined } from "@tau/ai/internal";
import type { ToolDescription, ToolLifecycle } from "@tau/tools";
import { HarnessError } from "@tau/protocol";
import type { GivenTool, InputSchemaTool, PipelineTool } from "./layer.ts";
import { createFacilities } from "./tool-facilities.ts";
import { toolResult } from "./tool-result.ts";

/**
 * The tool itself where it is complete, else one made of it: of the `inputSchema` form, of an instance of a class, of a
 * tool without label or description. The same object always gives the same tool, so a changed tool must be a new object.
 * Throws `invalid_input` for a value that is not a tool.
 */
export function adaptTool(source: GivenTool): PipelineTool {
  checkTool(source);
  return adapt(source);
}

/** Throws `invalid_input` for a value that is not a tool. */
export function checkTool(value: unknown): void {
  const problem = getProblem(value);
  if (problem !== undefined) throw new HarnessError("invalid_input", `${getName(value)} is not a tool. ${problem}`);
}

/** The schema of a tool that does not say which parameters it has. */
export const noParameters: JsonSchema = { type: "object", properties: {} };

const adapt = oncePer((source: GivenTool): PipelineTool =>
  isPipelineTool(source) ? complete(source) : fromInputSchema(source),
);

/** Why a value is not a tool, as a sentence; undefined for a tool. */
export function getProblem(value: unknown): string | undefined {
  if (!isRecord(value)) return "A tool is an object with a name and a function `execute`.";
  if (typeof value["name"] !== "string" || value["name"] === "") return "It has no name.";
  if (typeof value["execute"] !== "function") return "It has no function `execute`.";
  if (typeof (value["description"] ?? "") !== "string") return "Its description is not a text.";
  const schema = value["parameters"] ?? value["inputSchema"] ?? noParameters;
  if (!isToolParameters(schema)) return "Its parameters are not a schema.";
  return Array.isArray(value["promptGuidelines"] ?? []) ? undefined : "Its `promptGuidelines` are not a list.";
}

/** The name of a value that may not be a tool, for messages. */
export const getName = (value: unknown): string =>
  isRecord(value) && typeof value["name"] === "string" && value["name"] !== "" ? value["name"] : "(no name)";

const isPipelineTool = (source: GivenTool): source is PipelineTool =>
  (source as Partial<PipelineTool>).parameters !== undefined;

/** Layers and encoders copy tools by their own fields, and an instance has its methods on the prototype. */
function complete(source: PipelineTool): PipelineTool {
  const { name, label, description, parameters, strict, executionMode, requiredScope } = source;
  const isPlain = Object.getPrototypeOf(source) === Object.prototype;
  if (isPlain && typeof label === "string" && typeof description === "string") return source;
  return {
    ...source,
    name,
    label: label ?? name,
    description: description ?? "",
    parameters,
    ...withoutUndefined({ strict, executionMode, requiredScope }),
    ...(source.prepareArguments && { prepareArguments: (args) => source.prepareArguments!(args) }),
    ...copyDescription(source),
    ...copyLifecycle(source),
    execute: (...call) => source.execute(...call),
  };
}

function fromInputSchema(source: InputSchemaTool): PipelineTool {
  const { name, label, description, requiredScope, executionMode, inputSchema } = source;
  return {
    name,
    label: label ?? name,
    description: description ?? "",
    parameters: inputSchema ? objectSchema(inputSchema) : noParameters,
    ...withoutUndefined({ requiredScope, executionMode }),
    ...copyDescription(source),
    ...copyLifecycle(source),
    usesContext: true,
    async execute(toolCallId, params, signal = new AbortController().signal, _onUpdate, context) {
      return toolResult(
        await source.execute(params, { ...createFacilities(() => {}), ...context, signal, toolCallId }),
      );
    },
  };
}

/** Copies a tool's description of itself. Its functions may be methods that need the tool they belong to. */
function copyDescription(tool: ToolDescription): ToolDescription {
  const { shows, readOnly, needsApproval, parameterNeeds, promptSnippet, promptGuidelines } = tool;
  return {
    ...(typeof needsApproval === "function"
      ? { needsApproval: (args) => needsApproval.call(tool, args) }
      : withoutUndefined({ needsApproval })),
    ...(tool.access && { access: (args, cwd) => tool.access!(args, cwd) }),
    ...(tool.summarise && { summarise: (args) => tool.summarise!(args) }),
    ...(tool.touches && { touches: (args) => tool.touches!(args) }),
    ...withoutUndefined({ shows, readOnly, parameterNeeds, promptSnippet, promptGuidelines }),
  };
}

function copyLifecycle(tool: ToolLifecycle): ToolLifecycle {
  return {
    ...(tool.onLoad && { onLoad: (context) => tool.onLoad!(context) }),
    ...(tool.beforeInvoke && { beforeInvoke: (params, context) => tool.beforeInvoke!(params, context) }),
    ...(tool.afterInvoke && { afterInvoke: (result, context) => tool.afterInvoke!(result, context) }),
    ...(tool.onUnload && { onUnload: (context) => tool.onUnload!(context) }),
  };
}

/** Keywords with which a schema tells its type in another way, or not in JSON Schema. */
const typed = ["type", "$ref", "anyOf", "oneOf", "allOf", "~standard"];

/** Arguments are always an object, and providers refuse a schema that does not say so. */
const objectSchema = (schema: JsonSchema): JsonSchema =>
  typed.some((key) => key in schema) ? schema : { type: "object", ...schema };
