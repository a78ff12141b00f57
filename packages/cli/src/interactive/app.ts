/** The interactive terminal: shows one session, and sends what the user does as commands. */
import { getErrorMessage } from "@tau/ai/internal";
import { emptyView, type SessionEvent, type View, ViewTracker } from "@tau/protocol";
import { findCommandHere, type SlashCommandName } from "@tau/protocol/surface";
import {
  getEditorTheme,
  type Keybinding,
  type KeybindingsManager,
  setKeybindings,
  type Terminal,
  type TUI,
} from "@tau/tui";
import { Attention } from "./attention.ts";
import { connectFirst } from "./commands/connect.ts";
import { confirmLeaving } from "./commands/jobs.ts";
import { createCompletion } from "./completion.ts";
import { Composer } from "./composer.ts";
import { createInterface } from "./create-interface.ts";
import { DialogStack } from "./dialog-stack.ts";
import { EditorSlot } from "./editor-slot.ts";
import { createExtensionPlaces } from "./extensions/extension-places.ts";
import { LazyExtensions } from "./extensions/lazy-extensions.ts";
import { FirstEntries } from "./first-entries.ts";
import { Header } from "./header.ts";
import { Highlighter } from "./highlight/highlight.ts";
import type { Interface } from "./interface.ts";
import { KeyActions } from "./key-actions.ts";
import { changeLook, createLook, type Look } from "./look.ts";
import { OlderEntries } from "./older-entries.ts";
import { OpenQuestions } from "./open-questions.ts";
import type { Program } from "./program.ts";
import { createScreen, layOut } from "./screen.ts";
import type { SessionClient } from "./session-client.ts";
import type { TerminalSettings } from "./settings.ts";
import { ShellCommands } from "./shell-commands.ts";
import { askUnknown } from "./commands/unknown.ts";
import { terminalCommands } from "./slash-commands.ts";
import { StatusArea } from "./status-area.ts";
import type { Themes } from "./themes.ts";
import { Transcript } from "./transcript.ts";
import { countTail } from "./transcript-tail.ts";

export interface AppOptions {
  client: SessionClient;
  terminal: Terminal;
  themes: Themes;
  settings: TerminalSettings;
  keybindings: KeybindingsManager;
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
  /** Whether the first screen has a line about keys. Default false. */
  showsHint?: boolean;
  /** Milliseconds, from any point on. */
  now: () => number;
}

export interface RunOptions {
  message?: string;
  draft?: string;
  command?: SlashCommandName;
  /** What the user should know first. */
  notices?: readonly string[];
}

/** What is left when the user goes. */
export interface AppEnd {
  sessionId: string;
  /** What was typed and not sent. */
  draft: string;
  /** Messages that were sent and not confirmed. */
  late: readonly string[];
}

export class App {
  readonly #options: AppOptions;
  readonly #tui: TUI;
  readonly #look: Look;
  readonly #highlighter: Highlighter;
  readonly #transcript: Transcript;
  readonly #first: FirstEntries;
  readonly #older: OlderEntries;
  readonly #editor: EditorSlot;
  readonly #composer: Composer;
  readonly #keys: KeyActions;
  readonly #questions: OpenQuestions;
  readonly #interface: Interface;
  readonly #extensions: LazyExtensions;
  readonly #tracker = new ViewTracker();
  readonly #attention: Attention;
  readonly #status: StatusArea;
  #settings: TerminalSettings;
  #lastNotice = "";
  /** By the code of the notices. */
  readonly #noticeTakers = new Map<string, (message: string) => void>();
  #end: (end: AppEnd) => void = () => {};
  #client: SessionClient;
  #unsubscribe: () => void = () => {};
  /** Resolves when the last session that was asked for is followed. */
  #following: Promise<void> = Promise.resolve();

