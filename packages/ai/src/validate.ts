/** Checks what a model wants to call a tool with, before anything is executed. */
import { Compile } from "#schema-engine";
import type { JsonSchema, Tool, ToolArguments, ToolParameters } from "./context.ts";
import { AiError, getErrorMessage } from "./errors.ts";
import type { ToolCall } from "./message.ts";
import {
  getStandardSchema,
  isToolParameters,
  type StandardIssue,
  type StandardSchema,
  toJsonSchema,
} from "./schema/adapt.ts";
import { unescapeKey } from "./schema/pointer.ts";
import { copyValue, createCoercion, withoutPrototypes } from "./schema/coerce.ts";

/** Finds the tool a call names and validates the call's arguments. Throws `AiError` when either fails. */
export function validateToolCall(tools: readonly Tool[], toolCall: ToolCall): ToolCall["arguments"] {
  const tool = tools.find(({ name }) => name === toolCall.name);
  if (tool) return validateToolArguments(tool, toolCall) as ToolCall["arguments"];
  const known = tools.map(({ name }) => name).join(", ");
  throw new AiError("unknown_tool", `There is no tool ${toolCall.name}. Known tools: ${known || "none"}.`);
}

/**
 * A call's arguments as the tool's schema wants them: a new object with defaults filled in; the call never changes.
 * What a careless model gets wrong without harm is put right: numbers and booleans in quotes and the other way round,
 * null for an optional property, JSON in a string, one thing where a list is wanted. Valid values stay as they are.
 *
 * Throws `AiError` `invalid_arguments`, with a text for the model, or `invalid_schema` when the tool's schema is broken.
 */
export function validateToolArguments<TParameters extends ToolParameters>(
  tool: Tool<TParameters>,
  toolCall: ToolCall,
): ToolArguments<TParameters> {
  if (toolCall.argumentsError !== undefined) throw new AiError("invalid_arguments", toolCall.argumentsError);
  try {
    const { copy, problem } = copyValue(toolCall.arguments);
    if (problem !== undefined) throw new AiError("invalid_arguments", `The arguments for ${tool.name} ${problem}.`);
    const outcome = getValidator(tool)(copy);
    if (outcome.kind === "valid") return outcome.value as ToolArguments<TParameters>;
    throw new AiError("invalid_arguments", explain(tool.name, outcome.problems, toolCall.arguments));
  } catch (error) {
    // A schema of a caller may run its own code, or refer to itself.
    if (error instanceof AiError) throw error;
    const message = `Validating the arguments for ${tool.name} failed: ${getErrorMessage(error)}`;
    throw new AiError("invalid_arguments", message, { cause: error });
  }
}

/** The most problems and the most of the arguments that a text repeats. */
const maxProblems = 20;
const maxEchoLength = 2_000;

function explain(name: string, problems: string[], received: unknown): string {
  const listed = problems.slice(0, maxProblems).map((problem) => `- ${problem}`);
  if (problems.length > maxProblems) listed.push(`- and ${problems.length - maxProblems} more`);
  return `The arguments for ${name} are not valid:\n${listed.join("\n")}\nReceived: ${echo(received)}`;
}

function echo(received: unknown): string {
  try {
    const json = JSON.stringify(received) ?? String(received);
    return json.length <= maxEchoLength ? json : `${json.slice(0, maxEchoLength).toWellFormed()}…`;
  } catch (error) {
    // Only reached with arguments that are not JSON.
    return `(cannot be shown: ${getErrorMessage(error)})`;
  }
}

type Outcome = { kind: "valid"; value: unknown } | { kind: "invalid"; problems: string[] };

/** Takes a copy of the arguments, which it may change. */
type Validator = (received: unknown) => Outcome;

const validators = new WeakMap<object, Validator>();

function getValidator(tool: Tool): Validator {
  if (!isToolParameters(tool.parameters)) {
    throw new AiError("invalid_schema", `The tool ${tool.name} has no schema for its parameters.`);
  }
  const known = validators.get(tool.parameters);
  if (known) return known;
  const standard = getStandardSchema(tool.parameters);
  const validator = standard ? standardValidator(tool, standard) : schemaValidator(tool);
  validators.set(tool.parameters, validator);
  return validator;
}

