/** Slash commands that people know from other agents. The terminal and the page read this table. */
import { isSlashCommandName, type SlashCommandName, type SurfaceCommands } from "./slash-commands.ts";

export interface OtherCommand {
  /** The command to use here. A surface may not have it. */
  readonly use?: SlashCommandName;
  /** A sentence about what to do here. */
  readonly hint?: string;
}

const use = (name: SlashCommandName, hint?: string): OtherCommand => ({
  use: name,
  ...(hint !== undefined && { hint }),
});
const hint = (text: string): OtherCommand => ({ hint: text });

const goBack = use("tree", "/tree goes back to an earlier message. It does not change files back; git can.");
const instructions = hint("Write AGENTS.md, or ask for it: its text is sent with every request.");
const packages = use("extensions", "tau install and tau remove change them.");

const table: Readonly<Record<string, OtherCommand>> = {
  clear: use("new"),
  reset: use("new"),
  cost: use("session"),
  status: use("session"),
  usage: use("session", "/session shows what this session has used, and /stats what all have."),
  context: use("session"),
  info: use("session"),
  undo: goBack,
  rewind: goBack,
  checkpoint: goBack,
  restore: goBack,
  redo: use("tree", "/tree goes to any message of the session, also a later one."),
  exit: use("quit"),
  q: use("quit"),
  bye: use("quit"),
  continue: use("resume"),
  sessions: use("resume"),
  history: use("resume"),
  chat: use("resume"),
  load: use("resume"),
  branch: use("fork"),
  rename: use("name"),
  models: use("model"),
  effort: use("thinking"),
  reasoning: use("thinking"),
  think: use("thinking"),
  config: use("settings"),
  preferences: use("settings"),
  themes: use("theme"),
  color: use("theme"),
  approvals: use("permissions"),
  "allowed-tools": use("policy"),
  sandbox: use("policy"),
  connect: use("login"),
  auth: use("login"),
  signin: use("login"),
  signout: use("logout"),
  summarize: use("compact"),
  summary: use("compact"),
  compress: use("compact"),
  save: use("export"),
  plugin: packages,
  plugins: packages,
  hooks: packages,
  feedback: use("bug"),
  report: use("bug"),
  "release-notes": use("changelog"),
  keys: use("hotkeys"),
  keybindings: use("hotkeys"),
  shortcuts: use("hotkeys"),
  vim: use("hotkeys", "Keys can be changed in keybindings.json."),
  commands: use("help"),
  h: use("help"),
  bashes: use("jobs"),
  tasks: use("jobs"),
  ps: use("jobs"),
  init: instructions,
  memory: instructions,
  rules: instructions,
  agents: hint("An agent is chosen at the start: tau --agent NAME"),
  skills: hint("/skill:NAME uses a skill. Type / to see those that there are."),
  diff: hint("!git diff shows the changes."),
  editor: hint("A key opens your editor with what you write: see /hotkeys."),
  stop: hint("Escape stops the run."),
  upgrade: hint("In a shell: tau update --self"),
  update: hint("In a shell: tau update"),
};

/** Directories that a text may name with nothing after them. */
const rootDirectories: ReadonlySet<string> = new Set(
  "bin boot dev etc home lib mnt media opt proc root sbin srv sys tmp usr var Users Volumes Applications".split(" "),
);

/** Whether `/name` is a path rather than a command. */
export const isRootDirectory = (name: string): boolean => rootDirectories.has(name);

/** Undefined for a name that tau does not know from elsewhere. */
export const findOtherCommand = (name: string): OtherCommand | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/**
 * Describes what is wrong with a command that a surface does not carry out, and what to do instead. Pure.
 */
export function describeUnknownCommand(name: string, commands: SurfaceCommands<never>): string {
  return `There is no command /${name} here. ${describeInstead(name, commands)}`;
}

function describeInstead(name: string, commands: SurfaceCommands<never>): string {
  const other = findOtherCommand(name);
  if (other?.hint !== undefined) return other.hint;
  const known = isSlashCommandName(name) ? name : other?.use;
  if (known === undefined) return "/help shows those that there are.";
  const command = commands[known];
  return command.kind === "here" ? `Use /${known}.` : command.hint;
}

export const otherCommandNames: readonly string[] = Object.keys(table);
