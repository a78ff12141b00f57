/** Finds the session whose call a tool executes, for tools that are agents: they work in a child of it. */
import type { StreamFn, ThinkingLevel, ToolExecutionMode } from "@tau/agent";
import type { Model, ToolChoice } from "@tau/ai";
import type { ChildOptions, ExtensionsParams, Feature } from "@tau/extensions";
import type { GivenTool } from "@tau/extensions/internal";
import type { ToolSession } from "@tau/tools";
import type { PromptOptions } from "./prompts.ts";
import type { PromptOutcome } from "./activity.ts";

/** Belongs to an agent itself, also where it works for another. Everything else is that of the session that it works for. */
export interface AgentDefinition {
  model: Model;
  streamFn: StreamFn;
  thinkingLevel?: ThinkingLevel | "none" | undefined;
  tools?: readonly (GivenTool | string)[] | undefined;
  customTools?: readonly GivenTool[] | undefined;
  features?: readonly Feature[] | undefined;
  extensions?: ExtensionsParams | undefined;
  toolChoice?: ToolChoice | undefined;
  toolExecution?: Exclude<ToolExecutionMode, "parallel"> | undefined;
}

interface ChildAgent {
  prompt(text: string, options?: PromptOptions): Promise<PromptOutcome>;
  dispose(): Promise<void>;
}

type OpenChildAgent = (options: ChildOptions, definition: AgentDefinition) => Promise<ChildAgent>;

/** By the object that the tools of the session get: nothing else leads from a call to its session. */
const openers = new WeakMap<ToolSession, OpenChildAgent>();

export const linkToolSession = (session: ToolSession, open: OpenChildAgent): void => void openers.set(session, open);

/** Undefined outside of a session. */
export const findChildOpener = (session: ToolSession | undefined): OpenChildAgent | undefined =>
  session && openers.get(session);
