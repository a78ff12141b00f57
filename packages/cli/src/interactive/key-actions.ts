/** Does what the keys of the program mean while the editor has the focus. */
import type { View } from "@tau/protocol";
import type { SlashCommandName } from "@tau/protocol/surface";
import type { KeybindingsManager, Terminal, TUI } from "@tau/tui";
import type { Composer } from "./composer.ts";
import { findDraggedFiles } from "./dragged-files.ts";
import type { DialogStack } from "./dialog-stack.ts";
import type { EditorSlot } from "./editor-slot.ts";
import type { Interface } from "./interface.ts";
import { runFeatureCommand } from "./commands/feature-command.ts";
import { cyclePermissions, togglePlanMode } from "./commands/permissions.ts";
import { cycleRole } from "./commands/roles.ts";
import { saveThinkingLevel } from "./commands/thinking.ts";
import { type AppKeybinding, editorActions } from "./keybindings.ts";
import type { Look } from "./look.ts";
import type { PastPrompts } from "./past-prompts.ts";
import type { RunControl } from "./run-control.ts";
import type { SessionClient } from "./session-client.ts";
import type { TerminalSettings } from "./settings.ts";

interface KeyActionsOptions extends Pick<Interface, "say" | "leave"> {
  tui: TUI;
  terminal: Terminal;
  keybindings: KeybindingsManager;
  editor: EditorSlot;
  dialogs: DialogStack;
  composer: Composer;
  prompts: PastPrompts;
  control: RunControl;
  look: Look;
  getClient: () => SessionClient;
  getView: () => View;
  getSettings: () => TerminalSettings;
  /** Whether the input was the key of an extension. */
  runShortcut: (data: string) => boolean;
  runCommand: (name: string, argument: string) => Promise<unknown>;
  /** Runs work that nobody waits for; what it throws is said. */
  run: (work: () => Promise<unknown>) => void;
  /** Draws the conversation anew. */
  redraw: () => void;
  /** Hands the terminal to the shell, and resolves when it is ours again. */
  suspend: (() => Promise<void>) | undefined;
  /** Opens an editor of the user's own with a text; resolves to what was saved. */
  editExternally: ((text: string) => Promise<string | undefined>) | undefined;
  now: () => number;
}

const doublePressMs = 500;
/** How long a second press waits for a person who reads what it does. */
const readMs = 3_000;

/** Keys that do what a slash command does. */
const commands: Partial<Record<AppKeybinding, SlashCommandName>> = {
  "app.session.new": "new",
  "app.session.tree": "tree",
  "app.session.fork": "fork",
  "app.session.resume": "resume",
  "app.model.select": "model",
  "app.message.copy": "copy",
};

export class KeyActions {
  readonly #options: KeyActionsOptions;
  /** A press of the same key within this time after it is the second one. */
  #lastPress: { action: AppKeybinding; at: number; withinMs: number } | undefined;

  constructor(options: KeyActionsOptions) {
    this.#options = options;
  }

  /** Whether the key was used. */
  handle(data: string): boolean {
    const { tui, dialogs, editor, composer, keybindings, runShortcut } = this.#options;
    // An overlay of an extension may have the keys.
    if (!dialogs.isEmpty || tui.getFocusedComponent() !== editor) return false;
    const dragged = findDraggedFiles(data);
    if (dragged) return this.#run(() => composer.attachDragged(dragged));
    // An editor of an extension gets them first, and passes on those that it does not use.
    if (editor.handlesActions || editor.takesKey(data)) return false;
    if (runShortcut(data)) return true;
    const action = editorActions.find((id) => keybindings.matches(data, id));
    return action !== undefined && this.act(action);
  }

