/** The commands that people type in a chat. Pure: `run-chat-command.ts` executes them. */

export const chatCommands = {
  new: "begins a new session",
  reset: "begins a new session",
  status: "shows the model, and what the session does",
  model: "shows the model, or chooses another: /model NAME",
  think: "shows the thinking level, or sets it: /think LEVEL",
  queue: "says what happens to messages while the agent works: /queue steer, followup, collect or interrupt",
  stop: "ends the run",
  approve: "answers a question: /approve ID yes, or /approve ID no",
  compact: "shortens the session's history",
  help: "lists these commands",
} as const;

export type ChatCommandName = keyof typeof chatCommands;

export interface ChatCommand {
  readonly name: ChatCommandName;
  /** The text after the name. */
  readonly argument: string;
}

const aliases: Readonly<Record<string, ChatCommandName>> = { thinking: "think" };

/** Whether a command asks the model, so that it can take minutes. */
export const isLongCommand = ({ name }: ChatCommand): boolean => name === "compact";

/** Undefined for text that is no command: that is for the model. */
export function parseChatCommand(text: string): ChatCommand | undefined {
  // Telegram writes the name of the account behind a command in groups.
  const [, word = "", argument = ""] = /^\/([a-z]+)(?:@\w+)?(?:\s+([\s\S]*))?$/i.exec(text.trim()) ?? [];
  const typed = word.toLowerCase();
  const name = Object.hasOwn(aliases, typed) ? aliases[typed] : typed;
  if (name === undefined || !Object.hasOwn(chatCommands, name)) return undefined;
  return { name: name as ChatCommandName, argument: argument.trim() };
}

export const formatChatHelp = (): string =>
  Object.entries(chatCommands)
    .map(([name, text]) => `/${name}: ${text}`)
    .join("\n");
