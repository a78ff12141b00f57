/** Opens the interactive terminal over a host in this process. */
import type { SessionOptions } from "./args.ts";
import { getAgentDir } from "./agent-dir.ts";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { Hosts } from "./hosts.ts";
import { lendTerminalLook } from "./lend-module.ts";
import type { Settings } from "@tau/harness/settings";
import { createProgram, readChangelog } from "./program.ts";
import { createDraftFile } from "./terminal/draft.ts";
import { getEditorCommand, getEscapeTimeoutMs, showsHardwareCursor } from "./terminal/environment.ts";
import { editInEditor } from "./terminal/external-editor.ts";
import { readGitBranch } from "./terminal/git-branch.ts";
import { openLooks } from "./terminal/looks.ts";
import { suspend } from "./terminal/suspend.ts";
import { describeUpdate, takeLastVersion } from "./terminal/whats-new.ts";
import { version } from "./version.ts";

/** Before the first frame. */
const maxColorWaitMs = 100;

export async function runInteractive(options: SessionOptions, io: Io): Promise<ExitCode> {
  const hosts = new Hosts(options, io);
  const client = await hosts.open();
  const ui = await import("./interactive/index.ts");
  const { settingsManager, cwd } = hosts.get(client.sessionId).session;
  const agentDir = getAgentDir(io);
  const getSettings = () => {
    const settings = settingsManager.get();
    const { tuiMode = settings.tuiMode } = options;
    return { ...settings, tuiMode, showHardwareCursor: showsHardwareCursor(settings, io.env) };
  };
  let onAnswered = () => {};
  const escapeTimeoutMs = getEscapeTimeoutMs(io.env);
  const terminal = new ui.ProcessTerminal({
    questions: ui.followAppearance + ui.colorQuestions,
    farewell: ui.unfollowAppearance,
    onAnswered: () => onAnswered(),
    ...(escapeTimeoutMs !== undefined && { escapeTimeoutMs }),
  });
  const looks = await openLooks(ui, {
    options,
    io,
    agentDir,
    settingsManager,
    cwd,
    onChange: (problems) => {
      app.applySettings(getSettings());
      for (const problem of problems) app.notify(problem);
    },
    askForColors: () => terminal.write(ui.colorQuestions),
  });
  const draftFile = createDraftFile({ agentDir, cwd, onError: (message) => app.notify(message) });
  const app = new ui.App({
    client,
    terminal,
    themes: looks.themes,
    settings: getSettings(),
    keybindings: looks.keybindings,
    program: createProgram(io, hosts),
    getBranch: readGitBranch,
    copy: (text) => {
      // Both: a terminal may not take it, and the clipboard of this machine may not be the user's.
      terminal.write(`\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`);
      void import("./clipboard-text.ts").then(({ copyToSystem }) => copyToSystem(text, io.env));
    },
    suspend: () => suspend(process),
    editExternally: (text) =>
      editInEditor(getEditorCommand(getSettings().externalEditor, io.env, process.platform), text, cwd),
    keepDraft: draftFile.keep,
    reloadTerminal: looks.reload,
    addThemes: looks.addThemes,
    whenColorsKnown: () =>
      new Promise<void>((resolve) => {
        onAnswered = resolve;
        setTimeout(resolve, maxColorWaitMs);
      }),
    now: () => performance.now(),
  });
  lendTerminalLook({
    theme: looks.themes.theme,
    highlightCode: (code, language) => app.highlightCode(code, language),
    copy: async (text) => (await import("./clipboard-text.ts")).copyToSystem(text, io.env),
  });
  /** However the program ends: the terminal is as it was, and nothing that was typed is lost. */
  const leave = () => {
    app.stop();
    draftFile.flush();
  };
  const crash = () => {
    leave();
    io.err(describeResume(hosts, app.sessionId));
  };
  terminal.onDisconnect = leave;
  io.signal.addEventListener("abort", leave);
  process.on("uncaughtExceptionMonitor", crash);
  try {
    const message = [...options.files.map((path) => `@${path}`), options.message].filter(Boolean).join(" ");
    // With a message the editor is not free: the next start without one gets it.
    const draft = message === "" ? draftFile.take() : undefined;
    const kept = draft === undefined ? [] : ["This was typed when the program ended the last time, and not sent."];
    const end = await app.run({
      ...(message !== "" && { message }),
      ...(options.resume && { command: "resume" }),
      ...(draft !== undefined && { draft }),
      notices: [...looks.problems, ...(await describeNews(agentDir, getSettings())), ...kept],
    });
    draftFile.flush();
    io.err(describeResume(hosts, end.sessionId));
    return io.signal.aborted ? exitCodes.interrupted : exitCodes.done;
  } finally {
    process.off("uncaughtExceptionMonitor", crash);
    looks.close();
    await hosts.dispose();
  }
}

/** After an update, unless the user wants a quiet start. */
async function describeNews(
  agentDir: string,
  { quietStartup, collapseChangelog: isCollapsed }: Pick<Settings, "quietStartup" | "collapseChangelog">,
): Promise<string[]> {
  const before = await takeLastVersion(agentDir, version);
  if (before === undefined || quietStartup !== false) return [];
  return [describeUpdate({ before, version, changelog: isCollapsed ? undefined : await readChangelog(), isCollapsed })];
}

/** Empty for a session that is not stored, or that nothing was said in. */
function describeResume(hosts: Hosts, sessionId: string): string {
  const { sessionFile, messages } = hosts.get(sessionId).session;
  return sessionFile === undefined || messages.length === 0
    ? ""
    : `To continue this session: tau --session ${sessionId}\n`;
}
