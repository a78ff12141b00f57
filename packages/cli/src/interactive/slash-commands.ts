/** What can be typed after a slash. Help and completion read this table. */
import type { ThinkingLevelName } from "@tau/protocol";
import { type SelectItem, toPlainLine } from "@tau/tui";
import { listConfigured, listProviders, login, logout } from "./commands/connect.ts";
import { showExtensions } from "./commands/extensions.ts";
import { exportSession, importFile, share, writeBugReport } from "./commands/files.ts";
import { chooseModel, chooseScopedModels, listModels } from "./commands/models.ts";
import { showJobs } from "./commands/jobs.ts";
import { choosePermissions, listPermissionModes } from "./commands/permissions.ts";
import { runDoctor, showChangelog } from "./commands/program.ts";
import { showPolicy } from "./commands/policy.ts";
import { answerQuestions, editQueue } from "./commands/queue.ts";
import { showKeys } from "./commands/keys.ts";
import { resume } from "./commands/sessions.ts";
import { changeSettings } from "./commands/settings.ts";
import { chooseTheme, listThemes } from "./commands/theme.ts";
import { openTree } from "./commands/tree.ts";
import { changeTrust } from "./commands/trust.ts";
import { getAnswerText } from "./describe-entry.ts";
import { formatRows } from "./format-rows.ts";
import type { Interface } from "./interface.ts";

/** What arguments are listed from. */
export type ArgumentSource = Pick<Interface, "client" | "themes">;

export interface SlashCommand {
  name: string;
  description: string;
  /** What follows it, for help. */
  argument?: string;
  /** What can follow it, for completion. */
  listArguments?: (source: ArgumentSource) => Promise<SelectItem[]> | SelectItem[];
  /** Whether a command of an extension with this name is run instead: pi has no such command, but its extensions may. */
  yields?: true;
  run: (ui: Interface, argument: string) => Promise<void> | void;
}

export const slashCommands: readonly SlashCommand[] = [
  { name: "model", description: "Choose a model", argument: "NAME", listArguments: listModels, run: chooseModel },
  { name: "scoped-models", description: "Choose the models to cycle through", run: chooseScopedModels },
  {
    name: "thinking",
    description: "Choose how much the model thinks",
    argument: "LEVEL",
    listArguments: listLevels,
    run: chooseThinking,
  },
  { name: "tools", description: "Choose the tools that the model is shown", yields: true, run: chooseTools },
  { name: "settings", description: "Change settings", run: changeSettings },
  {
    name: "theme",
    description: "Choose the colors",
    argument: "NAME",
    yields: true,
    listArguments: listThemes,
    run: chooseTheme,
  },
  { name: "tree", description: "Go to another place in this session", run: openTree },
  { name: "fork", description: "Begin a new session from an earlier message", run: fork },
  { name: "clone", description: "Begin a new session with a copy of this one", run: clone },
  { name: "resume", description: "Open another session", run: resume },
  { name: "new", description: "Begin a new session", run: startNew },
  { name: "name", description: "Name this session", argument: "NAME", run: nameSession },
  { name: "session", description: "Show what this session has used", run: showSession },
  { name: "compact", description: "Summarise the conversation so far", argument: "INSTRUCTIONS", run: compact },
  { name: "export", description: "Write this session as .html or .jsonl", argument: "PATH", run: exportSession },
  { name: "import", description: "Open a copy of a session file", argument: "PATH", run: importFile },
  { name: "share", description: "Make a secret gist of this session", run: share },
  { name: "copy", description: "Copy the last answer", run: copyAnswer },
  { name: "queue", description: "Edit or remove queued messages", yields: true, run: editQueue },
  { name: "approve", description: "Answer open questions", run: answerQuestions },
  { name: "trust", description: "Trust this project, or take that back", run: changeTrust },
  {
    name: "permissions",
    description: "Choose how much is done without asking",
    argument: "MODE",
    yields: true,
    listArguments: listPermissionModes,
    run: choosePermissions,
  },
  { name: "jobs", description: "Show, read or end what runs in the background", yields: true, run: showJobs },
  { name: "policy", description: "Show the policy, the sandbox and what is allowed", run: showPolicy },
  { name: "login", description: "Connect a provider", argument: "PROVIDER", listArguments: listProviders, run: login },
  {
    name: "logout",
    description: "Remove a stored key or login",
    argument: "PROVIDER",
    listArguments: listConfigured,
    run: logout,
  },
  { name: "extensions", description: "Show extensions, what they bring and their problems", run: showExtensions },
  { name: "reload", description: "Read settings, extensions, skills, templates, themes and keys again", run: reload },
  { name: "doctor", description: "Check whether everything works", yields: true, run: runDoctor },
  { name: "changelog", description: "Show what has changed", run: showChangelog },
  { name: "bug", description: "Write a file about a problem, and send nothing", argument: "TEXT", run: writeBugReport },
  { name: "hotkeys", description: "Show the keys", run: showKeys },
  { name: "help", description: "Show all commands", yields: true, run: showHelp },
  { name: "quit", description: "Leave", run: (ui) => ui.leave() },
];

