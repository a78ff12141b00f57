/** The methods that accompany the calls of a tool in a session, and what they work with. */
import type { ToolCallContext } from "./tool.ts";

export type ToolLogLevel = "debug" | "info" | "warn" | "error";

/** A value that a tool can be configured with. */
export interface ToolConfigField {
  /** For people, such as `string`. */
  type?: string;
  default?: unknown;
  description?: string;
}

/** The facilities of a tool in a session, besides those of one call. */
export interface ToolFacilities {
  /** Names values, with their defaults. A name that is registered again gets the new default. */
  registerConfig(fields: Readonly<Record<string, ToolConfigField>>): void;
  /** The value of that name; undefined if it is not registered. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the tool knows what it has registered
  getConfig(name: string): any;
  /** Everything goes to the debug log; `warn` and `error` are also shown to the user. */
  getLog(): Record<ToolLogLevel, (...values: unknown[]) => void>;
}

export interface ToolContext extends ToolFacilities, Partial<ToolCallContext> {
  /** Aborts when the call ends early; in `onLoad` and `onUnload` when the session ends. */
  signal: AbortSignal;
  /** Empty in `onLoad` and `onUnload`. */
  toolCallId: string;
  /** The channel that the session serves. Absent: none. */
  binding?: ToolBinding;
  /** The session that called. Absent outside of a session. */
  session?: ToolSession;
}

/** The session that calls a tool, for tools that keep something for each session. */
export interface ToolSession {
  readonly id: string;
  /** Where its commands run and relative paths begin. */
  readonly cwd: string;
}

/** Where the messages of a session come from, for tools that answer there. */
export interface ToolBinding {
  /** Such as `discord`. */
  channel: string;
  /** The user's name for the account that received it. */
  accountId?: string;
  /** The place in the channel that the conversation is in, by the channel's own id. */
  channelId?: string;
  /** The message that is answered, by the channel's own id. */
  sourceMessageId?: string;
  /** The conversation: in a direct one the person, else the group, the channel or the thread. */
  peer?: { kind: "direct" | "group" | "channel" | "thread"; id: string };
}

/** Optional methods of a tool of either form. What they return is ignored. */
// oxlint-disable-next-line typescript/no-explicit-any -- a list of tools mixes parameters and results of all kinds
export interface ToolLifecycle<TParams = any, TResult = any> {
  /** Called when a session first offers the tool. If it throws or takes 30 s, the tool is left out and the user is notified. */
  onLoad?(context: ToolContext): unknown;
  /** Called before each execution, with arguments that are valid and allowed. If it throws, the call is denied. */
  beforeInvoke?(params: TParams, context: ToolContext): unknown;
  /** Called after each execution that succeeded. If it throws, the result is kept and the user is notified. */
  afterInvoke?(result: TResult, context: ToolContext): unknown;
  /** Called when the session ends or no longer has the tool. If it throws or takes 5 s, the user is notified. */
  onUnload?(context: ToolContext): unknown;
}
