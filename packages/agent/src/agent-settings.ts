import {
  type Clock,
  type SimpleStreamOptions,
  streamSimple,
  systemClock,
  type ThinkingBudgets,
  type Transport,
} from "@tau/ai";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentLoopConfig, StreamFn, ToolExecutionMode } from "./types.ts";

/** The settings of an agent; all are optional. */
export interface AgentSettingsOptions {
  /** Default: keeps user, assistant and toolResult messages. */
  convertToLlm?: AgentLoopConfig["convertToLlm"];
  transformContext?: AgentLoopConfig["transformContext"];
  /** Default: `streamSimple` of `@tau/ai`. */
  streamFn?: StreamFn;
  getApiKey?: AgentLoopConfig["getApiKey"];
  onPayload?: SimpleStreamOptions["onPayload"];
  onResponse?: SimpleStreamOptions["onResponse"];
  beforeToolCall?: AgentLoopConfig["beforeToolCall"];
  onToolExecution?: AgentLoopConfig["onToolExecution"];
  afterToolCall?: AgentLoopConfig["afterToolCall"];
  shouldStopAfterTurn?: AgentLoopConfig["shouldStopAfterTurn"];
  prepareNextTurn?: AgentLoopConfig["prepareNextTurn"];
  /** Identifies the conversation to providers that cache. */
  sessionId?: string;
  thinkingBudgets?: ThinkingBudgets;
  /** Default `auto`. */
  transport?: Transport;
  maxRetryDelayMs?: number;
  /** Default: the one of `@tau/ai`. */
  maxRetries?: number;
  /** Default `parallel`. */
  toolExecution?: ToolExecutionMode;
  /** Default: the system clock. */
  clock?: Clock;
}

/** The settings as properties, which may be changed between runs. */
export class AgentSettings {
  convertToLlm: AgentLoopConfig["convertToLlm"] = defaultConvertToLlm;
  transformContext: AgentSettingsOptions["transformContext"] | undefined;
  streamFn: StreamFn = streamSimple;
  getApiKey: AgentSettingsOptions["getApiKey"] | undefined;
  onPayload: AgentSettingsOptions["onPayload"] | undefined;
  onResponse: AgentSettingsOptions["onResponse"] | undefined;
  beforeToolCall: AgentSettingsOptions["beforeToolCall"] | undefined;
  onToolExecution: AgentSettingsOptions["onToolExecution"] | undefined;
  afterToolCall: AgentSettingsOptions["afterToolCall"] | undefined;
  shouldStopAfterTurn: AgentSettingsOptions["shouldStopAfterTurn"] | undefined;
  prepareNextTurn: AgentSettingsOptions["prepareNextTurn"] | undefined;
  sessionId: string | undefined;
  thinkingBudgets: ThinkingBudgets | undefined;
  transport: Transport = "auto";
  maxRetryDelayMs: number | undefined;
  maxRetries: number | undefined;
  toolExecution: ToolExecutionMode = "parallel";
  clock: Clock = systemClock;

  constructor(options: AgentSettingsOptions) {
    // The properties of a subclass are not defined yet, so these are the ones above.
    for (const name of Object.keys(this) as (keyof AgentSettings)[]) {
      Object.assign(this, { [name]: options[name] ?? this[name] });
    }
  }
}

/** The settings that the loop uses. Those that are undefined are left out. */
export function toLoopConfig(settings: AgentSettings): Omit<AgentLoopConfig, "model"> {
  const config: Record<string, unknown> = {};
  for (const name of loopSettingNames) if (settings[name] !== undefined) config[name] = settings[name];
  return { ...config, convertToLlm: settings.convertToLlm };
}

/** A fixed list: properties that a subclass adds must not be sent to providers. */
const loopSettingNames = (Object.keys(new AgentSettings({})) as (keyof AgentSettings)[]).filter(
  (name) => name !== "streamFn" && name !== "prepareNextTurn" && name !== "convertToLlm",
);