  /** Whether there was something to do. */
  act(action: AppKeybinding): boolean {
    const { editor, composer, control, look, getClient, runCommand, suspend, leave } = this.#options;
    const command = commands[action];
    if (command !== undefined) return this.#run(() => runCommand(command, ""));
    switch (action) {
      case "app.interrupt":
        return this.#interrupt();
      case "app.clear":
        return this.#clear();
      case "app.exit":
        if (editor.getText() !== "") return false;
        leave();
        return true;
      case "app.suspend":
        return this.#run(() => this.#handOver(suspend));
      case "app.editor.external":
        return this.#run(() => this.#editExternally());
      case "app.editor.redo":
        editor.redo();
        return true;
      case "app.prompts.search":
        return this.#run(() => this.#options.prompts.search());
      case "app.clipboard.pasteImage":
        return this.#run(() => composer.pasteImage());
      case "app.model.cycleForward":
        return this.#run(() => getClient().execute({ type: "cycle_model", direction: "forward" }));
      case "app.model.cycleBackward":
        return this.#run(() => getClient().execute({ type: "cycle_model", direction: "backward" }));
      case "app.role.cycle":
        return this.#run(() => cycleRole(this.#options));
      case "app.permissions.cycle":
        return this.#run(() => cyclePermissions(this.#options));
      case "app.plan.toggle":
        return this.#run(() => togglePlanMode(this.#options));
      case "app.agents.open":
        return this.#run(() => runFeatureCommand("agents", this.#options));
      case "app.thinking.cycle":
        return this.#run(() => getClient().execute({ type: "cycle_thinking_level" }));
      case "app.thinking.save":
        return this.#run(() => saveThinkingLevel(this.#options.getClient(), this.#options.say));
      case "app.thinking.toggle":
        look.hidesThinking = !look.hidesThinking;
        return this.#redraw();
      case "app.tools.expand":
        look.expandsTools = !look.expandsTools;
        return this.#redraw();
      case "app.message.followUp":
        return this.#followUp();
      case "app.message.dequeue":
        return this.#run(() => control.dequeue());
      default:
        return false;
    }
  }

  #run(work: () => Promise<unknown>): true {
    this.#options.run(work);
    return true;
  }

  #redraw(): true {
    this.#options.redraw();
    return true;
  }

  #interrupt(): boolean {
    const { editor, control, getSettings, runCommand } = this.#options;
    if (editor.isShowingAutocomplete()) return false;
    if (control.isBusy) return this.#run(() => control.stop());
    if (editor.getText() !== "") return false;
    const { doubleEscapeAction } = getSettings();
    if (!this.#isSecondPress("app.interrupt") || doubleEscapeAction === "none") return true;
    return this.#run(() => runCommand(doubleEscapeAction, ""));
  }

  /** Stops what is in progress; else empties the editor; else leaves, when pressed twice. */
  #clear(): boolean {
    const { editor, control, tui, leave, keybindings, say } = this.#options;
    const isSecond = this.#isSecondPress("app.clear");
    if (!isSecond && control.isBusy) {
      // What the next press does is read first.
      this.#lastPress = { action: "app.clear", at: this.#options.now(), withinMs: readMs };
      return this.#run(async () => {
        await control.stop();
        const [key] = keybindings.getKeys("app.clear");
        say(`Stopped. ${key} again ${editor.getText() === "" ? "leaves tau" : "empties the editor"}.`);
      });
    }
    if (editor.getText() === "" && isSecond) {
      leave();
      return true;
    }
    editor.setText("");
    tui.requestRender();
    return true;
  }

  #isSecondPress(action: AppKeybinding): boolean {
    const at = this.#options.now();
    const last = this.#lastPress;
    const isSecond = last?.action === action && at - last.at < last.withinMs;
    this.#lastPress = isSecond ? undefined : { action, at, withinMs: doublePressMs };
    return isSecond;
  }

  #followUp(): boolean {
    const { editor, composer, getView } = this.#options;
    const text = editor.getExpandedText();
    editor.setText("");
    // Without a run there is nothing to follow: it is sent as Enter would send it.
    return this.#run(() => (getView().live.run ? composer.followUp(text) : composer.submit(text)));
  }

  async #editExternally(): Promise<void> {
    const { editor, editExternally } = this.#options;
    if (!editExternally) return;
    await this.#handOver(async () => {
      const text = await editExternally(editor.getExpandedText());
      if (text !== undefined) editor.setText(text);
    });
  }

  /** While somebody else has the terminal, nothing is drawn, and no answer of the terminal is on its way to them. */
  async #handOver(work: (() => Promise<void>) | undefined): Promise<void> {
    const { tui, terminal } = this.#options;
    if (!work) return;
    await terminal.drainInput();
    // The document of a full screen comes back; the main screen stays in the scrollback.
    tui.stop({ preserveScreen: tui.mode === "fullscreen" });
    try {
      await work();
    } finally {
      tui.start();
      tui.requestRender(true);
    }
  }
}
