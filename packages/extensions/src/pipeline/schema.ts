/**
 * Layer 6: removes the tools that the model's API cannot express, since one of them would make every request invalid. A
 * tool's own `parameters` stay as they are: arguments are validated against them, and requests normalise them.
 */
import { type JsonSchema, type KnownApi, type Model } from "@tau/ai";
import { isRecord, oncePer } from "@tau/ai/internal";
import { hideParameters } from "./hide-parameters.ts";
import type { Layer, PipelineTool } from "./layer.ts";
import { wireSchema } from "./wire-schema.ts";

export const expressibleTools: Layer = (tools, { model, report }) =>
  hideParameters(tools).filter((tool) => {
    const reason = inexpressible(tool, model);
    if (reason !== undefined) report({ name: tool.name, layer: 6, reason, tool });
    return reason === undefined;
  });

interface Dialect {
  /** The names that a tool may have. */
  names: RegExp;
  /** Describes the names, for people. */
  nameRule: string;
  /** It also accepts parameters that do not tell their type. */
  guessesType?: true;
}

const plain: Dialect = {
  names: /^[a-zA-Z0-9_-]{1,64}$/,
  nameRule: "at most 64 letters, digits, underscores and hyphens",
};
const anthropic: Dialect = {
  names: /^[a-zA-Z0-9_-]{1,128}$/,
  nameRule: "at most 128 letters, digits, underscores and hyphens",
};
const google: Dialect = {
  names: /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/,
  nameRule: "a letter or an underscore, then at most 127 letters, digits, underscores, hyphens, dots and colons",
  guessesType: true,
};

const dialects: Readonly<Record<KnownApi, Dialect>> = {
  "anthropic-messages": anthropic,
  "openai-completions": plain,
  "openai-responses": plain,
  "azure-openai-responses": plain,
  "openai-codex-responses": plain,
  "google-generative-ai": google,
  "google-vertex": google,
  "mistral-conversations": plain,
  "bedrock-converse-stream": plain,
};

/** Any other API: what it refuses is not known. */
const unknown: Dialect = { names: /^/, nameRule: "anything", guessesType: true };

/** Why a tool cannot be offered to a model, as a sentence; undefined where it can. */
function inexpressible({ name, parameters }: PipelineTool, model: Pick<Model, "api" | "id" | "compat">) {
  if (model.compat?.supportsTools === false) return `${model.id} does not take tools.`;
  const dialect = Object.hasOwn(dialects, model.api) ? dialects[model.api as KnownApi] : unknown;
  if (!dialect.names.test(name)) return `Its name is not accepted by ${model.api}, which takes ${dialect.nameRule}.`;
  const wire = wireSchema(parameters);
  if (wire.kind === "inexpressible") return wire.reason;
  return isObjectSchema(wire.schema, dialect)
    ? tooDeep(wire.schema)
    : `Its parameters do not describe an object; give them "type": "object".`;
}

function isObjectSchema({ type }: JsonSchema, { guessesType }: Dialect): boolean {
  if (type === "object") return true;
  return guessesType === true && (type === undefined || (Array.isArray(type) && type.includes("object")));
}

/** A level of a schema is up to two of JSON, and no model needs 64 levels of a schema. */
const maxDepth = 128;

/** Once for each schema: many sessions have the same tools. */
const tooDeep = oncePer((root: JsonSchema): string | undefined => {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return `Its parameters are nested deeper than ${maxDepth} levels.`;
    level = level.flatMap((part) =>
      Object.values(part as object).filter((inner) => isRecord(inner) || Array.isArray(inner)),
    );
  }
  return undefined;
});
