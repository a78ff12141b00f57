/** The names and arguments that Claude Code's hooks expect of tools, as data. */
import { isAbsolute, resolve } from "node:path";
import { asRecord, withoutUndefined } from "@tau/ai/internal";

type Arguments = Readonly<Record<string, unknown>>;

interface ToolRecord {
  /** Claude Code's names, the first of which hooks are given. */
  readonly names: readonly string[];
  readonly toInput?: (args: Arguments, toPath: (path: unknown) => unknown) => Arguments;
}

const toFile = (args: Arguments, toPath: (path: unknown) => unknown): Arguments => ({
  file_path: toPath(args["path"]),
});

const toEdit: ToolRecord["toInput"] = (args, toPath) => {
  const edits = (Array.isArray(args["edits"]) ? (args["edits"] as unknown[]) : []).map((edit) => {
    const { oldText, newText } = asRecord(edit);
    return { old_string: oldText, new_string: newText };
  });
  return { ...toFile(args, toPath), ...edits[0], ...(edits.length > 1 && { edits }) };
};

const tools: Readonly<Record<string, ToolRecord>> = {
  bash: {
    names: ["Bash"],
    toInput: ({ command, timeout, background }) => ({
      command,
      // Ours is in seconds.
      timeout: typeof timeout === "number" ? timeout * 1_000 : undefined,
      run_in_background: background,
    }),
  },
  read: {
    names: ["Read", "NotebookRead"],
    toInput: (args, toPath) => ({ ...toFile(args, toPath), offset: args["offset"], limit: args["limit"] }),
  },
  write: {
    names: ["Write"],
    toInput: (args, toPath) => ({ ...toFile(args, toPath), content: args["content"] }),
  },
  edit: { names: ["Edit", "MultiEdit"], toInput: toEdit },
  hashline_edit: { names: ["Edit", "MultiEdit"], toInput: toFile },
  hashline_patch: { names: ["Edit", "MultiEdit"] },
  grep: {
    names: ["Grep"],
    toInput: ({ pattern, path, glob, ignoreCase }, toPath) => ({
      pattern,
      path: toPath(path),
      glob,
      "-i": ignoreCase,
      output_mode: "content",
    }),
  },
  find: { names: ["Glob"], toInput: ({ pattern, path }, toPath) => ({ pattern, path: toPath(path) }) },
  ls: { names: ["LS"], toInput: ({ path }, toPath) => ({ path: toPath(path ?? ".") }) },
  task: {
    names: ["Task", "Agent"],
    toInput: ({ description, prompt, agent }) => ({ description, prompt, subagent_type: agent }),
  },
  todo: { names: ["TodoWrite"] },
  web_fetch: { names: ["WebFetch"] },
  web_search: { names: ["WebSearch"] },
  ask: { names: ["AskUserQuestion"] },
  propose_plan: { names: ["ExitPlanMode"] },
  jobs: { names: ["BashOutput", "TaskOutput", "KillShell"] },
  tool_search: { names: ["ToolSearch"] },
};

const findTool = (name: string): ToolRecord | undefined => (Object.hasOwn(tools, name) ? tools[name] : undefined);

/** All names by which a hook may mean a tool: ours, and Claude Code's. */
export const listToolNames = (name: string): string[] => [name, ...(findTool(name)?.names ?? [])];

/** Describes a call for hooks: in Claude Code's form, and as it is. */
export function describeCall(name: string, args: Arguments, cwd: string): Record<string, unknown> {
  const tool = findTool(name);
  const toPath = (path: unknown) => (typeof path === "string" && !isAbsolute(path) ? resolve(cwd, path) : path);
  return {
    tool_name: tool?.names[0] ?? name,
    tool_input: tool?.toInput ? withoutUndefined(tool.toInput(args, toPath)) : args,
    tau_tool: { name, input: args },
  };
}
