/** Carries out what is typed after a slash. */
import {
  chooseCopiedText,
  type CommandHere,
  describeCodeBlock,
  describeUsageLimit,
  findLastAnswerText,
  formatUsage,
  listCommandsHere,
  pluralise,
  type SlashCommandName,
} from "@tau/protocol/surface";
import type { CodeBlock } from "@tau/markdown";
import { type SelectItem, toPlainLine } from "@tau/tui";
import { addDirectory } from "./commands/add-directory.ts";
import { listConfigured, listProviders, login, logout } from "./commands/connect.ts";
import { showExtensions } from "./commands/extensions.ts";
import { writeDebugLog } from "./commands/debug.ts";
import { toggleFast } from "./commands/fast.ts";
import { exportSession, importFile, writeBugReport } from "./commands/files.ts";
import { offerFiles } from "./commands/files-too.ts";
import { manageLlama } from "./commands/llama.ts";
import { chooseModel, chooseScopedModels, listModels } from "./commands/models.ts";
import { showJobs } from "./commands/jobs.ts";
import { choosePermissions, listPermissionModes } from "./commands/permissions.ts";
import { runDoctor, showChangelog } from "./commands/program.ts";
import { showPolicy } from "./commands/policy.ts";
import { answerQuestions, editQueue } from "./commands/queue.ts";
import { showKeys } from "./commands/keys.ts";
import { resume } from "./commands/sessions.ts";
import { changeSettings } from "./commands/settings.ts";
import { share } from "./commands/share.ts";
import { chooseRole, listRoles } from "./commands/roles.ts";
import { listStatsArguments, showStats } from "./commands/stats.ts";
import { chooseTheme, listThemes } from "./commands/theme.ts";
import { chooseThinking, listLevels } from "./commands/thinking.ts";
import { openTree } from "./commands/tree.ts";
import { changeTrust } from "./commands/trust.ts";
import { formatRows } from "./format-rows.ts";
import type { Interface } from "./interface.ts";

/** The part of the interface that arguments are listed from. */
export type ArgumentSource = Pick<Interface, "client" | "themes">;

interface TerminalCommand extends CommandHere<Interface> {
  /** Lists what can follow the command, for completion. */
  readonly listArguments?: (source: ArgumentSource) => Promise<SelectItem[]> | SelectItem[];
}

const here = (
  run: TerminalCommand["run"],
  listArguments?: NonNullable<TerminalCommand["listArguments"]>,
): TerminalCommand => ({ kind: "here", run, ...(listArguments && { listArguments }) });

export const terminalCommands: Readonly<Record<SlashCommandName, TerminalCommand>> = {
  model: here(chooseModel, listModels),
  role: here(chooseRole, listRoles),
  "scoped-models": here(chooseScopedModels),
  thinking: here(chooseThinking, listLevels),
  fast: here(toggleFast),
  llama: here(manageLlama),
  tools: here(chooseTools),
  settings: here(changeSettings),
  theme: here(chooseTheme, listThemes),
  tree: here(openTree),
  fork: here(fork),
  clone: here(clone),
  resume: here(resume),
  new: here(startNew),
  name: here(nameSession),
  session: here(showSession),
  stats: here(showStats, listStatsArguments),
  compact: here(compact),
  export: here(exportSession),
  import: here(importFile),
  share: here(share),
  copy: here(copyAnswer, listBlocks),
  queue: here(editQueue),
  approve: here(answerQuestions),
  trust: here(changeTrust),
  permissions: here(choosePermissions, listPermissionModes),
  "add-dir": here(addDirectory),
  jobs: here(showJobs),
  policy: here(showPolicy),
  login: here(login, listProviders),
  logout: here(logout, listConfigured),
  extensions: here(showExtensions),
  reload: here(reload),
  doctor: here(runDoctor),
  changelog: here(showChangelog),
  bug: here(writeBugReport),
  debug: here(writeDebugLog),
  hotkeys: here(showKeys),
  help: here(showHelp),
  quit: here((ui) => ui.leave()),
};

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
  if (entryId === undefined || !(await offerFiles(ui, entryId))) return;
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
      `Messages: ${stats.userMessages} from you, ${pluralise(stats.assistantMessages, "answer")}, ${pluralise(stats.toolCalls, "tool call")}`,
      `Tokens: ${tokens.input} in, ${tokens.output} out, ${tokens.cacheRead} from the cache, ${tokens.cacheWrite} into it`,
      `Cost: $${cost.toFixed(4)}`,
      ...(contextUsage ? [`Context: ${contextUsage.tokens} of ${contextUsage.contextWindow} tokens`] : []),
      ...(stats.costLimits ?? []).map(describeUsageLimit),
    ].join("\n"),
  );
}

async function compact({ client }: Interface, argument: string): Promise<void> {
  await client.execute({ type: "compact", ...(argument !== "" && { customInstructions: argument }) });
}

/** Finds the blocks of code in an answer. The lexer builds a hundred regular expressions, so it is loaded with the first use. */
async function listBlocksOf(answer: string): Promise<CodeBlock[]> {
  const { listCodeBlocks } = await import("@tau/markdown");
  return listCodeBlocks(answer);
}

async function copyAnswer(ui: Interface, argument: string): Promise<void> {
  const { text: inContext } = await ui.client.execute({ type: "get_last_assistant_text" });
  // After a compaction the answers before it are still to be seen.
  const answer = inContext ?? findLastAnswerText(ui.view.log.entries);
  if (answer === undefined) return ui.say("There is no answer yet.");
  const copied = chooseCopiedText(answer, await listBlocksOf(answer), argument);
  if (copied.kind === "copied") ui.copy(copied.text);
  ui.say(copied.message, copied.kind === "copied" ? "dim" : "warning");
}

async function listBlocks({ client }: ArgumentSource): Promise<SelectItem[]> {
  const { text } = await client.execute({ type: "get_last_assistant_text" });
  return (await listBlocksOf(text ?? "")).map((block, index) => ({
    value: String(index + 1),
    label: String(index + 1),
    description: toPlainLine(describeCodeBlock(block)),
  }));
}

async function reload(ui: Interface): Promise<void> {
  const { changed } = await ui.client.execute({ type: "reload" });
  ui.say(changed.length === 0 ? "Read again." : `Changed: ${changed.join(", ")}`);
  for (const problem of await ui.reloadTerminal()) ui.say(problem, "warning");
}

function showHelp(ui: Interface): void {
  const rows = listCommandsHere(terminalCommands).map(
    (command) => [formatUsage(command), command.description] as const,
  );
  ui.say(
    [
      ...formatRows(rows, ui.columns),
      "",
      "!command runs a command, !!command without telling the model. @path names a file.",
    ].join("\n"),
  );
}
