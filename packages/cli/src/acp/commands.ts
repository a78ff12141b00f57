/** The slash commands of a session in an editor. */
import {
  type Command,
  type CommandData,
  type CommandName,
  permissionModes,
  permissionModeTexts,
  type SlashCommandData,
  type ThinkingLevelName,
} from "@tau/protocol";
import {
  type CommandElsewhere,
  type CommandHere,
  describeAddedDirectory,
  describeDirectories,
  describeUsageLimit,
  findCommandHere,
  formatTokens,
  formatUsage,
  listCommandsHere,
  parseTypedCommand,
  type SlashCommandText,
  type SurfaceCommands,
} from "@tau/protocol/surface";
import type { AvailableCommand } from "./schema.generated.ts";

/** The part of a session that commands work with. */
interface CommandPort {
  execute<Name extends CommandName>(command: Command<Name>): Promise<CommandData<Name>>;
  /** Shows a text as a message of the agent. */
  say(text: string): void;
}

const here = (run: CommandHere<CommandPort>["run"], shown?: SlashCommandText): CommandHere<CommandPort> => ({
  kind: "here",
  run,
  ...(shown && { shown }),
});

const elsewhere = (hint: string): CommandElsewhere => ({ kind: "elsewhere", hint });

const inTerminal = elsewhere("Start tau in a terminal for this.");
const byEditor = elsewhere("The editor does this.");

const editorCommands: SurfaceCommands<CommandPort> = {
  model: here(chooseModel),
  role: here(chooseRole),
  "scoped-models": inTerminal,
  thinking: here(chooseThinking),
  fast: elsewhere("Faster answers are turned on with /fast in the terminal, or with the setting serviceTier."),
  llama: inTerminal,
  tools: inTerminal,
  settings: inTerminal,
  theme: byEditor,
  tree: inTerminal,
  fork: inTerminal,
  clone: inTerminal,
  resume: byEditor,
  new: byEditor,
  name: here(nameSession),
  session: here(showStats),
  stats: elsewhere("Show what all sessions have used in a terminal: tau stats"),
  compact: here(compact),
  export: here(exportSession),
  import: inTerminal,
  share: inTerminal,
  copy: byEditor,
  queue: byEditor,
  approve: byEditor,
  trust: elsewhere("Trust the project in a terminal: tau trust"),
  permissions: here(choosePermissions),
  "add-dir": here(addDirectory),
  jobs: here(listJobs, { description: "List what runs in the background" }),
  policy: elsewhere("Show the policy in a terminal: tau policy explain"),
  login: elsewhere("Connect a provider in a terminal: tau auth login"),
  logout: elsewhere("Remove a key in a terminal: tau auth logout"),
  extensions: elsewhere("Show extensions in a terminal: tau extensions list"),
  reload: here(reload, { description: "Read settings, extensions, skills and templates again" }),
  doctor: elsewhere("Check the installation in a terminal: tau doctor"),
  changelog: inTerminal,
  bug: here(writeBugReport),
  debug: inTerminal,
  hotkeys: byEditor,
  help: here(showHelp),
  quit: byEditor,
};

/** Finds the command that a prompt is. One of an extension with the same name comes first where ours yields. */
export function findEditorCommand(text: string, isExtensionCommand: boolean) {
  const typed = parseTypedCommand(text);
  if (!typed || isExtensionCommand) return undefined;
  const command = findCommandHere(editorCommands, typed.name);
  return command && { run: command.run, argument: typed.argument };
}

/** Lists our commands, then those of extensions, templates and skills. */
export function listCommands(others: readonly SlashCommandData[]): AvailableCommand[] {
  const own = listCommandsHere(editorCommands).filter(({ name }) => !others.some((other) => other.name === name));
  return [
    ...own.map(({ name, description, argument }) => ({
      name,
      description,
      ...(argument !== undefined && { input: { hint: argument } }),
    })),
    ...others.map(({ name, description = "" }) => ({ name, description, input: { hint: "arguments" } })),
  ];
}

async function chooseModel(port: CommandPort, argument: string): Promise<void> {
  if (argument === "") {
    const { models } = await port.execute({ type: "get_available_models" });
    return port.say(models.map(({ provider, id }) => `- ${provider}/${id}`).join("\n"));
  }
  const { provider, id } = await port.execute({ type: "set_model", modelId: argument });
  port.say(`The model is ${provider}/${id}.`);
}

