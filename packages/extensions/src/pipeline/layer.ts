/** The types of the pipeline: tools as a session accepts them, tools as layers see them, and layers. */
import type { JsonSchema, Model } from "@tau/ai";
import type {
  CommandSandbox,
  DescribedTool,
  SandboxRefusal,
  ToolBinding,
  ToolCallContext,
  ToolContext,
  ToolDescription,
  ToolLifecycle,
} from "@tau/tools";
import type { ToolChoice } from "@tau/config/internal";
import type { DescribeBeside } from "../api/feature.ts";
import type { PrepareLoadout, ToolExposure, ToolNamespace } from "../api/loadout.ts";

/**
 * A tool whose parameters are a plain JSON Schema, and whose result may be any value. It is distinguished from the
 * other form by having no `parameters`.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- a list of tools mixes parameters and results of all kinds
export interface InputSchemaTool<TParams = any, TResult = any>
  extends ToolDescription<TParams>, ToolLifecycle<TParams, TResult> {
  name: string;
  description: string;
  /** The schema of an object. Default: one without properties. */
  inputSchema?: JsonSchema;
  /** For people. Default: the name. */
  label?: string;
  /** A scope that the session must have; see `PipelineInput.scopes`. */
  requiredScope?: string;
  /** `parallel`: its calls neither wait for the others of an answer nor are waited for. Default: the session's order. */
  executionMode?: PipelineTool["executionMode"];
  /** Returns what the model reads: a text as it is, a result with `content` as it is, all else as JSON. */
  execute(params: TParams, context: ToolContext): TResult | Promise<TResult>;
}

/** A tool as a layer sees it. */
export interface PipelineTool extends DescribedTool, ToolLifecycle {
  /** The tool itself, where a session accompanies its calls. */
  origin?: PipelineTool;
  /** Its `execute` takes a `ToolContext`. */
  usesContext?: boolean;
  /** Shown only to a session that serves a channel, or whose tools or allowed tools name it. Default false. */
  isForChannels?: boolean;
  /** A scope that the session must have; see `PipelineInput.scopes`. */
  requiredScope?: string;
  /** Other names that a call of it may have. */
  aliases?: readonly string[];
  /** It finds or calls tools that requests do not list; see `FeatureTool.describeForFound`. */
  isForFound?: boolean;
  /** Tools that are executed must not call it; the model may. */
  isModelOnly?: boolean;
  /** See `FeatureTool.describeBeside`. */
  describeBeside?: DescribeBeside;
  /** See `ToolDefinition` for these. */
  exposure?: ToolExposure;
  namespace?: ToolNamespace;
  prepareLoadout?: PrepareLoadout;
}

/** A tool in either form that a session accepts. */
export type GivenTool = PipelineTool | InputSchemaTool;

/** The tools and facts that a channel gives to a session that serves it. */
export interface ChannelBinding extends ToolBinding {
  /** Their methods are given the rest of the binding in their context. */
  tools: readonly GivenTool[];
}

/** The actions of the tools of layer 3. */
export interface HarnessActions {
  /** Makes a session that continues from an entry, by default the last before the answer with the call; answers with its id. */
  branch(entryId: string | undefined, toolCallId: string): Promise<string>;
  /** The last entries, one line for each, beginning with its id. */
  listEntries(): Promise<readonly string[]>;
  /** Goes to an entry of this session when the run is over. */
  navigate(entryId: string): Promise<void>;
  /** Reads settings and resources again; answers with what changed. */
  reload(): Promise<readonly string[]>;
  /** Ends the run after the calls of this answer. */
  interrupt(reason: string): void;
}

export interface StoppedToolCall {
  readonly toolCallId: string;
  readonly tool: PipelineTool;
  readonly args: unknown;
  readonly refused: SandboxRefusal;
}

type NextTry =
  /** `sandbox`: undefined runs it outside. `note`: what is different, for the model. */
  | { readonly kind: "again"; readonly sandbox: CommandSandbox | undefined; readonly note: string }
  | { readonly kind: "denied"; readonly message?: string };

/** Asks a person. Never rejects. */
export type AskNextTry = (call: StoppedToolCall, signal: AbortSignal) => Promise<NextTry>;

/** Where the processes of a session's tools run. */
export interface ToolSandbox extends CommandSandbox {
  /** Asks what to do after the sandbox stopped a command. Absent: nothing is done, and the call fails. */
  readonly askNextTry?: AskNextTry;
}

/** A tool that a layer took out, and why, for people. */
export interface DroppedTool {
  name: string;
  layer: number;
  reason: string;
  /** The tool itself, if it is valid: it can be shown again. */
  tool?: PipelineTool;
}

/** Everything the layers decide on. */
export interface PipelineInput {
  /** The built-in tools, or those that the session was given instead. */
  base: readonly GivenTool[];
  /** Tools of layer 3 that the session has also without a channel, by name. */
  requested: readonly string[];
  /** Tools that the session was given in addition. */
  custom: readonly GivenTool[];
  /** The choices of a named agent for single tools: whether they are on, and defaults of their arguments. */
  choices: readonly ToolChoice[];
  actions: HarnessActions;
  binding: ChannelBinding | undefined;
  /** Only these, by name; undefined means all. */
  allowed: readonly string[] | undefined;
  excluded: readonly string[];
  /** Undefined means that scopes are not asked for. */
  scopes: readonly string[] | undefined;
  /** The model that is sent the tools. */
  model: Pick<Model, "api" | "provider" | "id" | "compat">;
  /** Aborts when the session ends. */
  signal: AbortSignal;
  /** Creates the context of a call by its id: its files and processes have the permissions of that call alone. */
  createCallContext: (toolCallId: string) => ToolCallContext;
  /** Where tools start processes. Undefined: where their options say. */
  sandbox: ToolSandbox | undefined;
  lifecycles: LifecyclePort;
  report: (dropped: DroppedTool) => void;
}

/** Gives layers what they need to know of the methods that accompany a tool. */
export interface LifecyclePort {
  /** The tool whose calls are accompanied by its methods; always the same one of the same tool. */
  bind(tool: PipelineTool): PipelineTool;
  /** Why a tool could not be loaded, as a sentence; undefined if it could, or was not asked to. */
  getFailure(given: GivenTool): string | undefined;
}

/**
 * A step from the tools of a session to those that a model is shown. Called when the pipeline is built, never for a call.
 */
export type Layer = (tools: readonly PipelineTool[], input: PipelineInput) => PipelineTool[];
