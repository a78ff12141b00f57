/** Carries out what is typed after a slash. */
import { permissionModes, permissionModeTexts, type ThinkingLevelName } from "@tau/protocol";
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import { listCodeBlocks } from "@tau/markdown";
import {
  chooseCopiedText,
  type CommandElsewhere,
  type CommandHere,
  describeAddedDirectory,
  describeDirectories,
  findLastAnswerText,
  type SlashCommandText,
  type SurfaceCommands,
} from "@tau/protocol/surface";
import { getDraft } from "../app/drafts.ts";
import { getConnected } from "../app/get-connected.ts";
import { tell } from "../app/problems.tsx";
import { showSession } from "../app/route.ts";
import type { SessionPanel, SharedPanel } from "../app/session-context.ts";
import type { SessionInfo } from "../app/session-info.ts";
import { toggleTheme } from "../app/theme.ts";
import { downloadSession } from "./download-session.ts";

/** The part of the page that commands work with. */
export interface CommandPort {
  readonly client: GatewayClient;
  readonly session: RemoteSession;
  readonly info: SessionInfo;
  readonly openPanel: (panel: SessionPanel | SharedPanel) => void;
}

const here = (run: CommandHere<CommandPort>["run"], shown?: SlashCommandText): CommandHere<CommandPort> => ({
  kind: "here",
  run,
  ...(shown && { shown }),
});

const elsewhere = (hint: string): CommandElsewhere => ({ kind: "elsewhere", hint });

export const pageCommands: SurfaceCommands<CommandPort> = {
  model: here(chooseModel),
  role: here(chooseRole),
  "scoped-models": elsewhere("Models are cycled through with a key of the terminal. /model chooses one here."),
  thinking: here(chooseThinking),
  fast: elsewhere("Faster answers are turned on with /fast in the terminal, or with the setting serviceTier."),
  llama: elsewhere("Models of llama.cpp are loaded and unloaded with /llama in the terminal."),
  tools: here(({ openPanel }) => openPanel("tools")),
  settings: here(({ openPanel }) => openPanel("settings"), { description: "Show the settings" }),
  theme: here(toggleTheme, { description: "Light or dark" }),
  tree: here(({ openPanel }) => openPanel("tree")),
  fork: here(({ openPanel }) => openPanel("tree")),
  clone: here(clone),
  resume: here(showList),
  new: here(startNew),
  name: here(nameSession),
  session: here(({ openPanel }) => openPanel("stats")),
  stats: here(({ openPanel }) => openPanel("usage"), { description: "Show what all sessions have used" }),
  compact: here(compact),
  export: here(exportSession, {
    description: "Download this conversation, or write it as .html or .jsonl on the gateway's machine",
    argument: "PATH",
  }),
  import: here(importFile, {
    description: "Open a copy of a session file of the gateway's machine",
    argument: "PATH",
  }),
  share: here(({ openPanel }) => openPanel("share"), {
    description: "Share this session as a link, or as a file on the gateway's machine; take links back",
  }),
  copy: here(copyAnswer),
  queue: elsewhere(
    "Waiting messages are shown above the field where you write. They are changed and taken back there.",
  ),
  approve: elsewhere("An open question is shown above the field where you write. It is answered there."),
  trust: elsewhere("A project is trusted on the gateway's machine, with /trust in the terminal or tau trust."),
  permissions: here(choosePermissions),
  "add-dir": here(addDirectory),
  jobs: here(showJobs, {
    description: "List what runs in the background; with a number its output, with end and a number end it",
    argument: "[end] ID",
  }),
  policy: elsewhere(
    "The policy is shown on the gateway's machine, with /policy in the terminal or tau policy explain.",
  ),
  login: elsewhere("A provider is connected on the gateway's machine, with /login in the terminal or tau auth login."),
  logout: elsewhere("A key is removed on the gateway's machine, with /logout in the terminal or tau auth logout."),
  extensions: elsewhere(
    "Extensions are shown on the gateway's machine, with /extensions in the terminal or tau extensions.",
  ),
  reload: here(reload, { description: "Read settings, extensions, skills and templates again" }),
  doctor: elsewhere("The gateway's machine is checked there, with /doctor in the terminal or tau doctor."),
  changelog: elsewhere("/changelog shows it in the terminal."),
  bug: here(writeBugReport, {
    description: "Write a file about a problem on the gateway's machine, and send nothing",
    argument: "TEXT",
  }),
  debug: elsewhere("/debug in the terminal writes what it shows. /bug writes a file about a problem here."),
  hotkeys: here(({ openPanel }) => openPanel("help")),
  help: here(({ openPanel }) => openPanel("help"), { description: "Show all commands and keys" }),
  quit: elsewhere("Close the page to leave. The gateway keeps the session."),
};

async function chooseModel(page: CommandPort, argument: string): Promise<void> {
  if (argument === "") return page.openPanel("model");
  await getConnected(page).call("set_model", { modelId: argument });
  await page.info.refresh();
}

async function chooseRole(page: CommandPort, argument: string): Promise<void> {
  if (argument !== "") return await chooseModel(page, `@${argument.replace(/^@/, "")}`);
  const { roles } = await getConnected(page).call("get_available_models");
  const lines = roles.map(({ name, model = "the default model" }) => `${name}: ${model}`);
  tell(`/role NAME chooses one.\n${lines.join("\n")}`);
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

async function addDirectory(page: CommandPort, argument: string): Promise<void> {
  const session = getConnected(page);
  if (argument === "") {
    const { cwd, directories } = await session.call("get_state");
    return tell(describeDirectories(cwd, directories));
  }
  tell(describeAddedDirectory(await session.call("add_directory", { path: argument })));
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

/** The lines of output that fit into a note. */
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

async function copyAnswer({ session }: CommandPort, argument: string): Promise<void> {
  const answer = findLastAnswerText(session.view.log.entries);
  if (answer === undefined) return tell("There is no answer yet.");
  const copied = chooseCopiedText(answer, listCodeBlocks(answer), argument);
  if (copied.kind === "copied") await navigator.clipboard.writeText(copied.text);
  tell(copied.message);
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
