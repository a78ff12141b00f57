/** The static description of a feature. Its code is loaded when something of it is first used. */
import type { ExtensionFactory, ToolDefinition } from "./api.ts";

/** The description of a tool of a feature. Its `execute` is in the code that `Feature.load` gives. */
export type FeatureTool = Pick<
  ToolDefinition,
  | "name"
  | "label"
  | "description"
  | "parameters"
  | "access"
  | "touches"
  | "shows"
  | "readOnly"
  | "summarise"
  | "promptSnippet"
  | "promptGuidelines"
  | "executionMode"
  | "exposure"
>;

export interface FeatureCommand {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
}

/**
 * A capability beyond the core, written against the API of extensions. Its names give way: a tool or a slash command of an
 * extension with the same name is used instead.
 */
export interface Feature {
  /** For the setting `features.NAME`, and for people. */
  readonly name: string;
  /** A sentence for people. */
  readonly summary: string;
  readonly tools?: readonly FeatureTool[];
  readonly commands?: readonly FeatureCommand[];
  /** Loads the code, which must register the tools and the commands of the description. */
  load(): Promise<ExtensionFactory>;
}

/** A feature whose code was loaded. */
export interface LoadedFeature {
  readonly name: string;
  readonly factory: ExtensionFactory;
}
