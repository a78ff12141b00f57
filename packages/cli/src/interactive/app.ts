/** The interactive terminal: shows one session, and sends what the user does as commands. */
import type { SessionEvent, View } from "@tau/protocol";
import { ViewTracker } from "@tau/protocol";
import {
  type AutocompleteProvider,
  getEditorTheme,
  getMarkdownTheme,
  type Keybinding,
  type KeybindingsManager,
  setKeybindings,
  type Terminal,
  type TUI,
} from "@tau/tui";
import { Attention } from "./attention.ts";
import { connectFirst } from "./commands/connect.ts";
import { createCompletion } from "./completion.ts";
import { DialogStack } from "./dialog-stack.ts";
import { FirstEntries } from "./first-entries.ts";
import { createAskText } from "./dialogs/ask-text.ts";
import { Picker } from "./dialogs/picker.ts";
import { EditorSlot } from "./editor-slot.ts";
import { createExtensionPlaces, type ExtensionPlaces } from "./extensions/extension-places.ts";
import type { TerminalExtensions } from "./extensions/terminal-extensions.ts";
import { Header } from "./header.ts";
import { Highlighter } from "./highlight/highlight.ts";
import { type AppKeybinding, editorActions } from "./keybindings.ts";
import { findDraggedImage } from "./attached-images.ts";
import type { Interface } from "./interface.ts";
import { OlderEntries } from "./older-entries.ts";
import { OpenQuestions } from "./open-questions.ts";
import { Outbox } from "./outbox.ts";
import type { Program } from "./program.ts";
import type { Look } from "./look.ts";
import { createScreen, layOut } from "./screen.ts";
import type { SessionClient } from "./session-client.ts";
import type { TerminalSettings } from "./settings.ts";
import { ShellCommands } from "./shell-commands.ts";
import { missingCommands, slashCommands } from "./slash-commands.ts";
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
  /** Milliseconds, from any point on. */
  now: () => number;
}

export interface RunOptions {
  message?: string;
  draft?: string;
  /** The name of a slash command. */
  command?: string;
  /** What the user should know first. */
  notices?: readonly string[];
}

/** What is left when the user goes. */
export interface AppEnd {
  sessionId: string;
  /** What was typed and not sent. */
  draft: string;
}

const doublePressMs = 500;
const usualThinkingLabel = "Thinking …";

export class App {
  readonly #options: AppOptions;
  readonly #tui: TUI;
  readonly #look: Look;
  readonly #highlighter: Highlighter;
  readonly #transcript: Transcript;
  readonly #first: FirstEntries;
  readonly #older: OlderEntries;
  readonly #editor: EditorSlot;
  readonly #completion: AutocompleteProvider;
  readonly #places: ExtensionPlaces;
  readonly #dialogs: DialogStack;
  readonly #questions: OpenQuestions;
  readonly #outbox = new Outbox(() => this.#client);
  readonly #tracker = new ViewTracker();
  readonly #attention: Attention;
  readonly #status: StatusArea;
  readonly #shell: ShellCommands;
  #settings: TerminalSettings;
  /** Created for the first session that has extensions. */
  #extensions: TerminalExtensions | undefined;
  #end: (end: AppEnd) => void = () => {};
  #client: SessionClient;
  #unsubscribe: () => void = () => {};
  #lastPress: { action: string; at: number } | undefined;
  /** What the user sends waits for this: see `Interface.settle`. */
  #settling: Promise<unknown> | undefined;

