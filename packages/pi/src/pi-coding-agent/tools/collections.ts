/** The tools together. */
import type { AgentTool } from "@tau/agent";
import { createBashTool, type BashToolOptions } from "./bash.ts";
import { createEditTool, type EditToolOptions } from "./edit.ts";
import { createFindTool, type FindToolOptions } from "./find.ts";
import { createGrepTool, type GrepToolOptions } from "./grep.ts";
import { createLsTool, type LsToolOptions } from "./ls.ts";
import { createReadTool, type ReadToolOptions } from "./read.ts";
import type { ToolName } from "./tool.ts";
import { createWriteTool, type WriteToolOptions } from "./write.ts";

export interface ToolsOptions {
  read?: ReadToolOptions;
  bash?: BashToolOptions;
  edit?: EditToolOptions;
  write?: WriteToolOptions;
  grep?: GrepToolOptions;
  find?: FindToolOptions;
  ls?: LsToolOptions;
}

export const createAllTools = (cwd: string, options: ToolsOptions = {}): Record<ToolName, AgentTool> => ({
  read: createReadTool(cwd, options.read),
  bash: createBashTool(cwd, options.bash),
  edit: createEditTool(cwd, options.edit),
  write: createWriteTool(cwd, options.write),
  grep: createGrepTool(cwd, options.grep),
  find: createFindTool(cwd, options.find),
  ls: createLsTool(cwd, options.ls),
});

export function createCodingTools(cwd: string, options?: ToolsOptions): AgentTool[] {
  const { read, bash, edit, write } = createAllTools(cwd, options);
  return [read, bash, edit, write];
}

export function createReadOnlyTools(cwd: string, options?: ToolsOptions): AgentTool[] {
  const { read, grep, find, ls } = createAllTools(cwd, options);
  return [read, grep, find, ls];
}

/** Tools of the process's own directory. */
export const {
  read: readTool,
  bash: bashTool,
  edit: editTool,
  write: writeTool,
  grep: grepTool,
  find: findTool,
  ls: lsTool,
} = createAllTools(process.cwd());

export const codingTools = [readTool, bashTool, editTool, writeTool];
export const readOnlyTools = [readTool, grepTool, findTool, lsTool];