  constructor(options: AppOptions) {
    const { client, terminal, themes, keybindings, program, settings, now } = options;
    const { theme } = themes;
    const getClient = () => this.#client;
    const getView = () => this.#tracker.view;
    const requestRender = () => this.#tui.requestRender();
    const say: Interface["say"] = (text, color) => this.#say(text, color);
    const run = (work: () => Promise<unknown>) => void this.#guard(work);
    const redraw = () => this.#redraw();
    const keepDraft = () => options.keepDraft?.(() => this.draft);
    const leave = () => run(() => this.#askToLeave());
    const runShortcut = (data: string) => this.#extensions.current?.runShortcut(data) ?? false;
    const runCommand = (name: string, argument: string) => this.#runCommand(name, argument);
    this.#options = options;
    this.#client = client;
    setKeybindings(keybindings);
    this.#settings = settings;
    this.#attention = new Attention({ terminal, getSettings: () => this.#settings.terminal, now });
    this.#tui = createScreen(terminal, settings, theme);
    this.#highlighter = new Highlighter(theme, redraw);
    this.#look = createLook({ theme, terminal, highlighter: this.#highlighter, settings });
    this.#tui.beforeRender = () => this.#update(this.#tracker.view);
    this.#transcript = createTranscript(this.#look, options);
    const { editorPaddingX: paddingX, autocompleteMaxVisible } = settings;
    this.#editor = new EditorSlot({
      tui: this.#tui,
      theme: getEditorTheme(theme),
      keybindings,
      settings: { paddingX, autocompleteMaxVisible },
      onChange: keepDraft,
      onSubmit: (text) => run(() => this.#composer.submit(text)),
      act: (action) => void this.#keys.act(action),
      runShortcut,
      onFailed: (message) => this.#say(message, "error"),
    });
    const completion = createCompletion(() => this.#interface);
    this.#editor.setAutocompleteProvider(completion);
    const dialogs = new DialogStack(this.#editor, (component) => this.#tui.setFocus(component));
    this.#questions = new OpenQuestions({
      dialogs,
      theme,
      getRows: () => terminal.rows,
      now,
      answer: (approvalId, answer) => this.#client.execute({ type: "approve", approvalId, ...answer }),
      run,
      onPostponed: () => this.#say("A question is open: /approve answers it.", "warning"),
      stopRun: () => {
        const isStopped = this.#keys.stopRun();
        if (isStopped) this.#say("The run was stopped, and the call that was asked about was not made.", "warning");
        return isStopped;
      },
    });
    const { version, home } = program;
    const getState = () => (settings.quietStartup === "header" ? undefined : this.#status.state);
    const hint = options.showsHint ? this.#describeHint() : undefined;
    const title = settings.quietStartup === true ? [] : [new Header({ theme, version, home, getState, hint })];
    const shell = new ShellCommands({ transcript: this.#transcript, getClient, now, requestRender });
    this.#status = new StatusArea({
      theme,
      home,
      now,
      getView,
      getLate: () => this.#composer.late,
      getShellCommand: () => shell.current,
      hasDialog: () => !dialogs.isEmpty,
      getBranch: options.getBranch,
      describeKey: (id) => this.#describeKey(id),
      requestRender,
    });
    const places = createExtensionPlaces(title, this.#status, theme);
    const { header: top, footer, widgets } = places;
    const parts = {
      conversation: [top, this.#transcript],
      below: [this.#status.activity, widgets.aboveEditor, dialogs.slot, widgets.belowEditor, footer],
      theme,
    };
    this.#first = new FirstEntries({
      transcript: this.#transcript,
      isReady: () => this.#status.state !== undefined,
      requestRender,
    });
    this.#older = new OlderEntries({
      transcript: this.#transcript,
      scroll: layOut(this.#tui, parts, settings),
      getClient,
      run,
      requestRender,
    });
    const common = { tui: this.#tui, terminal, keybindings, themes, theme, program, look: this.#look };
    const own = { editor: this.#editor, dialogs, getClient, getView, say, run, redraw, leave, requestRender };
    this.#composer = new Composer({
      ...own,
      program,
      transcript: this.#transcript,
      shell,
      getCwd: () => this.#status.state?.cwd ?? "",
      runCommand,
      onHeld: keepDraft,
    });
    this.#keys = new KeyActions({
      ...common,
      ...own,
      composer: this.#composer,
      shell,
      getSettings: () => this.#settings,
      runShortcut,
      runCommand,
      suspend: options.suspend,
      editExternally: options.editExternally,
      now,
    });
    this.#interface = createInterface({
      ...own,
      ...common,
      questions: this.#questions,
      move: (other) => this.#show(other),
      settle: (work) => this.#composer.settle(work),
      takeNotices: (code, take) => {
        this.#noticeTakers.set(code, take);
        return () => this.#noticeTakers.delete(code);
      },
      copy: options.copy,
      sayMarkdown: (text) => this.#sayMarkdown(text),
      describeKey: (id) => this.#describeKey(id),
      reloadTerminal: async () => (await options.reloadTerminal?.()) ?? [],
    });
    this.#extensions = new LazyExtensions({
      ...common,
      ...own,
      leave: () => this.#leave(),
      getExtensions: () => this.#client.extensions,
      status: this.#status,
      places,
      completion,
      onToolUpdate: (toolCallId, partial) => {
        this.#transcript.setPartial(toolCallId, partial);
        requestRender();
      },
      show: (sessionId) => this.#show(this.#client.to(sessionId)),
      addThemes: async (paths) => (await options.addThemes?.(paths)) ?? [],
    });
    this.#tui.onTerminalColorSchemeChange((scheme) => {
      themes.setScheme(scheme);
      requestRender();
    });
    // A full screen looks at these reports too.
    this.#tui.addInputListener((data) =>
      this.#attention.takeFocus(data) && this.#tui.mode !== "fullscreen" ? { consume: true } : undefined,
    );
    this.#tui.addInputListener((data) => (this.#takeAnswer(data) ? { consume: true } : undefined));
    this.#tui.addInputListener((data) => this.#extensions.current?.takeInput(data));
    this.#tui.addInputListener((data) => (this.#keys.handle(data) ? { consume: true } : undefined));
  }

  /** What the screen is drawn from. */
  get view(): View {
    return this.#tracker.view;
  }

  /** Resolves when the user leaves. `draft` is in the editor at first; `message` or `command` is sent at once. */
  async run({ message, draft = "", command, notices = [] }: RunOptions = {}): Promise<AppEnd> {
    const ended = new Promise<AppEnd>((resolve) => (this.#end = resolve));
    // What is typed from now on is sent in its order, when the session is shown and the first questions are answered.
    let onBegun = () => {};
    const begun = new Promise<void>((resolve) => (onBegun = resolve));
    void this.#composer.settle(() => begun);
    if (message !== undefined) void this.#guard(() => this.#composer.submit(message));
    this.#tui.start(this.#options.whenColorsKnown?.());
    this.#editor.setText(draft);
    this.#tui.setFocus(this.#editor);
    await this.#guard(() => this.#show(this.#client));
    for (const notice of notices) this.#say(notice, "warning");
    void this.#guard(() => this.#begin(command)).finally(onBegun);
    return await ended;
  }

  async #begin(command: SlashCommandName | undefined): Promise<void> {
    const { state } = this.#status;
    if (state && !state.model) {
      await connectFirst(this.#interface);
      await this.#refresh();
    }
    if (command !== undefined) await this.#runCommand(command, "");
  }

  /** Sends the lines that were typed before the terminal was ready. The last one is not ended, and goes to the editor. */
  typeAhead(text: string): void {
    const lines = text.split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) void this.#guard(() => this.#composer.submit(line));
    if (rest !== "") this.#editor.insertTextAtCursor(rest);
    this.#tui.requestRender();
  }

  /** A remark below the conversation. */
  notify(text: string): void {
    this.#say(text, "warning");
  }

  /** Each line in colors, for components of extensions. */
  highlightCode(code: string, language: string | undefined): string[] {
    let state: unknown;
    return code.split("\n").map((text) => {
      const drawn = this.#highlighter.highlightLine(text, language, state);
      state = drawn.state;
      return drawn.line;
    });
  }

  /** What was typed and not sent, with pasted texts in the place of their markers. */
  get draft(): string {
    return [...this.#composer.held, this.#editor.getExpandedText()].filter((text) => text !== "").join("\n\n");
  }

  get sessionId(): string {
    return this.#client.sessionId;
  }

  /** Draws with other settings, theme or keys. */
  applySettings(settings: TerminalSettings): void {
    const before = this.#settings;
    this.#settings = settings;
    this.#editor.setPaddingX(settings.editorPaddingX);
    this.#editor.setAutocompleteMaxVisible(settings.autocompleteMaxVisible);
    this.#tui.setShowHardwareCursor(settings.showHardwareCursor);
    changeLook(this.#look, settings, before);
    this.#redraw();
  }

  /** Leaves the terminal as it was. */
  stop(): void {
    this.#unsubscribe();
    this.#extensions.current?.close();
    this.#status.close();
    this.#first.stop();
    this.#tui.stop({
      preserveScreen: this.#tui.mode === "fullscreen" && this.#settings.fullscreenExitOutput === "resume-hint",
    });
    this.#end({ sessionId: this.#client.sessionId, draft: this.draft, late: this.#composer.late });
  }

  /** Jobs end with the program, which the user may have forgotten. */
  async #askToLeave(): Promise<void> {
    const { outlivesTerminal = false } = this.#client;
    const jobs = outlivesTerminal ? [] : [...this.#tracker.view.live.jobs, ...(this.#client.listOtherJobs?.() ?? [])];
    if (jobs.length === 0 || (await confirmLeaving(this.#interface, jobs))) this.#leave();
  }

  /** Answers of the terminal that are on their way must not reach the shell: `drainInput` takes them. */
  #leave(): void {
    this.#first.stop();
    void this.#options.terminal.drainInput().finally(() => this.stop());
  }

  /** If several are wanted at once, each is shown in turn. */
  async #show(client: SessionClient): Promise<void> {
    const following = this.#following.then(() => this.#follow(client));
    this.#following = following.catch(() => {});
    await following;
    // A key may run something of an extension as soon as the state is drawn.
    await Promise.all([this.#extensions.current?.attach(), this.#refresh()]);
  }

  async #follow(client: SessionClient): Promise<void> {
    const before = this.#client;
    const isOther = client.sessionId !== before.sessionId;
    const isLeaving = isOther && !before.outlivesTerminal && this.#tracker.view.live.run !== undefined;
    // Nobody would see what it does, or answer its questions.
    if (isLeaving) await before.execute({ type: "abort" });
    this.#unsubscribe();
    // Its extensions can still show why it ends.
    if (isOther) await this.#guard(async () => await before.leaveFor?.(client));
    this.#client = client;
    await this.#extensions.use();
    this.#transcript.clear();
    // A gateway sends the snapshot later. Until then nothing of the other session may be drawn or answered.
    this.#tracker.view = emptyView;
    this.#attention.forget();
    this.#unsubscribe = client.subscribe(
      (view) => this.#takeSnapshot(view),
      (event) => this.#take(event),
    );
    if (isLeaving) this.#say("The run in the other session was stopped.");
  }

  #takeSnapshot(view: View): void {
    const before = this.#tracker.view;
    const wasCut = isCut(before);
    this.#tracker.view = view;
    this.#transcript.update(view);
    const isKnown = (message: string) => before.live.notices.some((notice) => notice.message === message);
    for (const { message } of view.live.notices) if (!isKnown(message)) this.#say(message, "warning");
    if (isCut(view) && !wasCut)
      this.#say("The last run was cut, because the gateway ended. Say how to go on.", "warning");
    this.#tui.requestRender();
  }

  #take(event: SessionEvent): void {
    this.#tracker.take(event);
    // The view keeps only the latest notices, and a frame may come after several.
    if (event.type === "notice") {
      const take = this.#noticeTakers.get(event.code);
      if (take) take(event.message);
      else {
        this.#say(event.message, "warning");
        this.#lastNotice = event.message;
      }
    }
    // Not only before frames: a run may be shorter than one.
    if (event.type === "agent_start" || event.type === "agent_end") this.#attention.update(this.#tracker.view.live);
    // The sandbox is tried with the first command.
    const tellsOfSandbox = event.type === "notice" && event.code === "sandbox";
    if (event.type === "agent_end" || event.type === "model_changed" || tellsOfSandbox)
      void this.#guard(() => this.#refresh());
    else if (usingEvents.has(event.type)) void this.#report(() => this.#status.refreshUse(this.#client));
    this.#tui.requestRender();
  }

  /** What the view does not hold. */
  async #refresh(): Promise<void> {
    const client = this.#client;
    const [{ tools }] = await Promise.all([client.execute({ type: "get_tools" }), this.#status.refresh(client)]);
    // Another session may be shown by now.
    if (this.#client !== client) return;
    this.#look.shows = new Map(tools.map(({ name, shows }) => [name, shows]));
    this.#look.cwd = this.#status.state?.cwd ?? "";
    this.#tui.requestRender();
    // Reads a file, and only footers of extensions show it: nothing waits for it.
    void this.#report(async () => await this.#extensions.current?.countProviders(client));
  }

  /** Before each frame. */
  #update(view: View): void {
    if (this.#options.themes.update()) this.#tui.invalidate();
    this.#extensions.current?.update();
    this.#attention.update(view.live);
    this.#transcript.update(view);
    this.#first.update();
    this.#older.update();
    this.#status.update();
    this.#questions.update(view.live.approvals);
  }

  #takeAnswer(data: string): boolean {
    const isAnswer = this.#options.themes.takeAnswer(data);
    if (isAnswer) this.#tui.requestRender();
    return isAnswer;
  }

  #redraw(): void {
    this.#transcript.invalidate();
    this.#tui.requestRender();
  }

  /**
   * Whether nothing is left to send. Templates and skills are not commands of ours: the session expands them. A word that
   * neither of us knows is sent only if the user says so; a text of several words may begin with a slash.
   */
  async #runCommand(name: string, argument: string): Promise<boolean> {
    if (this.#extensions.current?.hasCommand(name)) return false;
    const command = findCommandHere(terminalCommands, name);
    if (!command && argument === "") {
      const answer = await askUnknown(this.#interface, name);
      if (answer.kind === "run") return await this.#runCommand(answer.name, "");
      if (answer.kind === "edit" && this.#editor.getText() === "") this.#editor.setText(`/${name}`);
      if (answer.kind === "edit") return true;
    }
    if (command) await command.run(this.#interface, argument);
    await (command && this.#refresh());
    await this.#extensions.attachFirst();
    return command !== undefined;
  }

  #describeHint(): string {
    const [stop, unfold] = (["app.interrupt", "app.tools.expand"] as const).map((id) => this.#describeKey(id));
    return `/ for commands · @ for files · ! for the shell · ${stop} stops a run · ${unfold} shows more · /help`;
  }

  #describeKey(id: Keybinding): string {
    return this.#options.keybindings.getKeys(id).join(", ");
  }

  #say(text: string, color: "dim" | "warning" | "error" = "dim"): void {
    this.#transcript.addRemark(text, color);
    this.#tui.requestRender();
  }

  #sayMarkdown(text: string): void {
    this.#transcript.addMarkdown(text);
    this.#tui.requestRender();
  }

  /** A command that fails says so, and the interface goes on. */
  async #guard(work: () => Promise<unknown>): Promise<void> {
    this.#lastNotice = "";
    await this.#report(work);
  }

  /** Reports a failure of work beside a command, unless a notice has said the same already. */
  async #report(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const message = getErrorMessage(error);
      // A compaction that fails tells everyone who follows the session, and whoever asked for it.
      if (message !== this.#lastNotice) this.#say(message, "error");
    }
  }
}

/** After these a session has used more, or its context has become smaller. */
const usingEvents: ReadonlySet<SessionEvent["type"]> = new Set(["agent_start", "message_end", "compaction_end"]);

function createTranscript(look: Look, { settings, terminal, now }: AppOptions): Transcript {
  if (settings.tuiMode === "fullscreen") {
    return new Transcript({ look, now, describeOlder: () => "Earlier messages appear as you scroll up." });
  }
  return new Transcript({
    look,
    now,
    // What has left the screen cannot be drawn again, so only the end is drawn at first.
    countFirst: (entries) => countTail(entries, terminal),
    describeOlder: ({ entryCount }) => `Earlier messages are not shown here. /tree shows all ${entryCount} entries.`,
  });
}

/** The process that the session was in has ended during its last run. */
const isCut = ({ live }: View): boolean => live.ended?.reason === "gateway_disconnected";
