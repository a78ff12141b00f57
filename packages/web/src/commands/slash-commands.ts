/** What can be typed after a slash. Help and completion read this table. */
import { permissionModes, permissionModeTexts, type SessionEntry, type ThinkingLevelName } from "@tau/protocol";
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import { getDraft } from "../app/drafts.ts";
import { getConnected } from "../app/get-connected.ts";
import { tell } from "../app/problems.tsx";
import { showSession } from "../app/route.ts";
import type { SessionPanel } from "../app/session-context.ts";
import type { SessionInfo } from "../app/session-info.ts";
import { toggleTheme } from "../app/theme.ts";
import { downloadSession } from "./download-session.ts";

/** What commands work with. */
export interface CommandPort {
  readonly client: GatewayClient;
  readonly session: RemoteSession;
  readonly info: SessionInfo;
  readonly openPanel: (panel: SessionPanel | "help") => void;
}

export interface SlashCommand {
  readonly name: string;
  readonly description: string;
  /** What follows it, for help. */
  readonly argument?: string;
  /** Whether a command of an extension with this name is run instead. The same as in the terminal. */
  readonly yields?: true;
  readonly run: (page: CommandPort, argument: string) => Promise<void> | void;
}

export const slashCommands: readonly SlashCommand[] = [
  { name: "model", description: "Choose a model", argument: "NAME", run: chooseModel },
  { name: "thinking", description: "Choose how much the model thinks", argument: "LEVEL", run: chooseThinking },
  {
    name: "tools",
    description: "Choose the tools that the model is shown",
    yields: true,
    run: ({ openPanel }) => openPanel("tools"),
  },
  { name: "settings", description: "Show the settings", run: ({ openPanel }) => openPanel("settings") },
  { name: "theme", description: "Light or dark", yields: true, run: toggleTheme },
  { name: "tree", description: "Go to another place in this session", run: ({ openPanel }) => openPanel("tree") },
  {
    name: "fork",
    description: "Begin a new session from an earlier message",
    run: ({ openPanel }) => openPanel("tree"),
  },
  { name: "clone", description: "Begin a new session with a copy of this one", run: clone },
  { name: "resume", description: "Open another session", run: showList },
  { name: "new", description: "Begin a new session in this directory", run: startNew },
  { name: "name", description: "Name this session", argument: "NAME", run: nameSession },
  { name: "session", description: "Show what this session has used", run: ({ openPanel }) => openPanel("stats") },
  { name: "compact", description: "Summarise the conversation so far", argument: "INSTRUCTIONS", run: compact },
  {
    name: "export",
    description: "Download this conversation, or write it as .html or .jsonl on the gateway's machine",
    argument: "PATH",
    run: exportSession,
  },
  {
    name: "import",
    description: "Open a copy of a session file of the gateway's machine",
    argument: "PATH",
    run: importFile,
  },
  { name: "copy", description: "Copy the last answer", run: copyAnswer },
  {
    name: "permissions",
    description: "Choose how much is done without asking: ask, edit or free",
    argument: "MODE",
    yields: true,
    run: choosePermissions,
  },
  {
    name: "jobs",
    description: "List what runs in the background; with a number its output, with end and a number end it",
    argument: "[end] ID",
    yields: true,
    run: showJobs,
  },
  { name: "reload", description: "Read settings, extensions, skills and templates again", run: reload },
  {
    name: "bug",
    description: "Write a file about a problem on the gateway's machine, and send nothing",
    argument: "TEXT",
    run: writeBugReport,
  },
  { name: "hotkeys", description: "Show the keys", run: ({ openPanel }) => openPanel("help") },
  { name: "help", description: "Show all commands and keys", yields: true, run: ({ openPanel }) => openPanel("help") },
];

async function chooseModel(page: CommandPort, argument: string): Promise<void> {
  if (argument === "") return page.openPanel("model");
  await getConnected(page).call("set_model", { modelId: argument });
  await page.info.refresh();
}

async function chooseThinking(page: CommandPort, argument: string): Promise<void> {
  if (argument === "") return page.openPanel("model");
  await getConnected(page).call("set_thinking_level", { level: argument as ThinkingLevelName });
  await page.info.refresh();
}

