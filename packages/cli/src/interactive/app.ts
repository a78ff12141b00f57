/** The interactive terminal: shows one session, and sends what the user does as commands. */
import type { SessionEvent, View } from "@tau/protocol";
import type { SlashCommandName } from "@tau/protocol/surface";
import { type Keybinding, setKeybindings } from "@tau/tui";
import { CacheMisses } from "./cache-misses.ts";
import { Attention } from "./attention.ts";
import { createChoose } from "./choose.ts";
import { CommandRunner } from "./command-runner.ts";
import { connectFirst } from "./commands/connect.ts";
import { createCompletion } from "./completion.ts";
import { Composer } from "./composer.ts";
import { type Core, type CoreOptions, createCore } from "./core.ts";
import { createInterface } from "./create-interface.ts";
import { Exit } from "./exit.ts";
import { createExtensionPlaces, type ExtensionPlaces } from "./extensions/extension-places.ts";
import { LazyExtensions } from "./extensions/lazy-extensions.ts";
import { FirstEntries } from "./first-entries.ts";
import { Header, type HeaderOptions } from "./header.ts";
import type { Interface } from "./interface.ts";
import { KeyActions } from "./key-actions.ts";
import { changeLook } from "./look.ts";
import { OlderEntries } from "./older-entries.ts";
import { OpenQuestions } from "./open-questions.ts";
import { PastPrompts } from "./past-prompts.ts";
import type { Program } from "./program.ts";
import { RunControl } from "./run-control.ts";
import { layOut } from "./screen.ts";
import { SessionFacts } from "./session-facts.ts";
import type { TerminalSettings } from "./settings.ts";
import { StatusArea } from "./status-area.ts";
import { ProgramStatus, type StatusMode } from "./program-status.ts";
import { TerminalTitle } from "./terminal-title.ts";
import { createUserCommands, type UserCommands } from "./create-user-commands.ts";
import { addInstruction } from "./add-instruction.ts";

interface AppOptions extends CoreOptions {
  program: Program;
  /** The branch of the repository in a directory. */
  getBranch: (cwd: string) => Promise<string | undefined>;
  copy: (text: string) => void;
  /** Hands the terminal to the shell, and resolves when it is ours again. */
  suspend?: () => Promise<void>;
  /** Opens an editor of the user's own with a text; resolves to what was saved. */
  editExternally?: (text: string) => Promise<string | undefined>;
  /** Called with each change of what is typed; `read` gives all of it, which may be long. */
  keepDraft?: (read: () => string) => void;
  /** Reads themes and keys again; resolves to what is wrong with them. */
  reloadTerminal?: () => Promise<readonly string[]>;
  /** Adds files or directories of themes. Resolves to what is wrong. */
  addThemes?: (paths: readonly string[]) => Promise<readonly string[]>;
  /** The first frame waits for this: the terminal's answers about its colors. */
  whenColorsKnown?: () => Promise<unknown>;
  /** Whether what tau is doing is reported to the terminal. Default `never`. */
  statusMode?: StatusMode;
  /** Whether the first screen has a line about keys. Default false. */
  showsHint?: boolean;
}

interface RunOptions {
  message?: string;
  draft?: string;
  command?: SlashCommandName;
  /** Follows the command. */
  args?: string;
  /** Shown first. */
  notices?: readonly string[];
}

/** The state that is left when the user leaves. */
export interface AppEnd {
  sessionId: string;
  /** The text that was typed and not sent. */
  draft: string;
  /** Messages that were sent and not confirmed. */
  late: readonly string[];
}

export class App {
  readonly #options: AppOptions;
  readonly #core: Core;
  readonly #attention: Attention;
  readonly #userCommands: UserCommands;
  readonly #title: TerminalTitle;
  readonly #programStatus: ProgramStatus;
  readonly #status: StatusArea;
  readonly #first: FirstEntries;
  readonly #older: OlderEntries;
  readonly #exit: Exit;
  readonly #extensions: LazyExtensions;
  readonly #facts: SessionFacts;
  readonly #misses: CacheMisses;
  readonly #questions: OpenQuestions;
  readonly #interface: Interface;
  readonly #commands: CommandRunner;
  readonly #prompts: PastPrompts;
  readonly #composer: Composer;
  readonly #keys: KeyActions;
  #settings: TerminalSettings;
  #end: (end: AppEnd) => void = () => {};

