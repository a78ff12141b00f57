/** All flags of a session, in one table. Parsing, help, suggestions and completion read it. */

import type { SessionOptions } from "./session-options.ts";
import type { FlagSpec } from "./tokens.ts";

export interface Flag extends FlagSpec {
  /** How a flag may be repeated, where every value is used: `lists` are separated by commas. Default: the last one is used. */
  many?: "values" | "lists";
  /** The name of its option. Default: its own, in camel case. */
  option?: keyof SessionOptions;
  summary: string;
}

interface FlagGroup {
  title: string;
  flags: readonly Flag[];
}

export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export const flagGroups: readonly FlagGroup[] = [
  {
    title: "Run",
    flags: [
      { name: "print", short: "p", summary: "Print only the answer to standard output, and exit" },
      { name: "mode", value: "MODE", choices: ["text", "json", "rpc"], summary: "text, json (events as lines) or rpc" },
      {
        name: "output-format",
        value: "FORMAT",
        choices: ["text", "json", "stream-json"],
        summary: "The answer as text, one result as JSON, or --mode json; implies -p",
      },
      {
        name: "events",
        value: "FORMAT",
        choices: ["tau", "pi"],
        summary: "The events of --mode json: tau's own, or pi's",
      },
      {
        name: "output-schema",
        value: "FILE",
        summary: "The answer is JSON that fits the JSON Schema in FILE; implies -p",
      },
      { name: "output", short: "o", value: "FILE", summary: "Write the answer to FILE too; implies -p" },
      { name: "quiet", summary: "Show no progress on standard error" },
      { name: "verbose", summary: "Show tool calls on standard error" },
      { name: "max-turns", value: "N", number: "whole", summary: "Stop after N turns" },
      { name: "max-cost", value: "USD", number: "any", summary: "Stop before the run costs more" },
      { name: "timeout", value: "SECONDS", number: "any", summary: "Stop after this many seconds" },
      {
        name: "profile",
        value: "NAME",
        summary: "Use the settings in profiles/NAME.json of tau's directory, over all others, for this run",
      },
      {
        name: "set",
        value: "KEY=VALUE",
        many: "values",
        summary: "Change a setting for this run; can be repeated",
      },
      { name: "offline", summary: "Skip network checks at startup" },
      {
        name: "gateway",
        summary: "Run the prompt in the gateway, where it continues if this program ends; implies -p",
      },
      { name: "directory", short: "C", value: "DIR", summary: "Run as if tau was started in DIR" },
      {
        name: "worktree",
        value: "NAME",
        optional: "inline",
        summary: "Work in a git worktree on the branch NAME, which is kept if something was changed",
      },
    ],
  },
  {
    title: "Model",
    flags: [
      {
        name: "model",
        value: "MODEL",
        summary: "For example anthropic/claude-opus-5-5:high, a unique part of it, or @ROLE",
      },
      { name: "role", value: "NAME", summary: "The model of this role: default, smol, slow, plan, commit or your own" },
      { name: "smol", value: "MODEL", summary: "The model of the role smol in this run" },
      { name: "slow", value: "MODEL", summary: "The model of the role slow in this run" },
      { name: "plan-model", value: "MODEL", summary: "The model of the role plan in this run" },
      { name: "provider", value: "NAME", summary: "Only models of this provider; without MODEL its default" },
      { name: "thinking", value: "LEVEL", choices: thinkingLevels, summary: thinkingLevels.join(", ") },
      { name: "api-key", value: "KEY", summary: "A key for this run only" },
      {
        name: "models",
        value: "PATTERNS",
        many: "lists",
        summary: "The models to choose from (comma-separated); a session starts with the first",
      },
      { name: "list-models", value: "SEARCH", optional: true, summary: "List models and exit" },
    ],
  },
  {
    title: "Session",
    flags: [
      { name: "continue", short: "c", summary: "Continue the last session of this directory" },
      {
        name: "resume",
        short: "r",
        value: "NAME",
        optional: true,
        summary: "Continue the session with this name, or part of it; without NAME choose one",
      },
      { name: "session", value: "PATH|ID", summary: "Continue this session" },
      { name: "entry", value: "ENTRY", summary: "Open the tree of the session at this entry" },
      { name: "session-id", value: "ID", summary: "Continue the session with this id, or create it" },
      { name: "fork", value: "PATH|ID", summary: "Start with a copy of this session" },
      { name: "session-dir", value: "DIR", summary: "Directory of the session files" },
      { name: "no-session", summary: "Do not save the session" },
      { name: "name", short: "n", value: "NAME", summary: "Name of the session" },
      { name: "export", value: "PATH|ID", summary: "Write the session as HTML to the next argument, and exit" },
    ],
  },
  {
    title: "Tools and prompt",
    flags: [
      { name: "agent", value: "NAME", summary: "Use the agent agents/NAME of the agent directory" },
      {
        name: "tools",
        short: "t",
        value: "NAMES",
        mayBeEmpty: true,
        many: "lists",
        summary:
          "Use only these tools (comma-separated; * stands for any text), or change the default ones: +name,-name",
      },
      { name: "exclude-tools", short: "xt", value: "NAMES", many: "lists", summary: "Do not use these tools" },
      { name: "no-tools", short: "nt", summary: "Use no tools" },
      { name: "no-builtin-tools", short: "nbt", summary: "Use no built-in tools, unless --tools names them" },
      { name: "sequential-tools", summary: "Run the tool calls of an answer one at a time" },
      { name: "add-dir", value: "DIR", many: "values", summary: "Let tools read and write in this directory too" },
      {
        name: "policy",
        value: "PROFILE",
        choices: ["safe", "balanced", "permissive"],
        summary:
          "The rules for commands and extensions: safe (deny), balanced (ask) or permissive (allow extensions more)",
      },
      {
        name: "permission-mode",
        value: "MODE",
        choices: ["plan", "ask", "edit", "free"],
        summary:
          "Write nothing (plan), ask about every change too (ask), about what is risky (edit), or about nothing in the sandbox (free)",
      },
      {
        name: "plan-mode",
        summary: "Begin in plan mode: the model reads and proposes a plan, and nothing can be written",
      },
      {
        name: "sandbox",
        value: "MODE",
        choices: ["off", "auto", "required"],
        summary: "Run commands in the sandbox: off (never), auto (where it works) or required (or not at all)",
      },
      { name: "approve", short: "a", summary: "Trust the project for this run; nothing is stored" },
      { name: "no-approve", short: "na", summary: "Do not trust the project in this run" },
      { name: "system-prompt", value: "TEXT|FILE", mayBeEmpty: true, summary: "Replace the system prompt" },
      {
        name: "append-system-prompt",
        value: "TEXT|FILE",
        mayBeEmpty: true,
        many: "values",
        summary: "Add to the system prompt",
      },
      {
        name: "skill",
        option: "skills",
        value: "PATH",
        many: "values",
        summary: "Load a skill, or a directory of skills",
      },
      { name: "no-skills", short: "ns", summary: "Load no skills but those of --skill" },
      {
        name: "prompt-template",
        option: "promptTemplates",
        value: "PATH",
        many: "values",
        summary: "Load a template, or a directory of templates",
      },
      { name: "no-prompt-templates", short: "np", summary: "Load no templates but those of --prompt-template" },
      { name: "no-context-files", short: "nc", summary: "Do not read AGENTS.md and similar files" },
      {
        name: "theme",
        option: "themes",
        value: "PATH",
        many: "values",
        summary: "Load a theme, or a directory of themes",
      },
      {
        name: "tui-mode",
        value: "MODE",
        choices: ["regular", "fullscreen"],
        summary: "Use the terminal's own scrollback, or the whole screen",
      },
      { name: "use-theme", value: "NAME", summary: "Use this theme in this run, or a pair such as light/dark" },
      { name: "no-themes", summary: "Load no themes but those of --theme" },
      {
        name: "extension",
        option: "extensions",
        short: "e",
        value: "PATH",
        many: "values",
        summary: "Load an extension from a file, a directory, npm:NAME or git:HOST/PATH, for this run",
      },
      { name: "no-extensions", short: "ne", summary: "Load no extensions but those of --extension" },
      { name: "no-mcp", summary: "Use no MCP servers" },
    ],
  },
  {
    title: "Other",
    flags: [
      { name: "help", short: "h", summary: "Show this text" },
      { name: "version", short: "v", summary: "Show the version" },
    ],
  },
];

export const flags: readonly Flag[] = flagGroups.flatMap((group) => group.flags);
