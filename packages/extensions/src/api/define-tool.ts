/** Defines a tool from a schema that types its arguments. */
import type { AgentToolResult, AgentToolUpdate } from "@tau/agent";
import type { OutputOf, OutputSchema, StandardSchemaOf, ToolArguments, ToolParameters } from "@tau/ai";
import {
  checkOutput,
  describeOutput,
  findOutputFault,
  toJsonSchema,
  untilAborted,
  withoutUndefined,
} from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import type { DescribedTool, ToolContext, ToolDescription } from "@tau/tools";
import { noParameters } from "../pipeline/adapt-tool.ts";
import type { PipelineTool } from "../pipeline/layer.ts";
import { isResult, toolResult } from "../pipeline/tool-result.ts";

/** A Standard Schema that can describe itself as JSON Schema (zod 4.2, arktype, valibot by its converter), TypeBox, or plain JSON Schema. */
export type InputSchema = StandardSchemaOf<unknown> | ToolParameters;

/** The type of the arguments that fit a schema. JSON Schema has one if its literal types are known. */
export type InputOf<Schema> =
  Schema extends StandardSchemaOf<infer Value> ? Value : Schema extends object ? ToolArguments<Schema> : never;

/** Passed to `execute` besides the arguments. */
export interface ToolCallScope extends Partial<ToolContext> {
  /** Aborts when the run does. Pass it on to everything that takes time. */
  readonly signal: AbortSignal;
  readonly toolCallId: string;
  /** Shows people how far the call is, as a text or with details for surfaces. The model does not read it. */
  readonly progress: (update: string | (Partial<AgentToolUpdate> & { progressPercent?: number })) => void;
}

export interface ToolOptions<Input extends InputSchema, Output extends OutputSchema> extends Omit<
  ToolDescription<InputOf<Input>>,
  "parameterNeeds"
> {
  name: string;
  description: string;
  /** For people. Default: the name. */
  label?: string;
  /** The schema of an object. Default: one without properties. */
  input?: Input;
  /** Makes `execute` return what fits it, which reaches programs and scripts of the model as data. Default: anything. */
  output?: Output;
  /** `parallel`: its calls neither wait for the others of an answer nor are waited for. Default: the session's order. */
  executionMode?: NonNullable<PipelineTool["executionMode"]>;
  /** See `PipelineInput.scopes`. */
  requiredScope?: string;
  /**
   * Returns what the model reads: a text as it is, a result with `content` as it is, all else as JSON. A call whose `execute`
   * throws has failed, and the model reads the message.
   */
  execute: (args: InputOf<Input>, scope: ToolCallScope) => ToolReturn<Output> | Promise<ToolReturn<Output>>;
}

type ToolReturn<Output extends OutputSchema> = unknown extends OutputOf<Output> ? unknown : OutputOf<Output>;

/** A tool for `@tau/agent`, sessions and extensions. */
export interface DefinedTool extends DescribedTool {
  /** See `PipelineTool`. */
  readonly usesContext: true;
  readonly requiredScope?: string;
  /** The schema of its structured results as JSON Schema, if that can be described. */
  readonly outputSchema?: unknown;
}

/**
 * Creates a tool. Throws `invalid_input` for an input that cannot be shown to a model and an output that nothing can fit, so that the error is found where it is
 * written and not when a model is first asked.
 */
export function defineTool<
  const Input extends InputSchema = Record<string, never>,
  Output extends OutputSchema = Record<string, never>,
>(options: ToolOptions<Input, Output>): DefinedTool {
  const { input, output, execute, name, label = name, ...description } = options;
  const parameters = (input ?? noParameters) as ToolParameters;
  checkSchema(name, parameters);
  const fault = output && findOutputFault(output);
  if (fault !== undefined)
    throw new HarnessError("invalid_input", `The output schema of the tool ${name} cannot be used: ${fault}`);
  const outputSchema = output && describeOutput(output);
  return {
    ...description,
    name,
    label,
    parameters,
    usesContext: true,
    ...withoutUndefined({ outputSchema }),
    async execute(toolCallId, args, signal = new AbortController().signal, onUpdate, context) {
      const scope: ToolCallScope = {
        ...context,
        signal,
        toolCallId,
        progress: (update) => onUpdate?.(toUpdate(update)),
      };
      const value = await execute(args as InputOf<Input>, scope);
      return output ? await toStructuredResult(name, output, { value, signal }) : toolResult(value);
    },
  };
}

function checkSchema(name: string, parameters: ToolParameters): void {
  try {
    toJsonSchema(parameters);
  } catch (error) {
    const advice =
      "Use a Standard Schema that describes itself as JSON Schema (zod 4.2 or newer, arktype, or toStandardJsonSchema of @valibot/to-json-schema), TypeBox, or plain JSON Schema.";
    const message = `The input of the tool ${name} cannot be shown to a model. ${advice}`;
    throw new HarnessError("invalid_input", message, { cause: error });
  }
}

function toUpdate(update: Parameters<ToolCallScope["progress"]>[0]): AgentToolUpdate {
  if (typeof update === "string") return { content: [{ type: "text", text: update }], updateType: "progress" };
  return { content: [], updateType: "progress", ...update };
}

/** A result that the tool wrote itself has its data in `structuredContent`. */
async function toStructuredResult(
  name: string,
  schema: OutputSchema,
  { value, signal }: { value: unknown; signal: AbortSignal },
): Promise<AgentToolResult> {
  const isOwn = isResult(value);
  if (isOwn && value.isError) return value;
  // Code of the schema checks it, which may take as long as it likes.
  const checked = await untilAborted(checkOutput(schema, isOwn ? value.structuredContent : value), signal);
  if (checked.kind === "aborted")
    throw new HarnessError("aborted", `The result of ${name} was not checked, because the call was aborted.`);
  const check = checked.value;
  if (check.kind === "unfit")
    throw new HarnessError("invalid_input", `The result of ${name} does not fit its schema: ${check.problem}`);
  return { ...(isOwn ? value : toolResult(check.value)), structuredContent: check.value };
}
