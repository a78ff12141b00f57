/** All flags of a session, in one table: parsing, help, suggestions and completion come from here. */

export interface Flag {
  /** Without dashes. */
  name: string;
  /** One letter. */
  short?: string;
  /** What its value is called in help; without it the flag takes none. */
  value?: string;
  /** May be left without its value. */
  optional?: true;
  /** May be given several times. */
  many?: true;
  /** The values that it may have. */
  choices?: readonly string[];
  summary: string;
}

export interface FlagGroup {
  title: string;
  flags: readonly Flag[];
}

export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export const flagGroups: readonly FlagGroup[] = [
  {
    title: "How",
    flags: [
      { name: "print", short: "p", summary: "Answer and exit; the answer alone goes to standard output" },
      { name: "mode", value: "MODE", choices: ["text", "json", "rpc"], summary: "text, json (events as lines) or rpc" },
      { name: "quiet", summary: "No progress on standard error" },
      { name: "verbose", summary: "Say more on standard error" },
      { name: "max-turns", value: "N", summary: "End the run after so many answers" },
      { name: "max-cost", value: "USD", summary: "End the run before it costs more" },
      { name: "timeout", value: "SECONDS", summary: "End the run after so long" },
      { name: "offline", summary: "Ask nobody at start; models are still asked" },
    ],
  },
  {
    title: "Model",
    flags: [
      { name: "model", value: "MODEL", summary: "Such as anthropic/claude-opus-5-5:high, or a part of it" },
      { name: "provider", value: "NAME", summary: "Whose model, where the model does not say" },
      { name: "thinking", value: "LEVEL", choices: thinkingLevels, summary: thinkingLevels.join(", ") },
      { name: "api-key", value: "KEY", summary: "A key for this run alone" },
      { name: "models", value: "PATTERNS", summary: "The models to choose from, with commas between" },
      { name: "list-models", value: "SEARCH", optional: true, summary: "List the models, and exit" },
    ],
  },
  {
    title: "Session",
    flags: [
      { name: "continue", short: "c", summary: "Go on with the last session of this directory" },
      { name: "resume", short: "r", summary: "Choose a session to go on with" },
      { name: "session", value: "PATH|ID", summary: "Go on with this session" },
      { name: "session-id", value: "ID", summary: "Go on with this session, or begin it" },
      { name: "fork", value: "PATH|ID", summary: "Begin with a copy of this session" },
      { name: "session-dir", value: "DIR", summary: "Where sessions are kept" },
      { name: "no-session", summary: "Keep nothing" },
      { name: "name", short: "n", value: "NAME", summary: "What the session is called" },
    ],
  },
  {
    title: "Tools and prompt",
    flags: [
      { name: "tools", value: "NAMES", summary: "Only these tools, with commas between" },
      { name: "exclude-tools", value: "NAMES", summary: "Not these tools" },
      { name: "no-tools", summary: "No tools at all" },
      { name: "system-prompt", value: "TEXT|FILE", summary: "Instead of the usual one" },
      { name: "append-system-prompt", value: "TEXT|FILE", many: true, summary: "After the usual one" },
      { name: "skill", value: "PATH", many: true, summary: "A further skill, or a directory of them" },
      { name: "prompt-template", value: "PATH", many: true, summary: "A further template, or a directory of them" },
      { name: "no-context-files", summary: "Leave AGENTS.md and its like unread" },
    ],
  },
  {
    title: "Else",
    flags: [
      { name: "help", short: "h", summary: "Show this text" },
      { name: "version", short: "v", summary: "Show the version" },
    ],
  },
];

export const flags: readonly Flag[] = flagGroups.flatMap((group) => group.flags);
