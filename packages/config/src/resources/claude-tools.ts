/** Our names for the tools of Claude Code, whose agents name tools by its own. */

/** A tool that is not here has the same name in both. */
const claudeTools: Readonly<Record<string, string>> = {
  Agent: "task",
  AskUserQuestion: "ask",
  Bash: "bash",
  BashOutput: "jobs",
  Edit: "edit",
  ExitPlanMode: "propose_plan",
  Glob: "find",
  Grep: "grep",
  KillBash: "jobs",
  KillShell: "jobs",
  LS: "ls",
  MultiEdit: "edit",
  NotebookRead: "read",
  Read: "read",
  // Skills are files that the model reads.
  Skill: "read",
  Task: "task",
  TaskOutput: "jobs",
  TaskStop: "jobs",
  TodoWrite: "todo",
  ToolSearch: "tool_search",
  Write: "write",
};

/** Returns the name itself if the tool is none of Claude Code's. */
export const fromClaudeTool = (name: string): string => (Object.hasOwn(claudeTools, name) ? claudeTools[name]! : name);
