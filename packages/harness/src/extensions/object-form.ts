/**
 * The form of an extension that is an object: a name, a version, tools with their lifecycle, hooks, and what it needs. It is
 * turned into a factory, so that everything else knows one form.
 */
import type { ToolContext, ToolLogLevel } from "@tau/tools";
import type { Capability } from "../policy/policy.ts";
import type { GivenTool } from "../pipeline/layer.ts";

/** What hooks are given. */
export type HookContext = Pick<ToolContext, "registerConfig" | "getConfig" | "getLog" | "signal">;

export interface ExtensionHooksObject {
  onAgentStart?(context: HookContext): unknown;
  /** After every call, also one that failed: then `result` is undefined. */
  onToolCall?(name: string, params: unknown, result: unknown, context: HookContext): unknown;
  onAgentEnd?(context: HookContext): unknown;
}

export interface ExtensionObject {
  name: string;
  version: string;
  tools?: readonly GivenTool[];
  hooks?: ExtensionHooksObject;
  /** Names of extensions that are loaded before this one. */
  dependencies?: readonly string[];
  /** See `capabilityNames`. What is not declared is denied where the extension is isolated. */
  capabilities?: readonly string[];
}

/** What the names of capabilities in an object mean here. */
export const capabilityNames: Readonly<Record<string, readonly Capability[]>> = {
  "fs:read": ["read"],
  "fs:write": ["write"],
  net: ["http"],
  exec: ["exec"],
  env: ["env"],
  ui: ["ui"],
  session: ["session"],
  crypto: [],
};

/** Writes what an extension says into the debug log. */
export type LogExtension = (level: ToolLogLevel, message: string) => void;
