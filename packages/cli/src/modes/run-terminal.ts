/** The interactive terminal, over whatever session a client gives it. */
import { getErrorMessage } from "@tau/ai/internal";
import type { SessionOptions } from "../start/session-options.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "../commands/command.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import type { Program } from "../interactive/program.ts";
import type { SessionClient } from "../interactive/session-client.ts";
import { shareTerminalLook } from "../hosting/shared-modules.ts";
import type { Settings, SettingsManager } from "@tau/config/settings";
import { readChangelog } from "../terminal/program.ts";
import { createDraftFile } from "../terminal/draft.ts";
import { describeExtendedKeys } from "../terminal/extended-keys.ts";
import { getEditorCommand, getEscapeTimeoutMs, getStatusMode, showsHardwareCursor } from "../terminal/environment.ts";
import { editInEditor } from "../terminal/external-editor.ts";
import { readGitBranch } from "../terminal/git-branch.ts";
import { openLooks } from "../terminal/looks.ts";
import { suspend } from "../terminal/suspend.ts";
import { countStart } from "../terminal/terminal-state.ts";
import { describeUpdate, takeLastVersion } from "../terminal/whats-new.ts";
import { version } from "../start/version.ts";

/** Before the first frame. */
const maxColorWaitMs = 100;

const lateNotice = "The gateway has not confirmed this message. Look at the session before you send it again:";

/** The session that the terminal shows, and what it belongs to. */
interface TerminalSession {
  client: SessionClient;
  /** How the terminal looks and behaves. */
  settingsManager: SettingsManager;
  cwd: string;
  program: Program;
  /** The notices that the user sees first. */
  notices?: readonly string[];
  /** Called when the terminal is there; returns how to stop. `notify` shows the user a sentence. */
  onShown?: (notify: (message: string) => void) => () => void;
  /** Describes the end, after the program has left the terminal. */
  describeEnd: (sessionId: string) => string;
  close: () => Promise<void>;
}

export async function runTerminal(shown: TerminalSession, options: SessionOptions, io: Io): Promise<ExitCode> {
  const { client, settingsManager, cwd } = shown;
  const ui = await import("../interactive/index.ts");
  const agentDir = getAgentDir(io);
  const getSettings = () => {
    const settings = settingsManager.get();
    const { tuiMode = settings.tuiMode } = options;
    return { ...settings, tuiMode, showHardwareCursor: showsHardwareCursor(settings, io.env) };
  };
  let onAnswered = () => {};
  const statusMode = getStatusMode(io.env);
  const escapeTimeoutMs = getEscapeTimeoutMs(io.env);
  const terminal = new ui.ProcessTerminal({
    questions:
      ui.followAppearance + ui.followFocus + (statusMode === "ask" ? ui.statusQuestion : "") + ui.colorQuestions,
    farewell: ui.unfollowAppearance + ui.unfollowFocus,
    onAnswered: () => onAnswered(),
    onTypedAhead: (text) => app.typeAhead(text),
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
    program: shown.program,
    getBranch: readGitBranch,
    copy: (text) => {
      // Both: a terminal may not take it, and the clipboard of this machine may not be the user's.
      terminal.write(`\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`);
      void import("../terminal/clipboard-text.ts")
        .then(({ copyToSystem }) => copyToSystem(text, io.env))
        .catch((error: unknown) => app.notify(getErrorMessage(error)));
    },
    suspend: () => suspend(process),
    editExternally: (text) =>
      editInEditor(getEditorCommand(getSettings().externalEditor, io.env, process.platform), text, cwd),
    keepDraft: draftFile.keep,
    reloadTerminal: looks.reload,
    addThemes: looks.addThemes,
    statusMode,
    whenColorsKnown: () =>
      new Promise<void>((resolve) => {
        onAnswered = resolve;
        setTimeout(resolve, maxColorWaitMs);
      }),
    showsHint: await countStart(agentDir),
    now: () => performance.now(),
  });
  shareTerminalLook({
    theme: looks.themes.theme,
    highlightCode: (code, language) => app.highlightCode(code, language),
    copy: async (text) => (await import("../terminal/clipboard-text.ts")).copyToSystem(text, io.env),
  });
  /** However the program ends: the terminal is as it was, and nothing that was typed is lost. */
  const leave = () => {
    try {
      app.stop();
    } finally {
      draftFile.flush();
    }
  };
  const crash = () => {
    leave();
    io.err(shown.describeEnd(app.sessionId));
  };
  terminal.onDisconnect = leave;
  io.signal.addEventListener("abort", leave);
  process.on("uncaughtExceptionMonitor", crash);
  void describeExtendedKeys(agentDir, io.env).then((notice) => notice !== undefined && app.notify(notice));
  const stopWatching = shown.onShown?.((message) => app.notify(message));
  try {
    const message = [...options.files.map((path) => `@${path}`), options.message].filter(Boolean).join(" ");
    // With a message the editor is not free: the next start without one gets it.
    const draft = message === "" ? draftFile.take() : undefined;
    const kept = draft === undefined ? [] : ["This was typed when the program ended the last time, and not sent."];
    const end = await app.run({
      ...(message !== "" && { message }),
      ...(options.resume === true && { command: "resume" }),
      ...(options.entry !== undefined && { command: "tree", args: options.entry }),
      ...(draft !== undefined && { draft }),
      notices: [...(shown.notices ?? []), ...looks.problems, ...(await describeNews(agentDir, getSettings())), ...kept],
    });
    draftFile.flush();
    await shown.program.history.settle();
    for (const message of end.late) io.err(`${lateNotice}\n${message}\n`);
    io.err(shown.describeEnd(end.sessionId));
    return io.signal.aborted ? exitCodes.interrupted : exitCodes.done;
  } finally {
    process.off("uncaughtExceptionMonitor", crash);
    stopWatching?.();
    looks.close();
    await shown.close();
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
