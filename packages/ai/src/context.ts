import type { Message } from "./message.ts";
import type { SchemaType } from "./schema/schema-type.ts";

/** A JSON Schema object, as plain data. */
export type JsonSchema = { [key: string]: unknown };

/**
 * A TypeBox schema, plain JSON Schema, or any Standard Schema that can describe itself as JSON Schema: the type of
 * `Tool.parameters`. `schema/adapt.ts` turns all three into plain JSON Schema.
 */
export type ToolParameters = object;

/** A tool as the model sees it. `parameters` describes an object and is never changed by this package. */
export interface Tool<TParameters extends ToolParameters = ToolParameters> {
  name: string;
  description: string;
  parameters: TParameters;
  /**
   * Asks the provider to enforce the schema. If it cannot, `prefer` falls back silently to normal tool calling and
   * `require` falls back with a diagnostic. Default: normal tool calling.
   */
  strict?: "prefer" | "require";
}

/**
 * The type of a tool's validated arguments. For a schema without a static type it is a plain object, and for any schema
 * (`any`, as in a list of tools) it is any value, so that tools with typed arguments fit.
 */
export type ToolArguments<TParameters extends ToolParameters> = unknown extends TParameters
  ? // oxlint-disable-next-line typescript/no-explicit-any -- the arguments of any tool
    any
  : unknown extends SchemaType<TParameters>
    ? UntypedArguments
    : SchemaType<TParameters>;

// oxlint-disable-next-line typescript/no-explicit-any -- the schema carries no static type
type UntypedArguments = Record<string, any>;

/** The prompt of one request. */
export interface Context {
  systemPrompt?: string;
  messages: Message[];
  tools?: Tool[];
}