  constructor(options: AppOptions) {
    const { client, terminal, themes, keybindings, program, settings } = options;
    const { theme } = themes;
    this.#options = options;
    this.#client = client;
    setKeybindings(keybindings);
    this.#settings = settings;
    this.#attention = new Attention(terminal, () => this.#settings.terminal);
    this.#tui = createScreen(terminal, settings, theme);
    const highlighter = new Highlighter(theme, () => this.#redraw());
    this.#highlighter = highlighter;
    const { codeBlockIndent } = settings.markdown;
    this.#look = {
      theme,
      markdown: getMarkdownTheme(theme, { highlightCodeLine: highlighter.highlightLine, codeBlockIndent }),
      outputPad: settings.outputPad,
      expandsTools: false,
      hidesThinking: settings.hideThinkingBlock,
      thinkingLabel: usualThinkingLabel,
      images: toImages(settings),
      getColumns: () => terminal.columns,
      cwd: "",
      shows: new Map(),
    };
    this.#tui.beforeRender = () => this.#update(this.#tracker.view);
    this.#transcript = new Transcript({
      look: this.#look,
      now: options.now,
      // What is scrolled out of the full screen can be drawn at any time.
      ...(settings.tuiMode === "regular" && { countFirst: (entries) => countTail(entries, terminal) }),
      describeOlder: ({ entryCount }) =>
        settings.tuiMode === "fullscreen"
          ? "Earlier messages appear as you scroll up."
          : `Earlier messages are not shown here. /tree shows all ${entryCount} entries.`,
    });
    const { editorPaddingX: paddingX, autocompleteMaxVisible } = settings;
    this.#editor = new EditorSlot({
      tui: this.#tui,
      theme: getEditorTheme(theme),
      keybindings,
      settings: { paddingX, autocompleteMaxVisible },
      onChange: () => options.keepDraft?.(() => this.draft),
      onSubmit: (text) => void this.#guard(() => this.#submit(text)),
      act: (action) => void this.#act(action),
      runShortcut: (data) => this.#extensions?.runShortcut(data) ?? false,
      onFailed: (message) => this.#say(message, "error"),
    });
    this.#completion = createCompletion(() => this.#client);
    this.#editor.setAutocompleteProvider(this.#completion);
    this.#dialogs = new DialogStack(this.#editor, (component) => this.#tui.setFocus(component));
    this.#questions = new OpenQuestions({
      dialogs: this.#dialogs,
      theme,
      getRows: () => terminal.rows,
      now: options.now,
      answer: (approvalId, answer) =>
        void this.#guard(() => this.#client.execute({ type: "approve", approvalId, ...answer })),
      onPostponed: () => this.#say("A question is open: /approve answers it.", "warning"),
    });
    const { version, home } = program;
    const getState = () => (settings.quietStartup === "header" ? undefined : this.#status.state);
    const title = settings.quietStartup === true ? [] : [new Header({ theme, version, home, getState })];
    const { now, getBranch } = options;
    const requestRender = () => this.#tui.requestRender();
    this.#shell = new ShellCommands({
      transcript: this.#transcript,
      getClient: () => this.#client,
      now,
      requestRender,
    });
    this.#status = new StatusArea({
      theme,
      home,
      now,
      getView: () => this.#tracker.view,
      getShellCommand: () => this.#shell.current,
      getBranch,
      describeKey: (id) => this.#describeKey(id),
      requestRender,
    });
    this.#places = createExtensionPlaces(title, this.#status, theme);
    const { header: top, footer, widgets } = this.#places;
    const parts = {
      conversation: [top, this.#transcript],
      below: [this.#status.activity, widgets.aboveEditor, this.#dialogs.slot, widgets.belowEditor, footer],
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
      getClient: () => this.#client,
      run: (work) => void this.#guard(work),
      requestRender,
    });
    this.#tui.addInputListener((data) => (this.#takeAnswer(data) ? { consume: true } : undefined));
    this.#tui.addInputListener((data) => this.#extensions?.takeInput(data));
    this.#tui.addInputListener((data) => (this.#handleKey(data) ? { consume: true } : undefined));
  }

  /** What the screen is drawn from. */
  get view(): View {
    return this.#tracker.view;
  }

  /** Resolves when the user leaves. `draft` is in the editor at first; `message` or `command` is sent at once. */
  async run({ message, draft = "", command, notices = [] }: RunOptions = {}): Promise<AppEnd> {
    const ended = new Promise<AppEnd>((resolve) => (this.#end = resolve));
    this.#tui.start(this.#options.whenColorsKnown?.());
    this.#editor.setText(draft);
    this.#tui.setFocus(this.#editor);
    await this.#guard(() => this.#show(this.#client));
    for (const notice of notices) this.#say(notice, "warning");
    void this.#guard(() => this.#begin(message, command));
    return await ended;
  }

  async #begin(message: string | undefined, command: string | undefined): Promise<void> {
    const { state } = this.#status;
    if (state && !state.model) {
      await connectFirst(this.#createInterface());
      await this.#refresh();
    }
    if (command !== undefined) await this.#runCommand(command, "");
    if (message !== undefined) await this.#submit(message);
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
    return this.#editor.getExpandedText();
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
    this.#look.markdown.codeBlockIndent = settings.markdown.codeBlockIndent;
    this.#look.images = toImages(settings);
    this.#look.outputPad = settings.outputPad;
    // What the user has toggled since stays, until the setting itself changes.
    if (settings.hideThinkingBlock !== before.hideThinkingBlock) this.#look.hidesThinking = settings.hideThinkingBlock;
    this.#redraw();
  }

  /** Leaves the terminal as it was. */
  stop(): void {
    this.#unsubscribe();
    this.#extensions?.close();
    this.#status.stop();
    this.#first.stop();
    this.#tui.stop({
      preserveScreen: this.#settings.tuiMode === "fullscreen" && this.#settings.fullscreenExitOutput === "resume-hint",
    });
    this.#end({ sessionId: this.#client.sessionId, draft: this.draft });
  }

  /** Answers of the terminal that are on their way must not reach the shell: `drainInput` takes them. */
  #leave(): void {
    this.#first.stop();
    void this.#options.terminal.drainInput().finally(() => this.stop());
  }

  async #show(client: SessionClient): Promise<void> {
    const before = this.#client;
    const isOther = client.sessionId !== before.sessionId;
    const isLeaving = isOther && this.#tracker.view.live.run !== undefined;
    // Nobody would see what it does, or answer its questions.
    if (isLeaving) await before.execute({ type: "abort" });
    this.#unsubscribe();
    // Its extensions can still show why it ends.
    if (isOther) await this.#guard(async () => await before.leaveFor?.(client));
    this.#client = client;
    await this.#useExtensions();
    this.#transcript.clear();
    this.#unsubscribe = client.subscribe(
      (view) => this.#takeSnapshot(view),
      (event) => this.#take(event),
    );
    if (isLeaving) this.#say("The run in the other session was stopped.");
    await this.#refresh();
    await this.#extensions?.attach();
  }

  /** A reload may have brought the first extensions. */
  async #attachFirst(): Promise<void> {
    if (this.#extensions || !this.#client.extensions?.loaded) return;
    const extensions = await this.#createExtensions();
    this.#extensions = extensions;
    extensions.use(this.#client.extensions);
    await extensions.attach();
  }

  /** Late, because most sessions have none. */
  async #useExtensions(): Promise<void> {
    const { extensions } = this.#client;
    if (extensions?.loaded && !this.#extensions) this.#extensions = await this.#createExtensions();
    this.#extensions?.use(extensions);
  }

  async #createExtensions(): Promise<TerminalExtensions> {
    const { TerminalExtensions } = await import("./extensions/terminal-extensions.ts");
    const { terminal, keybindings, themes } = this.#options;
    return new TerminalExtensions({
      tui: this.#tui,
      terminal,
      keybindings,
      look: this.#look,
      themes,
      editor: this.#editor,
      status: this.#status,
      stack: this.#dialogs,
      places: this.#places,
      completion: this.#completion,
      say: (text, color) => this.#say(text, color),
      redraw: () => void this.#redraw(),
      onToolUpdate: (toolCallId, partial) => {
        this.#transcript.setPartial(toolCallId, partial);
        this.#tui.requestRender();
      },
      show: async (sessionId) => await this.#show(this.#client.to(sessionId)),
      leave: () => this.#leave(),
      addThemes: async (paths) => (await this.#options.addThemes?.(paths)) ?? [],
      run: (work) => void this.#guard(work),
    });
  }

  #takeSnapshot(view: View): void {
    this.#tracker.view = view;
    this.#transcript.update(view);
    for (const { message } of view.live.notices) this.#say(message, "warning");
    this.#tui.requestRender();
  }

  #take(event: SessionEvent): void {
    this.#tracker.take(event);
    // The view keeps only the latest notices, and a frame may come after several.
    if (event.type === "notice") this.#say(event.message, "warning");
    // Not only before frames: a run may be shorter than one.
    if (event.type === "agent_start" || event.type === "agent_end") this.#attention.update(this.#tracker.view.live);
    // The sandbox is tried with the first command.
    const tellsOfSandbox = event.type === "notice" && event.code === "sandbox";
    const spends = this.#status.hasBudget && (event.type === "agent_start" || event.type === "message_end");
    if (event.type === "agent_end" || event.type === "model_changed" || tellsOfSandbox || spends)
      void this.#guard(() => this.#refresh());
    this.#tui.requestRender();
  }

  /** What the view does not hold. */
  async #refresh(): Promise<void> {
    const [{ tools }] = await Promise.all([
      this.#client.execute({ type: "get_tools" }),
      this.#status.refresh(this.#client),
    ]);
    this.#look.shows = new Map(tools.map(({ name, shows }) => [name, shows]));
    this.#look.cwd = this.#status.state?.cwd ?? "";
    this.#tui.requestRender();
    if (this.#extensions) await this.#countProviders();
  }

  /** For footers of extensions. */
  async #countProviders(): Promise<void> {
    const { models } = await this.#client.execute({ type: "get_available_models" });
    this.#places.footerData.setProviderCount(new Set(models.map(({ provider }) => provider)).size);
    this.#tui.requestRender();
  }

  /** Before each frame. */
  #update(view: View): void {
    if (this.#options.themes.update()) this.#tui.invalidate();
    this.#extensions?.update();
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

  /** Whether the key was used. */
  #handleKey(data: string): boolean {
    // An overlay of an extension may have the keys.
    if (!this.#dialogs.isEmpty || this.#tui.getFocusedComponent() !== this.#editor) return false;
    const { keybindings } = this.#options;
    const dragged = findDraggedImage(data);
    if (dragged !== undefined) return this.#attachDragged(dragged, data);
    // An editor of an extension gets them first, and passes on those that it does not use.
    if (this.#editor.handlesActions) return false;
    if (this.#extensions?.runShortcut(data)) return true;
    const action = editorActions.find((id) => keybindings.matches(data, id));
    if (action === undefined) return false;
    return this.#act(action);
  }

  #act(action: AppKeybinding): boolean {
    const run = (command: string) => {
      void this.#guard(() => this.#runCommand(command, ""));
      return true;
    };
    switch (action) {
      case "app.interrupt":
        return this.#interrupt();
      case "app.clear":
        return this.#clear();
      case "app.exit":
        if (this.#editor.getText() !== "") return false;
        this.#leave();
        return true;
      case "app.suspend":
        void this.#guard(async () => await this.#handOver(this.#options.suspend));
        return true;
      case "app.editor.external":
        void this.#guard(() => this.#editExternally());
        return true;
      case "app.editor.redo":
        this.#editor.redo();
        return true;
      case "app.clipboard.pasteImage":
        void this.#guard(() => this.#pasteImage());
        return true;
      case "app.session.new":
        return run("new");
      case "app.session.tree":
        return run("tree");
      case "app.session.fork":
        return run("fork");
      case "app.session.resume":
        return run("resume");
      case "app.model.select":
        return run("model");
      case "app.model.cycleForward":
      case "app.model.cycleBackward": {
        const direction = action === "app.model.cycleForward" ? "forward" : "backward";
        void this.#guard(async () => void (await this.#client.execute({ type: "cycle_model", direction })));
        return true;
      }
      case "app.thinking.cycle":
        void this.#guard(async () => void (await this.#client.execute({ type: "cycle_thinking_level" })));
        return true;
      case "app.thinking.save":
        void this.#guard(() => this.#saveThinkingLevel());
        return true;
      case "app.thinking.toggle":
        this.#look.hidesThinking = !this.#look.hidesThinking;
        return this.#redraw();
      case "app.tools.expand":
        this.#look.expandsTools = !this.#look.expandsTools;
        return this.#redraw();
      case "app.message.copy":
        return run("copy");
      case "app.message.followUp":
        return this.#followUp();
      case "app.message.dequeue":
        void this.#guard(() => this.#dequeue());
        return true;
      default:
        return false;
    }
  }

  #redraw(): true {
    this.#transcript.invalidate();
    this.#tui.requestRender();
    return true;
  }

  #interrupt(): boolean {
    if (this.#editor.isShowingAutocomplete()) return false;
    if (this.#shell.current !== undefined) {
      void this.#guard(() => this.#shell.abort());
      return true;
    }
    const { live } = this.#tracker.view;
    if (live.run || live.compaction || live.retry) {
      void this.#guard(async () => {
        await this.#dequeue();
        await this.#client.execute({ type: "abort" });
      });
      return true;
    }
    if (this.#editor.getText() !== "" || !this.#isSecondPress("app.interrupt")) return this.#editor.getText() === "";
    const { doubleEscapeAction } = this.#settings;
    if (doubleEscapeAction !== "none") void this.#guard(() => this.#runCommand(doubleEscapeAction, ""));
    return true;
  }

  #clear(): boolean {
    if (this.#editor.getText() === "" && this.#isSecondPress("app.clear")) {
      this.#leave();
      return true;
    }
    if (this.#editor.getText() !== "") this.#isSecondPress("app.clear");
    this.#editor.setText("");
    this.#tui.requestRender();
    return true;
  }

  #isSecondPress(action: string): boolean {
    const at = this.#options.now();
    const last = this.#lastPress;
    const isSecond = last?.action === action && at - last.at < doublePressMs;
    this.#lastPress = isSecond ? undefined : { action, at };
    return isSecond;
  }

  #followUp(): boolean {
    const text = this.#editor.getExpandedText();
    if (text.trim() === "") return true;
    // Without a run there is nothing to follow: it is sent as Enter would send it.
    if (!this.#tracker.view.live.run) {
      void this.#guard(() => this.#submit(text));
      return true;
    }
    this.#editor.setText("");
    this.#editor.addToHistory(text);
    void this.#guard(async () => {
      if (this.#settling) await this.#settling;
      await this.#outbox.send("follow_up", text);
    });
    return true;
  }

  async #pasteImage(): Promise<void> {
    const image = await this.#options.program.readClipboardImage();
    if (!image) return this.#say("There is no image on the clipboard, or no program that reads it.", "warning");
    this.#editor.insertTextAtCursor(`${this.#outbox.images.add(image)} `);
    this.#tui.requestRender();
  }

  /** What is no image after all is pasted as text. */
  #attachDragged(path: string, data: string): true {
    void this.#guard(async () => {
      const image = await this.#options.program.readImageFile(path, this.#status.state?.cwd ?? "");
      if (image) this.#editor.insertTextAtCursor(`${this.#outbox.images.add(image)} `);
      else this.#editor.handleInput(data);
      this.#tui.requestRender();
    });
    return true;
  }

  /** What was queued comes back to the editor, before what is in it. */
  async #dequeue(): Promise<void> {
    const texts = await this.#outbox.takeBack();
    const typed = this.#editor.getText();
    if (texts.length > 0) this.#editor.setText([...texts, typed].filter((text) => text !== "").join("\n\n"));
    this.#tui.requestRender();
  }

  async #editExternally(): Promise<void> {
    const edit = this.#options.editExternally;
    if (!edit) return;
    await this.#handOver(async () => {
      const text = await edit(this.draft);
      if (text !== undefined) this.#editor.setText(text);
    });
  }

  /** While somebody else has the terminal, nothing is drawn, and no answer of the terminal is on its way to them. */
  async #handOver(work: (() => Promise<void>) | undefined): Promise<void> {
    if (!work) return;
    await this.#options.terminal.drainInput();
    this.#tui.stop();
    try {
      await work();
    } finally {
      this.#tui.start();
      this.#tui.requestRender(true);
    }
  }

  async #saveThinkingLevel(): Promise<void> {
    const { thinkingLevel } = await this.#client.execute({ type: "get_state" });
    await this.#client.execute({ type: "set_setting", key: "defaultThinkingLevel", value: thinkingLevel });
    this.#say(`New sessions start with the thinking level ${thinkingLevel}.`);
  }

  async #submit(text: string): Promise<void> {
    const trimmed = text.trim();
    if (trimmed === "") return;
    this.#editor.addToHistory(text);
    this.#editor.setText("");
    this.#transcript.keepRemarks();
    if (this.#settling) await this.#settling;
    const [, name, argument = ""] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(trimmed) ?? [];
    if (name !== undefined && (await this.#runCommand(name, argument.trim()))) return;
    try {
      if (trimmed.startsWith("!")) await this.#shell.run(trimmed);
      else await this.#outbox.send("steer", text);
    } catch (error) {
      // What was not taken is not lost.
      if (this.#editor.getText() === "") this.#editor.setText(text);
      throw error;
    }
  }

  /** Whether there is such a command. Templates and skills are not commands of ours: the session expands them. */
  async #runCommand(name: string, argument: string): Promise<boolean> {
    if (this.#extensions?.hasCommand(name)) return false;
    const command = slashCommands.find((one) => one.name === name);
    if (command) await command.run(this.#createInterface(), argument);
    else if (missingCommands.includes(name)) this.#say(`/${name} is not there yet. /help shows what is.`, "warning");
    await (command && this.#refresh());
    await this.#attachFirst();
    return command !== undefined || missingCommands.includes(name);
  }

  #createInterface(): Interface {
    const { theme } = this.#look;
    const getClient = () => this.#client;
    const getView = () => this.#tracker.view;
    const { terminal } = this.#options;
    const dialogs = this.#dialogs;
    return {
      get client() {
        return getClient();
      },
      get view() {
        return getView();
      },
      get rows() {
        return terminal.rows;
      },
      get columns() {
        return terminal.columns;
      },
      theme,
      program: this.#options.program,
      say: (text, color) => this.#say(text, color),
      choose: (title, items, options = {}) =>
        dialogs.ask((finish) => {
          const { onHighlight, ...rest } = options;
          const highlight = onHighlight && {
            onHighlight: (value: string) => {
              onHighlight(value);
              this.#tui.requestRender();
            },
          };
          const onSelect = ({ value }: { value: string }) => finish(value);
          return new Picker({
            title,
            items,
            theme,
            size: terminal,
            ...rest,
            ...highlight,
            onSelect,
            onCancel: () => finish(undefined),
          });
        }),
      ask: (question, options = {}) => dialogs.ask((finish) => createAskText({ question, theme, ...options }, finish)),
      open: (create) => dialogs.ask(create),
      redraw: () => this.#tui.requestRender(),
      answer: (approval) => this.#questions.ask(approval),
      setEditorText: (text) => this.#editor.setText(text),
      // An extension may have kept the user where they are.
      show: async (sessionId) => {
        if (sessionId !== this.#client.sessionId) await this.#show(this.#client.to(sessionId));
      },
      move: async (client) => await this.#show(client),
      run: (work) => void this.#guard(work),
      settle: async (work) => {
        const result = work();
        const settling = Promise.allSettled([this.#settling, result]);
        this.#settling = settling;
        void settling.finally(() => {
          if (this.#settling === settling) this.#settling = undefined;
        });
        return await result;
      },
      copy: (text) => this.#options.copy(text),
      describeKey: (id) => this.#describeKey(id),
      themes: this.#options.themes,
      reloadTerminal: async () => (await this.#options.reloadTerminal?.()) ?? [],
      leave: () => this.#leave(),
    };
  }

  #describeKey(id: Keybinding): string {
    return this.#options.keybindings.getKeys(id).join(", ");
  }

  #say(text: string, color: "dim" | "warning" | "error" = "dim"): void {
    this.#transcript.addRemark(text, color);
    this.#tui.requestRender();
  }

  /** A command that fails says so, and the interface goes on. */
  async #guard(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error), "error");
    }
  }
}

const toImages = ({ terminal }: TerminalSettings): Look["images"] => ({
  areShown: terminal.showImages,
  maxWidthCells: terminal.imageWidthCells,
});
