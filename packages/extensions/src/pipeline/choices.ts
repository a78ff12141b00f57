/** Applies the options that a named agent sets for single tools: defaults of their arguments. Pure. */
import { isAiError, validateToolArguments } from "@tau/ai";
import { didYouMean, isRecord, oncePerPair } from "@tau/ai/internal";
import type { ToolChoice } from "@tau/config/internal";
import type { PipelineTool } from "./layer.ts";
import { wireSchema } from "./wire-schema.ts";

/** An option that is ignored: its tool has no such parameter, or one that does not take the value. */
interface ChoiceProblem {
  tool: string;
  option: string;
  /** A whole sentence for a person. */
  message: string;
}

type Options = ToolChoice["options"];

/** The options that are set for these tools and ignored. */
export const choiceProblems = (tools: readonly PipelineTool[], choices: readonly ToolChoice[]): ChoiceProblem[] =>
  choices.flatMap(({ name, options }) => {
    const tool = tools.find((candidate) => candidate.name === name);
    return tool ? judge(options, tool).problems : [];
  });

/** A tool whose arguments have the options for defaults; the tool itself where none of them fits. */
export const withOptions = (tool: PipelineTool, options: Options): PipelineTool =>
  judge(options, tool).defaults.length > 0 ? defaulted(options, tool) : tool;

interface Judged {
  defaults: [option: string, value: unknown][];
  problems: ChoiceProblem[];
}

/** Once, because a value is checked by the engine that validates arguments, which is slow to start. */
const judge = oncePerPair((options: Options, tool: PipelineTool): Judged => {
  const properties = getProperties(tool);
  const judged: Judged = { defaults: [], problems: [] };
  for (const [option, value] of Object.entries(options)) {
    const message = problemWith({ tool: tool.name, option, value, properties });
    if (message === undefined) judged.defaults.push([option, value]);
    else judged.problems.push({ tool: tool.name, option, message });
  }
  return judged;
});

interface Setting {
  tool: string;
  option: string;
  value: unknown;
  properties: Record<string, unknown>;
}

function problemWith({ tool, option, value, properties }: Setting): string | undefined {
  const quoted = JSON.stringify(option);
  if (!Object.hasOwn(properties, option)) {
    const hint = didYouMean(option, Object.keys(properties));
    return `${tool} has no parameter ${quoted}; its value is ignored.${hint}`;
  }
  if (takes(properties[option], value)) return undefined;
  return `The parameter ${quoted} of ${tool} does not take the value that is set for it, which is ignored.`;
}

function takes(property: unknown, value: unknown): boolean {
  // The target of a reference is outside of the property. The validation of each call checks whether the value fits.
  if (/"\$(ref|dynamicRef)"/.test(JSON.stringify(property))) return true;
  const parameters = { type: "object", properties: { value: property }, required: ["value"] };
  const asked = { type: "toolCall" as const, id: "", name: "option", arguments: { value } };
  try {
    validateToolArguments({ name: "option", description: "", parameters }, asked);
    return true;
  } catch (error) {
    if (isAiError(error)) return error.code !== "invalid_arguments";
    throw error;
  }
}

const defaulted = oncePerPair((options: Options, tool: PipelineTool): PipelineTool => {
  const { defaults } = judge(options, tool);
  const properties = getProperties(tool);
  const takesNull = new Set(defaults.map(([option]) => option).filter((option) => mentionsNull(properties[option])));
  return {
    ...tool,
    // After the tool's own preparation, which knows other names for the same argument.
    prepareArguments(args) {
      const prepared: unknown = tool.prepareArguments ? tool.prepareArguments(args) : args;
      // Arguments that are not an object are refused by the validation.
      if (!isRecord(prepared)) return prepared as Record<string, unknown>;
      const isLeftOut = (option: string) =>
        !Object.hasOwn(prepared, option) ||
        prepared[option] === undefined ||
        // Where every parameter is required, a model leaves one out with null.
        (prepared[option] === null && !takesNull.has(option));
      const missing = defaults.filter(([option]) => isLeftOut(option));
      return missing.length === 0 ? prepared : { ...prepared, ...Object.fromEntries(missing) };
    },
  };
});

function getProperties({ parameters }: PipelineTool): Record<string, unknown> {
  const wire = wireSchema(parameters);
  const properties = wire.kind === "schema" ? wire.schema["properties"] : undefined;
  return isRecord(properties) ? properties : {};
}

/** May be true too often: null is then left to the tool. */
const mentionsNull = (property: unknown): boolean => /null/.test(JSON.stringify(property));