function schemaValidator(tool: Tool): Validator {
  const schema = toJsonSchema(tool.parameters);
  const { isValid, listErrors } = createSchemaCheck(tool.name, schema);
  const hasDefaults = JSON.stringify(schema).includes('"default":');
  const coerce = createCoercion(schema);
  return (received) => {
    const asItIs = isValid(received);
    if (asItIs && !hasDefaults) return { kind: "valid", value: received };
    const coerced = coerce(copyValue(received).copy, asItIs);
    if (isValid(coerced)) return { kind: "valid", value: coerced };
    // Only reached if a default of the schema is not valid itself.
    if (asItIs) return { kind: "valid", value: received };
    return { kind: "invalid", problems: describeErrors(listErrors(coerced), "(arguments)") };
  };
}

/**
 * Lists what is wrong with a value, at most 20 problems; none if it fits. Nothing is corrected. `name` is what the value is
 * called. Throws `AiError` `invalid_schema` when the schema is broken.
 */
export function findSchemaProblems(name: string, schema: ToolParameters, value: unknown): string[] {
  const { isValid, listErrors } = createSchemaCheck(`the ${name}`, toJsonSchema(schema));
  return isValid(value) ? [] : describeErrors(listErrors(value), `(${name})`).slice(0, maxProblems);
}

function createSchemaCheck(name: string, schema: JsonSchema) {
  const compiled = compile(name, schema);
  const json = JSON.stringify(schema);
  // Only parameters with the names of inherited properties need the slower way.
  const bare = inherited.some((key) => json.includes(`"${key}"`)) ? withoutPrototypes : (value: unknown) => value;
  return {
    isValid: (value: unknown): boolean => compiled.Check(bare(value)),
    listErrors: (value: unknown): SchemaError[] => compiled.Errors(bare(value))[1],
  };
}

function compile(name: string, schema: JsonSchema): ReturnType<typeof Compile> {
  try {
    return Compile(schema);
  } catch (error) {
    throw new AiError("invalid_schema", `The schema of ${name} cannot be used: ${getErrorMessage(error)}`, {
      cause: error,
    });
  }
}

const inherited = Object.getOwnPropertyNames(Object.prototype);

type SchemaError = ReturnType<ReturnType<typeof Compile>["Errors"]>[1][number];

/** `root` stands for the whole value. */
function describeErrors(errors: SchemaError[], root: string): string[] {
  // A schema that is `false` only repeats what another error says better.
  const telling = errors.filter(({ keyword }) => keyword !== "boolean");
  return [...new Set((telling.length > 0 ? telling : errors).map((error) => describeError(error, root)))];
}

function describeError(error: SchemaError, root: string): string {
  const path = error.instancePath.split("/").slice(1).map(unescapeKey);
  return `${describePath(path, root)}: ${error.message}${describeDetails(error)}`;
}

function describeDetails(error: SchemaError): string {
  switch (error.keyword) {
    case "enum":
      return `: ${JSON.stringify(error.params.allowedValues)}`;
    case "const":
      return `: ${JSON.stringify(error.params.allowedValue)}`;
    case "additionalProperties":
      return `: ${error.params.additionalProperties.join(", ")}`;
    default:
      return "";
  }
}

const describePath = (path: readonly string[], root: string): string => (path.length > 0 ? path.join(".") : root);

/** Asks the schema itself; where it can say what it looks like, what it refuses is coerced and asked once more. */
function standardValidator(tool: Tool, standard: StandardSchema): Validator {
  const coerce = standard.jsonSchema === undefined ? undefined : createCoercion(toJsonSchema(tool.parameters));
  return (received) => {
    const asItIs = askStandard(tool.name, standard, copyValue(received).copy);
    if (asItIs.kind === "valid" || !coerce) return asItIs;
    const coerced = askStandard(tool.name, standard, coerce(received, false));
    return coerced.kind === "valid" ? coerced : asItIs;
  };
}

function askStandard(name: string, standard: StandardSchema, value: unknown): Outcome {
  const result = standard.validate(value);
  if ("then" in result) {
    // Its result is not used, so a rejection must not count as unhandled.
    result.catch(() => undefined);
    throw new AiError(
      "invalid_schema",
      `The ${standard.vendor} schema of ${name} validates asynchronously, which a tool's schema cannot do.`,
    );
  }
  if (!result.issues) return { kind: "valid", value: result.value };
  return { kind: "invalid", problems: result.issues.map(describeIssue) };
}

const describeIssue = ({ path = [], message }: StandardIssue): string =>
  `${describePath(
    path.map((part) => String(typeof part === "object" ? part.key : part)),
    "(arguments)",
  )}: ${message}`;
