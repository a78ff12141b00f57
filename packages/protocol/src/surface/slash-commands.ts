/** The slash commands of every surface: their names, arguments and descriptions. Help, completion and the documentation read this table. */

/** Texts of a command in help and completion. */
export interface SlashCommandText {
  readonly description: string;
  /** Names what may follow the command. */
  readonly argument?: string;
}

export interface SlashCommandInfo extends SlashCommandText {
  /** Whether an extension's command of the same name is run instead: pi has no such command, but its extensions may. */
  readonly yields?: true;
}

const table = {
  model: { description: "Choose a model", argument: "NAME" },
  role: { description: "Choose the role whose model is used", argument: "NAME", yields: true },
  "scoped-models": { description: "Choose the models to cycle through" },
  thinking: { description: "Choose how much the model thinks", argument: "LEVEL" },
  fast: { description: "Ask for faster answers, which cost more, or stop that", argument: "off" },
  llama: { description: "Load and unload models of llama.cpp", argument: "MODEL", yields: true },
  tools: { description: "Choose the tools that the model is shown", yields: true },
  settings: { description: "Change settings" },
  theme: { description: "Choose the colors", argument: "NAME", yields: true },
  tree: { description: "Go to another place in this session" },
  fork: { description: "Begin a new session from an earlier message" },
  clone: { description: "Begin a new session with a copy of this one" },
  resume: { description: "Open another session" },
  new: { description: "Begin a new session in this directory" },
  name: { description: "Name this session", argument: "NAME" },
  session: { description: "Show what this session has used" },
  stats: {
    description: "Show what all sessions have used, as a chart",
    argument: "PERIOD",
    yields: true,
  },
  compact: { description: "Summarise the conversation so far", argument: "INSTRUCTIONS" },
  export: { description: "Write this session as .html or .jsonl", argument: "PATH" },
  import: {
    description: "Open a copy of a session file, with --keep-directory in its own directory",
    argument: "PATH",
  },
  share: { description: "Share this session as a secret gist, a file or a link", argument: "KIND" },
  copy: { description: "Copy the last answer, or a block of code in it by its number", argument: "N" },
  queue: { description: "Edit or remove queued messages", yields: true },
  approve: { description: "Answer open questions" },
  trust: { description: "Trust this project, or take that back" },
  permissions: { description: "Choose how much is done without asking", argument: "MODE", yields: true },
  "add-dir": { description: "Add a directory to the workspace, or list them", argument: "PATH" },
  jobs: { description: "Show, read or end what runs in the background", yields: true },
  policy: { description: "Show the policy, the sandbox and what is allowed" },
  login: { description: "Connect a provider", argument: "PROVIDER" },
  logout: { description: "Remove a stored key or login", argument: "PROVIDER" },
  extensions: { description: "Show extensions, what they bring and their problems" },
  reload: { description: "Read settings, extensions, skills, templates, themes and keys again" },
  doctor: { description: "Check whether everything works", yields: true },
  changelog: { description: "Show what has changed" },
  bug: { description: "Write a file about a problem, and send nothing", argument: "TEXT" },
  debug: { description: "Write the screen and the messages to a file" },
  hotkeys: { description: "Show the keys" },
  help: { description: "Show all commands", yields: true },
  quit: { description: "Leave" },
} as const satisfies Readonly<Record<string, SlashCommandInfo>>;

export type SlashCommandName = keyof typeof table;

/** In the order of help. */
export const slashCommandNames = Object.keys(table) as readonly SlashCommandName[];

export const slashCommands: Readonly<Record<SlashCommandName, SlashCommandInfo>> = table;

export const isSlashCommandName = (name: string): name is SlashCommandName => Object.hasOwn(table, name);

/** A command that the surface carries out. `Port` is what commands of the surface work with. */
export interface CommandHere<Port> {
  readonly kind: "here";
  readonly run: (port: Port, argument: string) => Promise<void> | void;
  /** Replaces the texts of the table, where the command does something else on this surface. */
  readonly shown?: SlashCommandText;
}

/** A command that the surface does not carry out. */
export interface CommandElsewhere {
  readonly kind: "elsewhere";
  /** Says in a sentence how the user gets there. */
  readonly hint: string;
}

export type SurfaceCommand<Port> = CommandHere<Port> | CommandElsewhere;

/** Every command of a surface: a missing one does not compile. */
export type SurfaceCommands<Port> = Readonly<Record<SlashCommandName, SurfaceCommand<Port>>>;

/** The command that a surface carries out under this name; undefined if there is none. */
export function findCommandHere<Command extends SurfaceCommand<never>>(
  commands: Readonly<Record<SlashCommandName, Command>>,
  name: string,
): Extract<Command, { kind: "here" }> | undefined {
  const command = isSlashCommandName(name) ? commands[name] : undefined;
  return command?.kind === "here" ? (command as Extract<Command, { kind: "here" }>) : undefined;
}

export interface ShownCommand extends SlashCommandInfo {
  readonly name: SlashCommandName;
}

/** Lists the commands that a surface carries out, with their texts on that surface. */
export const listCommandsHere = (commands: SurfaceCommands<never>): ShownCommand[] =>
  slashCommandNames.flatMap((name) => {
    const command = commands[name];
    const { yields, ...text } = slashCommands[name];
    if (command.kind === "elsewhere") return [];
    return [{ name, ...(command.shown ?? text), ...(yields && { yields }) }];
  });

/** Formats a command as it is typed, with its argument in brackets. */
export const formatUsage = ({ name, argument }: Pick<ShownCommand, "name" | "argument">): string =>
  argument === undefined ? `/${name}` : `/${name} [${argument}]`;

export interface TypedCommand {
  readonly name: string;
  readonly argument: string;
}

/** Parses a text as a command of any name: also a skill, such as `/skill:name`, a template, or one of an extension. */
export function parseSlashCommand(text: string): TypedCommand | undefined {
  const [, name, argument = ""] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name, argument };
}

/** Parses a text as a command. A path such as `/etc/hosts` is none, and neither is a skill, such as `/skill:name`. */
export function parseTypedCommand(text: string): TypedCommand | undefined {
  const command = parseSlashCommand(text);
  return command && /^[\w-]+$/.test(command.name) ? command : undefined;
}

/** Whether the text before the cursor is the beginning of a command's name. */
export const isCommandStart = (before: string): boolean => /^\/\S*$/.test(before);
