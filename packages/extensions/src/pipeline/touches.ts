/** Which files the calls of a session touched, as its tools say. */
import type { ToolCall } from "@tau/ai";
import type { FileTouches } from "@tau/tools";
import type { PipelineTool } from "./layer.ts";

export interface TouchesParts {
  /** The tools that the session has now. */
  current: () => readonly PipelineTool[];
  /** All built-in tools, by name: a log may hold their calls although the session does not have them now. */
  builtIn: Readonly<Record<string, PipelineTool>>;
}

/**
 * Asks the tool that a call names. A log may hold calls with arguments that a tool does not take any more: one that
 * throws at them touched nothing.
 */
export function createTouches({ current, builtIn }: TouchesParts): (call: ToolCall) => FileTouches | undefined {
  return ({ name, arguments: args }) => {
    // A damaged log may hold a name that is no text.
    const known = typeof name === "string" && Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
    const tool = current().find((candidate) => candidate.name === name) ?? known;
    try {
      return tool?.touches?.(args);
    } catch {
      return undefined;
    }
  };
}