async function chooseRole(port: CommandPort, argument: string): Promise<void> {
  if (argument === "") {
    const { roles } = await port.execute({ type: "get_available_models" });
    return port.say(roles.map(({ name, model = "the default model" }) => `- ${name}: ${model}`).join("\n"));
  }
  await chooseModel(port, `@${argument.replace(/^@/, "")}`);
}

async function chooseThinking(port: CommandPort, argument: string): Promise<void> {
  if (argument === "") {
    const { levels } = await port.execute({ type: "get_available_thinking_levels" });
    return port.say(`Choose one with /thinking LEVEL: ${levels.join(", ")}.`);
  }
  await port.execute({ type: "set_thinking_level", level: argument as ThinkingLevelName });
  port.say(`The thinking level is ${argument}.`);
}

async function choosePermissions(port: CommandPort, argument: string): Promise<void> {
  if (argument === "") {
    const modes = permissionModes.map((mode) => `- ${mode}: ${permissionModeTexts[mode]}`);
    return port.say(["Choose a mode with /permissions MODE:", ...modes].join("\n"));
  }
  const { mode, note = "" } = await port.execute({ type: "set_permission_mode", mode: argument });
  port.say(`Permission mode ${mode}: ${permissionModeTexts[mode]}. ${note}`.trim());
}

async function addDirectory(port: CommandPort, argument: string): Promise<void> {
  if (argument === "") {
    const { cwd, directories } = await port.execute({ type: "get_state" });
    return port.say(describeDirectories(cwd, directories));
  }
  port.say(describeAddedDirectory(await port.execute({ type: "add_directory", path: argument })));
}

async function nameSession(port: CommandPort, argument: string): Promise<void> {
  if (argument === "") return port.say("Name the session with /name NAME.");
  await port.execute({ type: "set_session_name", name: argument });
  port.say(`The session is called ${argument}.`);
}

async function showStats(port: CommandPort): Promise<void> {
  const {
    tokens,
    cost,
    totalMessages,
    sessionFile,
    costLimits = [],
  } = await port.execute({ type: "get_session_stats" });
  const lines = [
    `- Messages: ${totalMessages}`,
    `- Tokens: ${formatTokens(tokens.input)} in, ${formatTokens(tokens.output)} out, ${formatTokens(tokens.cacheRead)} from the cache`,
    `- Cost: $${cost}`,
    ...costLimits.map((limit) => `- ${describeUsageLimit(limit)}`),
    ...(sessionFile === undefined ? [] : [`- File: ${sessionFile}`]),
  ];
  port.say(lines.join("\n"));
}

async function compact(port: CommandPort, argument: string): Promise<void> {
  const { tokensBefore, estimatedTokensAfter } = await port.execute({
    type: "compact",
    ...(argument !== "" && { customInstructions: argument }),
  });
  port.say(`Summarised: ${formatTokens(tokensBefore)} tokens became ${formatTokens(estimatedTokensAfter)}.`);
}

async function exportSession(port: CommandPort, argument: string): Promise<void> {
  const type = /\.jsonl$/i.test(argument) ? "export_jsonl" : "export_html";
  const { path } = await port.execute({ type, ...(argument !== "" && { outputPath: argument }) });
  port.say(`Written to ${path}.`);
}

async function listJobs(port: CommandPort): Promise<void> {
  const { jobs } = await port.execute({ type: "list_jobs" });
  const lines = jobs.map(({ id, command, state }) => `- ${id} (${command}): ${state}`);
  port.say(lines.length === 0 ? "Nothing runs in the background." : lines.join("\n"));
}

async function reload(port: CommandPort): Promise<void> {
  const { changed } = await port.execute({ type: "reload" });
  port.say(changed.length === 0 ? "Read again." : `Changed: ${changed.join(", ")}`);
}

async function writeBugReport(port: CommandPort, argument: string): Promise<void> {
  if (argument === "") return port.say("Describe what went wrong: /bug TEXT");
  const { path } = await port.execute({ type: "write_bug_report", description: argument, inExports: true });
  port.say(`Written to ${path}, without keys. Nothing was sent.`);
}

function showHelp(port: CommandPort): void {
  const own = listCommandsHere(editorCommands).map((command) => `- ${formatUsage(command)}: ${command.description}`);
  port.say(own.join("\n"));
}