  constructor(options: AppOptions) {
    const { terminal, themes, keybindings, program, settings, now } = options;
    const { theme } = themes;
    this.#options = options;
    this.#settings = settings;
    setKeybindings(keybindings);
    const core = createCore(options);
    this.#core = core;
    const { tui, look, transcript, remarks, session, editor, dialogs, shell, outbox, gate } = core;
    const { requestRender, redraw, describeKey } = core;
    const { say, run } = remarks;
    const getClient = () => session.client;
    const getView = () => session.view;
    const getSettings = () => this.#settings;

    this.#misses = new CacheMisses({ isOn: () => getSettings().showCacheMissNotices, say: (text) => say(text) });
    this.#title = new TerminalTitle({ terminal, isOn: () => getSettings().terminal.showTitle });
    this.#userCommands = createUserCommands({
      getSettings,
      say: (text) => say(text, "warning"),
      requestRender,
    });
    const { statusLine, notify } = this.#userCommands;
    this.#programStatus = new ProgramStatus({
      terminal,
      mode: options.statusMode ?? "never",
      hasDialog: () => !dialogs.isEmpty,
    });
    const status = new StatusArea({
      theme,
      home: program.home,
      now,
      getView,
      getLate: () => outbox.late,
      getShellCommand: () => shell.current,
      hasDialog: () => !dialogs.isEmpty,
      getEditorMode: () => editor.vimMode?.toUpperCase(),
      getBranch: options.getBranch,
      describeKey,
      requestRender,
      own: statusLine,
      version: program.version,
    });
    this.#status = status;
    this.#attention = new Attention({
      terminal,
      getSettings: () => getSettings().terminal,
      now,
      onNotify: (type, message) => notify(type, message, status.state),
    });
    const facts = new SessionFacts({ session, status, look, remarks, requestRender });
    this.#facts = facts;
    const places = createExtensionPlaces(
      createHeader(options, {
        status,
        describeKey,
        getLoaded: () => facts.loaded,
        isExpanded: () => look.expandsTools,
      }),
      status,
      theme,
    );
    this.#first = new FirstEntries({ transcript, isReady: () => status.state !== undefined, requestRender });
    this.#older = new OlderEntries({
      transcript,
      scroll: arrange(core, places, status, options),
      getClient,
      run,
      requestRender,
    });

    const choose = createChoose({ dialogs, terminal, theme, requestRender });
    const exit = new Exit({ session, terminal, first: this.#first, choose });
    this.#exit = exit;
    const leave = () => run(() => exit.ask());
    const completion = createCompletion(() => ({ client: session.client, themes }));
    editor.setAutocompleteProvider(completion);
    const extensions = new LazyExtensions({
      tui,
      terminal,
      keybindings,
      look,
      themes,
      editor,
      status,
      dialogs,
      places,
      completion,
      say,
      run,
      redraw,
      leave: exit.leave,
      getExtensions: () => session.client.extensions,
      onToolUpdate: (toolCallId, partial) => {
        transcript.setPartial(toolCallId, partial);
        requestRender();
      },
      show: (sessionId) => session.showId(sessionId),
      addThemes: async (paths) => (await options.addThemes?.(paths)) ?? [],
    });
    this.#extensions = extensions;
    const runShortcut = (data: string) => extensions.current?.runShortcut(data) ?? false;

    const control = new RunControl({ editor, outbox, shell, getClient, getView, run, requestRender });
    this.#questions = new OpenQuestions({
      dialogs,
      theme,
      getRows: () => terminal.rows,
      now,
      answer: (approvalId, answer) => session.client.execute({ type: "approve", approvalId, ...answer, resume: true }),
      run,
      onPostponed: () => say("A question is open: /approve answers it.", "warning"),
      stopRun: () => {
        const isStopped = control.stopRun();
        if (isStopped) say("The run was stopped, and the call that was asked about was not made.", "warning");
        return isStopped;
      },
    });
    this.#interface = createInterface({
      tui,
      terminal,
      themes,
      program,
      session,
      remarks,
      dialogs,
      questions: this.#questions,
      editor,
      gate,
      exit,
      choose,
      copy: options.copy,
      describeKey,
      reloadTerminal: async () => (await options.reloadTerminal?.()) ?? [],
      requestRender,
    });
    this.#commands = new CommandRunner({ ui: this.#interface, editor, extensions, facts });

    const keepDraft = () => options.keepDraft?.(() => this.draft);
    const getCwd = () => status.state?.cwd ?? "";
    this.#prompts = new PastPrompts({
      history: program.history,
      editor,
      isOn: () => getSettings().promptHistory,
      getCwd,
      now: program.now,
      choose,
      say,
    });
    const composer = new Composer({
      prompts: this.#prompts,
      editor,
      transcript,
      shell,
      outbox,
      gate,
      program,
      say,
      getCwd,
      runCommand: this.#commands.run,
      addInstruction: (text) => addInstruction(this.#interface, text),
      onHeld: keepDraft,
      requestRender,
    });
    this.#composer = composer;
    const keys = new KeyActions({
      tui,
      terminal,
      keybindings,
      editor,
      dialogs,
      composer,
      prompts: this.#prompts,
      control,
      look,
      say,
      leave,
      run,
      redraw,
      getClient,
      getView,
      getSettings,
      runShortcut,
      runCommand: this.#commands.run,
      suspend: options.suspend,
      editExternally: options.editExternally,
      now,
    });
    this.#keys = keys;
    editor.listen({
      onChange: keepDraft,
      onSubmit: (text) => run(() => composer.submit(text)),
      act: (action) => void keys.act(action),
      runShortcut,
    });
    this.#listen();
  }

  /** Connects the parts, all of which exist, to the session, the frames and the keys. */
  #listen(): void {
    const { tui, session, requestRender } = this.#core;
    const { themes } = this.#options;
    session.listen({
      onSwitch: () => this.#extensions.use(),
      onClear: () => {
        this.#core.transcript.clear();
        this.#attention.forget();
        this.#misses.forget();
      },
      onSnapshot: (view, before) => this.#takeSnapshot(view, before),
      onEvent: (event) => this.#take(event),
      // A key may run something of an extension as soon as the state is drawn.
      onShown: async () => void (await Promise.all([this.#extensions.current?.attach(), this.#facts.refresh()])),
    });
    // Reads a file, and only footers of extensions show it.
    this.#facts.onRefresh(async (client) => await this.#extensions.current?.countProviders(client));
    tui.beforeRender = () => this.#update(session.view);
    tui.onTerminalColorSchemeChange((scheme) => {
      themes.setScheme(scheme);
      requestRender();
    });
    // A full screen looks at these reports too.
    tui.addInputListener((data) =>
      this.#attention.takeFocus(data) && tui.mode !== "fullscreen" ? { consume: true } : undefined,
    );
    tui.addInputListener((data) => (this.#programStatus.takeAnswer(data) ? { consume: true } : undefined));
    tui.addInputListener((data) => {
      if (!themes.takeAnswer(data)) return undefined;
      requestRender();
      return { consume: true };
    });
    tui.addInputListener((data) => this.#extensions.current?.takeInput(data));
    tui.addInputListener((data) => (this.#keys.handle(data) ? { consume: true } : undefined));
  }

  /** The state that the screen is drawn from. */
  get view(): View {
    return this.#core.session.view;
  }

  /** Resolves when the user leaves. `draft` is in the editor at first; `message` or `command` is sent at once. */
  async run({ message, draft = "", command, args = "", notices = [] }: RunOptions = {}): Promise<AppEnd> {
    const { tui, editor, gate, session, remarks } = this.#core;
    const ended = new Promise<AppEnd>((resolve) => (this.#end = resolve));
    void this.#exit.left.then(() => this.stop());
    // What is typed from now on is sent in its order, when the session is shown and the first questions are answered.
    let onBegun = () => {};
    const begun = new Promise<void>((resolve) => (onBegun = resolve));
    void gate.settle(() => begun);
    if (message !== undefined) remarks.run(() => this.#composer.submit(message));
    tui.start(this.#options.whenColorsKnown?.());
    editor.setText(draft);
    tui.setFocus(editor);
    await remarks.guard(() => session.show(session.client));
    for (const notice of notices) remarks.say(notice, "warning");
    void this.#prompts.load();
    void remarks.guard(() => this.#begin(command, args)).finally(onBegun);
    return await ended;
  }

  async #begin(command: SlashCommandName | undefined, args: string): Promise<void> {
    const { state } = this.#status;
    if (state && !state.model) {
      await connectFirst(this.#interface);
      await this.#facts.refresh();
    }
    if (command !== undefined) await this.#commands.run(command, args);
  }

  /** Sends the lines that were typed before the terminal was ready. The last one is not ended, and goes to the editor. */
  typeAhead(text: string): void {
    const { editor, remarks, requestRender } = this.#core;
    const lines = text.split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) remarks.run(() => this.#composer.submit(line));
    if (rest !== "") editor.insertTextAtCursor(rest);
    requestRender();
  }

  /** Prints a remark below the conversation. */
  notify(text: string): void {
    this.#core.remarks.say(text, "warning");
  }

  /** Colours each line, for components of extensions. */
  highlightCode(code: string, language: string | undefined): string[] {
    let state: unknown;
    return code.split("\n").map((text) => {
      const drawn = this.#core.highlighter.highlightLine(text, language, state);
      state = drawn.state;
      return drawn.line;
    });
  }

  /** The text that was typed and not sent, with pasted texts in the place of their markers. */
  get draft(): string {
    const { gate, editor } = this.#core;
    return [...gate.held, editor.getExpandedText()].filter((text) => text !== "").join("\n\n");
  }

  get sessionId(): string {
    return this.#core.session.client.sessionId;
  }

  /** Draws with other settings, theme or keys. */
  applySettings(settings: TerminalSettings): void {
    const { tui, editor, look, redraw } = this.#core;
    const before = this.#settings;
    this.#settings = settings;
    editor.setPaddingX(settings.editorPaddingX);
    editor.setVimKeys(settings.editorMode === "vim");
    editor.setAutocompleteMaxVisible(settings.autocompleteMaxVisible);
    tui.setShowHardwareCursor(settings.showHardwareCursor);
    changeLook(look, settings, before);
    redraw();
  }

  /** Leaves the terminal as it was. */
  stop(): void {
    const { tui, session, outbox } = this.#core;
    session.stop();
    this.#extensions.current?.close();
    this.#status.close();
    this.#userCommands.close();
    this.#programStatus.close();
    this.#first.stop();
    tui.stop({ preserveScreen: tui.mode === "fullscreen" && this.#settings.fullscreenExitOutput === "resume-hint" });
    this.#end({ sessionId: this.sessionId, draft: this.draft, late: outbox.late });
  }

  #takeSnapshot(view: View, before: View): void {
    const { transcript, remarks, requestRender } = this.#core;
    transcript.update(view);
    const isKnown = (message: string) => before.live.notices.some((notice) => notice.message === message);
    for (const { message } of view.live.notices) if (!isKnown(message)) remarks.say(message, "warning");
    if (isCut(view) && !isCut(before))
      remarks.say("The last run was cut, because the gateway ended. Say how to continue.", "warning");
    requestRender();
  }

  #take(event: SessionEvent): void {
    const { session, remarks, requestRender } = this.#core;
    this.#misses.take(event);
    // The view keeps only the latest notices, and a frame may come after several.
    if (event.type === "notice") remarks.notice(event.code, event.message);
    // Not only before frames: a run may be shorter than one.
    if (event.type === "agent_start" || event.type === "agent_end") {
      this.#attention.update(session.view.live);
      this.#programStatus.update(session.view.live, session.view.log.name);
    }
    // The sandbox is tried with the first command.
    const isOfSandbox = event.type === "notice" && event.code === "sandbox";
    if (event.type === "agent_end" || event.type === "model_changed" || isOfSandbox)
      remarks.run(() => this.#facts.refresh());
    else if (usingEvents.has(event.type)) this.#facts.refreshUse();
    requestRender();
  }

  /** Brings every part up to date before each frame. */
  #update(view: View): void {
    const { tui, transcript } = this.#core;
    if (this.#options.themes.update()) tui.invalidate();
    this.#extensions.current?.update();
    this.#attention.update(view.live);
    this.#programStatus.update(view.live, view.log.name);
    this.#title.update(view.log.name, this.#status.state?.cwd ?? "");
    transcript.update(view);
    this.#first.update();
    this.#older.update();
    this.#status.update();
    this.#questions.update(view.live.approvals);
  }
}

/** After these a session has used more, or its context has become smaller. */
const usingEvents: ReadonlySet<SessionEvent["type"]> = new Set(["agent_start", "message_end", "compaction_end"]);

/** The process that the session was in has ended during its last run. */
const isCut = ({ live }: View): boolean => live.ended?.reason === "gateway_disconnected";

/** Creates what the conversation begins with; nothing if the settings want none. */
function createHeader(
  { settings, themes, program, showsHint }: AppOptions,
  {
    status,
    describeKey,
    ...loaded
  }: Pick<HeaderOptions, "getLoaded" | "isExpanded"> & {
    status: StatusArea;
    describeKey: (id: Keybinding) => string;
  },
): Header[] {
  if (settings.quietStartup === true) return [];
  const { version, home } = program;
  const getState = () => (settings.quietStartup === "header" ? undefined : status.state);
  const hint = showsHint
    ? `/ for commands · @ for files · ! for the shell · ${describeKey("app.interrupt")} stops a run · ${describeKey("app.tools.expand")} shows more · /help`
    : undefined;
  return [new Header({ theme: themes.theme, version, home, getState, hint, ...loaded })];
}

/** Puts the parts on the screen. Returns what scrolls the conversation; undefined if the terminal does. */
function arrange(
  { tui, transcript, dialogs }: Core,
  { header, footer, widgets }: ExtensionPlaces,
  status: StatusArea,
  { themes, settings }: AppOptions,
): ReturnType<typeof layOut> {
  const conversation = [header, transcript];
  const below = [status.activity, widgets.aboveEditor, dialogs.slot, widgets.belowEditor, footer];
  return layOut(tui, { conversation, below, theme: themes.theme }, settings);
}