async function listLevels({ client }: ArgumentSource): Promise<SelectItem[]> {
  const { levels } = await client.execute({ type: "get_available_thinking_levels" });
  return levels.map((level) => ({ value: level, label: level }));
}

async function chooseThinking(ui: Interface, argument: string): Promise<void> {
  const items = await listLevels(ui);
  const { thinkingLevel } = await ui.client.execute({ type: "get_state" });
  const level = argument === "" ? await ui.choose("Thinking level", items, { selected: thinkingLevel }) : argument;
  if (level !== undefined) await ui.client.execute({ type: "set_thinking_level", level: level as ThinkingLevelName });
}

async function chooseTools(ui: Interface): Promise<void> {
  const { tools } = await ui.client.execute({ type: "get_tools" });
  const items = tools.map(({ name, description, active }) => ({
    value: name,
    label: `${active ? "✓" : " "} ${name}`,
    description,
  }));
  const name = await ui.choose("Tools", items, { hint: "Enter shows a tool to the model, or hides it." });
  if (name === undefined) return;
  const active = tools.filter((tool) => (tool.name === name ? !tool.active : tool.active)).map((tool) => tool.name);
  await ui.client.execute({ type: "set_tools", names: active });
  await chooseTools(ui);
}

async function fork(ui: Interface): Promise<void> {
  const { messages } = await ui.client.execute({ type: "get_fork_messages" });
  const items = messages.map(({ entryId, text }) => ({
    value: entryId,
    label: toPlainLine(text).slice(0, 200),
  }));
  const entryId = await ui.choose("Fork before which message?", items.toReversed());
  if (entryId === undefined) return;
  const { sessionId, text, cancelled } = await ui.client.execute({ type: "fork", entryId });
  if (cancelled) return;
  await ui.show(sessionId);
  ui.setEditorText(text);
}

async function clone(ui: Interface): Promise<void> {
  const { sessionId } = await ui.client.execute({ type: "clone" });
  await ui.show(sessionId);
}

async function startNew(ui: Interface): Promise<void> {
  const { sessionId } = await ui.client.execute({ type: "new_session" });
  await ui.show(sessionId);
}

async function nameSession(ui: Interface, argument: string): Promise<void> {
  const { sessionName } = await ui.client.execute({ type: "get_state" });
  if (argument === "") return ui.say(sessionName === undefined ? "This session has no name." : `Name: ${sessionName}`);
  await ui.client.execute({ type: "set_session_name", name: argument });
}

async function showSession(ui: Interface): Promise<void> {
  const stats = await ui.client.execute({ type: "get_session_stats" });
  const { tokens, cost, contextUsage } = stats;
  ui.say(
    [
      `Session ${stats.sessionId}`,
      ...(stats.sessionFile === undefined ? ["It is not saved."] : [`File ${stats.sessionFile}`]),
      `Messages: ${stats.userMessages} from you, ${count(stats.assistantMessages, "answer")}, ${count(stats.toolCalls, "tool call")}`,
      `Tokens: ${tokens.input} in, ${tokens.output} out, ${tokens.cacheRead} from the cache, ${tokens.cacheWrite} into it`,
      `Cost: $${cost.toFixed(4)}`,
      ...(contextUsage ? [`Context: ${contextUsage.tokens} of ${contextUsage.contextWindow} tokens`] : []),
    ].join("\n"),
  );
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

async function compact({ client }: Interface, argument: string): Promise<void> {
  await client.execute({ type: "compact", ...(argument !== "" && { customInstructions: argument }) });
}

async function copyAnswer(ui: Interface): Promise<void> {
  const { text: inContext } = await ui.client.execute({ type: "get_last_assistant_text" });
  // After a compaction the answers before it are still to be seen.
  const text = inContext ?? ui.view.log.entries.map(getAnswerText).findLast((answer) => answer.trim() !== "");
  if (text === undefined) return ui.say("There is no answer yet.");
  ui.copy(text);
  ui.say("Copied.");
}

async function reload(ui: Interface): Promise<void> {
  const { changed } = await ui.client.execute({ type: "reload" });
  ui.say(changed.length === 0 ? "Read again." : `Changed: ${changed.join(", ")}`);
  for (const problem of await ui.reloadTerminal()) ui.say(problem, "warning");
}

function showHelp(ui: Interface): void {
  const rows = slashCommands.map(({ name, argument, description }) => {
    const usage = argument === undefined ? `/${name}` : `/${name} [${argument}]`;
    return [usage, description] as const;
  });
  ui.say(
    [
      ...formatRows(rows, ui.columns),
      "",
      "!command runs a command, !!command without telling the model. @path names a file.",
    ].join("\n"),
  );
}
