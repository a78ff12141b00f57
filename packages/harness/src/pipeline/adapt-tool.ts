/** Tools as people give them, made into tools as layers see them. */
import { type JsonSchema, isRecord } from "@tau/ai";
import type { ToolDescription } from "@tau/tools";
import { HarnessError } from "../errors.ts";
import type { GivenTool, InputSchemaTool, PipelineTool } from "./layer.ts";
import { toolResult } from "./tool-result.ts";

const adapted = new WeakMap<object, PipelineTool>();

/**
 * The tool itself where it is complete, else one made of it: from the `inputSchema` form, from an instance of a class,
 * from one that lacks what only people read. The same object always gives the same tool, so who changes a tool gives a
 * new object. Throws `invalid_input` for what is no tool.
 */
export function adaptTool(given: GivenTool): PipelineTool {
  const problem = getProblem(given);
  if (problem !== undefined) throw new HarnessError("invalid_input", `${getName(given)} is not a tool. ${problem}`);
  const before = adapted.get(given);
  if (before) return before;
  const tool = isPipelineTool(given) ? complete(given) : fromInputSchema(given);
  adapted.set(given, tool);
  return tool;
}

/** Why something is no tool, as a sentence; undefined for a tool. */
export function getProblem(given: unknown): string | undefined {
  if (!isRecord(given)) return "A tool is an object with a name and a function `execute`.";
  if (typeof given["name"] !== "string" || given["name"] === "") return "It has no name.";
  return typeof given["execute"] === "function" ? undefined : "It has no function `execute`.";
}

/** What to call something that may be no tool. */
export const getName = (given: unknown): string =>
  isRecord(given) && typeof given["name"] === "string" && given["name"] !== "" ? given["name"] : "(no name)";

const isPipelineTool = (given: GivenTool): given is PipelineTool =>
  (given as Partial<PipelineTool>).parameters !== undefined;

/** Layers and encoders copy tools by their own fields, and a class keeps its methods elsewhere. */
function complete(given: PipelineTool): PipelineTool {
  const { name, label, description, parameters, strict, executionMode, requiredScope } = given;
  const isPlain = Object.getPrototypeOf(given) === Object.prototype;
  if (isPlain && typeof label === "string" && typeof description === "string") return given;
  return {
    ...given,
    name,
    label: label ?? name,
    description: description ?? "",
    parameters,
    ...(strict !== undefined && { strict }),
    ...(executionMode !== undefined && { executionMode }),
    ...(requiredScope !== undefined && { requiredScope }),
    ...(given.prepareArguments && { prepareArguments: (args) => given.prepareArguments!(args) }),
    ...copyDescription(given),
    execute: (...call) => given.execute(...call),
  };
}

function fromInputSchema(given: InputSchemaTool): PipelineTool {
  const { name, label, description, requiredScope, inputSchema } = given;
  return {
    name,
    label: label ?? name,
    description: description ?? "",
    parameters: inputSchema ? objectSchema(inputSchema) : { type: "object", properties: {} },
    ...(requiredScope !== undefined && { requiredScope }),
    ...copyDescription(given),
    async execute(toolCallId, params, signal = new AbortController().signal, _onUpdate, context) {
      return toolResult(await given.execute(params, { ...context, signal, toolCallId }));
    },
  };
}

/** What a tool says about itself. Its functions may be methods that need the tool they belong to. */
function copyDescription(tool: ToolDescription): ToolDescription {
  const { shows, readOnly, promptSnippet, promptGuidelines } = tool;
  return {
    ...(tool.access && { access: (args, cwd) => tool.access!(args, cwd) }),
    ...(tool.summarise && { summarise: (args) => tool.summarise!(args) }),
    ...(tool.touches && { touches: (args) => tool.touches!(args) }),
    ...(shows !== undefined && { shows }),
    ...(readOnly !== undefined && { readOnly }),
    ...(promptSnippet !== undefined && { promptSnippet }),
    ...(promptGuidelines !== undefined && { promptGuidelines }),
  };
}

/** What says its type in another way, or not in JSON Schema. */
const typed = ["type", "$ref", "anyOf", "oneOf", "allOf", "~standard"];

/** Arguments are an object anyway; providers refuse a schema that leaves that to be understood. */
const objectSchema = (schema: JsonSchema): JsonSchema =>
  typed.some((key) => key in schema) ? schema : { type: "object", ...schema };
