import type { Static, TSchema } from "typebox";
import type { Message } from "./message.ts";

/** A JSON Schema object, as plain data. */
export type JsonSchema = { [key: string]: unknown };

/**
 * What `Tool.parameters` may be: a TypeBox schema, plain JSON Schema, or any Standard Schema that can describe itself
 * as JSON Schema. `schema/adapt.ts` turns all three into plain JSON Schema.
 */
export type ToolParameters = TSchema | JsonSchema;

/** A tool as the model sees it. `parameters` describes an object and is never changed by this package. */
export interface Tool<TParameters extends ToolParameters = ToolParameters> {
  name: string;
  description: string;
  parameters: TParameters;
  /**
   * Ask the provider to hold the model to the schema where it can: `prefer` falls back silently to ordinary calling,
   * `require` reports a diagnostic when it does. Default: ordinary calling.
   */
  strict?: "prefer" | "require";
}

/** The type of a tool's validated arguments. A schema that carries no static type says only that they are an object. */
export type ToolArguments<TParameters extends ToolParameters> = TParameters extends TSchema
  ? unknown extends Static<TParameters>
    ? UntypedArguments
    : Static<TParameters>
  : UntypedArguments;

// oxlint-disable-next-line typescript/no-explicit-any -- there is nothing to know about them here
type UntypedArguments = Record<string, any>;

/** Everything a model is told in one request. */
export interface Context {
  systemPrompt?: string;
  messages: Message[];
  tools?: Tool[];
}
