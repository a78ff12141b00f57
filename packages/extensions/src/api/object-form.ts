/**
 * The form of an extension that is an object: a name, a version, tools with their lifecycle, hooks, and what it needs. It is
 * turned into a factory, so that everything else knows one form.
 */
import { didYouMean, isRecord } from "@tau/ai/internal";
import type { ToolContext, ToolFacilities, ToolLogLevel } from "@tau/tools";
import { ExtensionError } from "../errors.ts";
import { adaptTool } from "../pipeline/adapt-tool.ts";
import type { GivenTool } from "../pipeline/layer.ts";
import { createFacilities } from "../pipeline/tool-facilities.ts";
import { getRawResult } from "../pipeline/tool-result.ts";
import type { Capability } from "@tau/policy";
import type { ExtensionAPI, ExtensionFactory, ToolDefinition } from "./api.ts";
import type { ExtensionContext } from "./context.ts";

/** The context that hooks are given. */
export type HookContext = Pick<ToolContext, "registerConfig" | "getConfig" | "getLog" | "signal">;

export interface ExtensionHooksObject {
  /** When a run begins. */
  onAgentStart?(context: HookContext): unknown;
  /** After every call, also one that failed: then `result` is undefined. */
  onToolCall?(name: string, params: unknown, result: unknown, context: HookContext): unknown;
  /** When a run is over. */
  onAgentEnd?(context: HookContext): unknown;
}

/** A hook, such as `LifecycleHook<"onToolCall">`. Default: a hook that is given the context alone. */
export type LifecycleHook<Name extends keyof ExtensionHooksObject = "onAgentStart" | "onAgentEnd"> = NonNullable<
  ExtensionHooksObject[Name]
>;

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

/** Maps the names of capabilities in an object to those of the policy. */
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

/** Throws `invalid_input`, which says what is wrong with the object. */
export function toFactory(object: ExtensionObject, log: LogExtension): ExtensionFactory {
  const { tools = [], hooks = {} } = checkObject(object);
  const definitions = tools.map(toDefinition);
  return (tau) => {
    for (const definition of definitions) tau.registerTool(definition);
    addHooks(tau, hooks, createFacilities(log));
  };
}

/** The capabilities that an object declares, in our terms. */
export const getCapabilities = ({ capabilities = [] }: ExtensionObject): Capability[] => [
  ...new Set(capabilities.flatMap((name) => capabilityNames[name] ?? [])),
];

function checkObject(object: ExtensionObject): ExtensionObject {
  const refuse = (problem: string): never => {
    throw new ExtensionError("invalid_input", `The extension object is not valid. ${problem}`);
  };
  if (typeof object.name !== "string" || object.name === "") refuse("It has no name.");
  if (object.version !== undefined && typeof object.version !== "string") refuse("Its version is not a text.");
  if (object.hooks !== undefined && !isRecord(object.hooks)) refuse("Its hooks are not an object.");
  for (const key of ["tools", "dependencies", "capabilities"] as const) {
    if (object[key] !== undefined && !Array.isArray(object[key])) refuse(`Its ${key} are not a list.`);
  }
  for (const name of object.capabilities ?? []) {
    if (Object.hasOwn(capabilityNames, name)) continue;
    const advice = didYouMean(String(name), Object.keys(capabilityNames));
    refuse(`There is no capability ${JSON.stringify(name)}.${advice}`);
  }
  return object;
}

/** Its methods and its calls see the same configuration: that of the session, which `onLoad` is given first. */
function toDefinition(tool: GivenTool): ToolDefinition {
  const { usesContext: _unused, promptGuidelines, ...adapted } = adaptTool(tool);
  let facilities: ToolFacilities | undefined;
  return {
    ...adapted,
    ...(promptGuidelines && { promptGuidelines: [...promptGuidelines] }),
    onLoad(context) {
      facilities = context;
      return adapted.onLoad?.(context);
    },
    execute: (toolCallId, params, signal, onUpdate) =>
      adapted.execute(toolCallId, params, signal, onUpdate, { ...facilities, toolCallId } as ToolContext as never),
  } as ToolDefinition;
}

function addHooks(tau: ExtensionAPI, hooks: ExtensionHooksObject, facilities: ToolFacilities): void {
  const never = new AbortController().signal;
  const toHookContext = (context: ExtensionContext): HookContext => ({
    ...facilities,
    signal: context.signal ?? never,
  });
  if (hooks.onAgentStart) {
    tau.on("agent_start", async (_event, context) => void (await hooks.onAgentStart!(toHookContext(context))));
  }
  if (hooks.onToolCall) {
    // The end of a call does not name its arguments.
    const calls = new Map<string, unknown>();
    tau.on("tool_execution_start", ({ toolCallId, args }) => void calls.set(toolCallId, args));
    tau.on("tool_execution_end", async ({ toolCallId, toolName, result, isError }, context) => {
      const params = calls.get(toolCallId);
      calls.delete(toolCallId);
      await hooks.onToolCall!(toolName, params, isError ? undefined : getRawResult(result), toHookContext(context));
    });
  }
  if (hooks.onAgentEnd) {
    tau.on("agent_end", async (_event, context) => void (await hooks.onAgentEnd!(toHookContext(context))));
  }
}