async function choosePermissions(page: CommandPort, argument: string): Promise<void> {
  if (argument === "") {
    const mode = page.session.view.live.permissionMode;
    const modes = permissionModes.map((each) => `${each}: ${permissionModeTexts[each]}`).join(". ");
    return tell(`The permission mode is ${mode}. /permissions MODE chooses another one. ${modes}.`);
  }
  const { mode, note = "" } = await getConnected(page).call("set_permission_mode", { mode: argument });
  tell(`Permission mode ${mode}: ${permissionModeTexts[mode]}. ${note}`.trim());
}

async function showJobs(page: CommandPort, argument: string): Promise<void> {
  const [first = "", second = ""] = argument.split(/\s+/);
  const session = getConnected(page);
  if (first === "") {
    const { jobs } = await session.call("list_jobs");
    const lines = jobs.map(({ id, command, state }) => `${id} (${command}): ${state}`);
    return tell(lines.length === 0 ? "Nothing runs in the background." : lines.join("\n"));
  }
  if (first === "end") return tell((await session.call("kill_job", { id: second })).job.state);
  const { job, output } = await session.call("read_job", { id: first });
  tell(`${job.state}\n${output.split("\n").slice(-maxOutputLines).join("\n")}`);
}

/** What has room in a note. */
const maxOutputLines = 20;

async function clone(page: CommandPort): Promise<void> {
  showOther(page.client, await getConnected(page).call("clone"));
}

async function startNew(page: CommandPort): Promise<void> {
  showOther(page.client, await getConnected(page).call("new_session"));
}

/** An extension can keep the user in the session. `text` is what is written in the other one. */
export function showOther(
  client: GatewayClient,
  { sessionId, cancelled, text }: { sessionId: string; cancelled: boolean; text?: string },
): void {
  if (cancelled) return tell("An extension has prevented this.");
  const draft = getDraft(client, sessionId);
  if (text !== undefined) draft.text = text;
  draft.wantsFocus = true;
  showSession(sessionId);
}

function showList(): void {
  const field = document.querySelector<HTMLElement>("#session-search");
  // On a phone there is either the list or a session.
  if (field?.offsetParent) field.focus();
  else showSession(undefined);
}

async function nameSession(page: CommandPort, argument: string): Promise<void> {
  const { name } = page.session.view.log;
  if (argument === "") tell(name === undefined ? "This session has no name." : `Name: ${name}`);
  else await getConnected(page).call("set_session_name", { name: argument });
}

async function compact(page: CommandPort, argument: string): Promise<void> {
  await getConnected(page).call("compact", argument === "" ? {} : { customInstructions: argument });
  await page.info.refresh();
}

/** Without a path, the file is for whoever sits at the browser, which may be on another machine. */
async function exportSession(page: CommandPort, argument: string): Promise<void> {
  if (argument === "") return await downloadSession(page.session);
  const command = /\.jsonl$/i.test(argument) ? "export_jsonl" : "export_html";
  const { path } = await getConnected(page).call(command, { outputPath: argument });
  tell(`Written to ${path} on the gateway's machine.`);
}

async function importFile(page: CommandPort, argument: string): Promise<void> {
  if (argument === "") throw new Error("Say which file of the gateway's machine: /import PATH");
  showOther(page.client, await getConnected(page).call("import_session", { path: argument }));
}

async function copyAnswer({ session }: CommandPort): Promise<void> {
  const text = session.view.log.entries.map(getAnswerText).findLast((answer) => answer.trim() !== "");
  if (text === undefined) return tell("There is no answer yet.");
  await navigator.clipboard.writeText(text);
  tell("Copied.");
}

function getAnswerText(entry: SessionEntry): string {
  if (entry.type !== "message" || entry.message.role !== "assistant") return "";
  return entry.message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

async function reload(page: CommandPort): Promise<void> {
  const { changed } = await getConnected(page).call("reload");
  tell(changed.length === 0 ? "Read again." : `Changed: ${changed.join(", ")}`);
  await page.info.refresh();
}

async function writeBugReport(page: CommandPort, argument: string): Promise<void> {
  if (argument === "") throw new Error("Say what went wrong: /bug TEXT");
  const { path } = await getConnected(page).call("write_bug_report", { description: argument, inExports: true });
  tell(`Written to ${path} on the gateway's machine, without keys. Nothing was sent.`);
}
