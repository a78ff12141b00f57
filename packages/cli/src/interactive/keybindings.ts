/**
 * The actions of the program that keys are bound to, besides those of the components. Ids and defaults are pi's, except
 * for `app.editor.redo`, `app.role.cycle`, `app.permissions.cycle`, `app.plan.toggle`, `app.agents.open` and `app.prompts.search`, which pi does not have.
 */
import { type KeybindingDefinitions, type KeybindingsConfig, KeybindingsManager, TUI_KEYBINDINGS } from "@tau/tui";

const definitions = {
  "app.interrupt": { defaultKeys: "escape", description: "Stop the run, or close what is open" },
  "app.clear": { defaultKeys: "ctrl+c", description: "Stop the run, or clear the editor; twice: leave" },
  "app.exit": { defaultKeys: "ctrl+d", description: "Leave, if the editor is empty" },
  "app.suspend": { defaultKeys: "ctrl+z", description: "Suspend to the shell" },
  "app.editor.external": { defaultKeys: "ctrl+g", description: "Write the prompt in an editor of your own" },
  "app.editor.redo": { defaultKeys: [], description: "Do again what was undone" },
  "app.prompts.search": { defaultKeys: "ctrl+r", description: "Search the prompts of all sessions" },
  "app.clipboard.pasteImage": { defaultKeys: "ctrl+v", description: "Paste an image, a file or text" },
  "app.session.new": { defaultKeys: [], description: "Begin a new session" },
  "app.session.tree": { defaultKeys: [], description: "Open the tree of this session" },
  "app.session.fork": { defaultKeys: [], description: "Fork this session at a message" },
  "app.session.resume": { defaultKeys: [], description: "Open another session" },
  "app.session.togglePath": { defaultKeys: "ctrl+p", description: "Show or hide paths" },
  "app.session.toggleSort": { defaultKeys: "ctrl+s", description: "Change the order" },
  "app.session.toggleNamedFilter": { defaultKeys: "ctrl+n", description: "Only sessions with a name" },
  "app.session.searchMessages": { defaultKeys: "ctrl+f", description: "Search the messages of sessions" },
  "app.session.rename": { defaultKeys: "ctrl+r", description: "Rename the selected session" },
  "app.session.delete": { defaultKeys: "ctrl+d", description: "Delete the selected session" },
  "app.session.deleteNoninvasive": { defaultKeys: "ctrl+backspace", description: "The same, if nothing is searched" },
  "app.model.select": { defaultKeys: "ctrl+l", description: "Choose a model" },
  "app.model.cycleForward": { defaultKeys: "ctrl+p", description: "The next model" },
  "app.model.cycleBackward": { defaultKeys: "shift+ctrl+p", description: "The model before" },
  "app.models.save": { defaultKeys: "ctrl+s", description: "Keep the chosen models as a setting" },
  "app.models.enableAll": { defaultKeys: "ctrl+a", description: "Choose all models that are listed" },
  "app.models.clearAll": { defaultKeys: "ctrl+x", description: "Choose none of them" },
  "app.models.toggleProvider": { defaultKeys: "ctrl+p", description: "Choose all of a provider, or none" },
  "app.models.reorderUp": { defaultKeys: "alt+up", description: "Move the model up" },
  "app.models.reorderDown": { defaultKeys: "alt+down", description: "Move the model down" },
  "app.role.cycle": { defaultKeys: "alt+r", description: "The next of the roles smol, default and slow" },
  "app.permissions.cycle": { defaultKeys: "alt+m", description: "The next permission mode" },
  "app.plan.toggle": { defaultKeys: "alt+n", description: "Turn plan mode on or off" },
  "app.agents.open": { defaultKeys: "alt+a", description: "Show the sub-agents, like /agents" },
  "app.thinking.cycle": { defaultKeys: "shift+tab", description: "The next thinking level" },
  "app.thinking.save": { defaultKeys: "ctrl+s", description: "Keep the thinking level as a setting" },
  "app.thinking.toggle": { defaultKeys: "ctrl+t", description: "Show or fold thinking" },
  "app.tools.expand": { defaultKeys: "ctrl+o", description: "Show or fold the output of tools and long messages" },
  "app.message.copy": { defaultKeys: "ctrl+x", description: "Copy the last answer" },
  "app.message.followUp": { defaultKeys: "alt+enter", description: "Queue a message for after the run" },
  "app.message.dequeue": { defaultKeys: "alt+up", description: "Take queued messages back into the editor" },
  "app.tree.foldOrUp": {
    defaultKeys: ["ctrl+left", "alt+left"],
    description: "Fold, or go to the start of the branch",
  },
  "app.tree.unfoldOrDown": {
    defaultKeys: ["ctrl+right", "alt+right"],
    description: "Unfold, or go to the next part or the end",
  },
  "app.tree.editLabel": { defaultKeys: "shift+l", description: "Label the selected entry" },
  "app.tree.toggleLabelTimestamp": { defaultKeys: "shift+t", description: "Show when labels were set" },
  "app.tree.filter.default": { defaultKeys: "ctrl+d", description: "The usual entries" },
  "app.tree.filter.noTools": { defaultKeys: "ctrl+t", description: "Without results of tools" },
  "app.tree.filter.userOnly": { defaultKeys: "ctrl+u", description: "Only your messages" },
  "app.tree.filter.labeledOnly": { defaultKeys: "ctrl+l", description: "Only entries with a label" },
  "app.tree.filter.all": { defaultKeys: "ctrl+a", description: "All entries" },
  "app.tree.filter.cycleForward": { defaultKeys: "ctrl+o", description: "The next of these views" },
  "app.tree.filter.cycleBackward": { defaultKeys: "shift+ctrl+o", description: "The view before" },
} as const;

export type AppKeybinding = keyof typeof definitions;

declare module "@tau/tui" {
  interface Keybindings extends Record<keyof typeof definitions, true> {}
}

/** All actions: the program's and the components'. */
export const keybindingDefinitions: KeybindingDefinitions = {
  ...(TUI_KEYBINDINGS as unknown as KeybindingDefinitions),
  ...(definitions as unknown as KeybindingDefinitions),
};

/** Where terminals take other keys for themselves. */
export type KeyPlatform = "windows" | "wsl" | "other";

const microsoftKeys: KeybindingsConfig = {
  "tui.altScreen.previousPrompt": "ctrl+up",
  "tui.altScreen.nextPrompt": "ctrl+down",
  "tui.altScreen.search": "ctrl+f",
  "app.clipboard.pasteImage": "alt+v",
  "app.model.cycleBackward": "alt+p",
  "app.message.followUp": "ctrl+q",
  "app.message.dequeue": "alt+q",
};

const platformKeys: Readonly<Record<KeyPlatform, KeybindingsConfig>> = {
  // Windows has no job control.
  windows: { ...microsoftKeys, "tui.editor.undo": "ctrl+z", "app.suspend": [] },
  wsl: { ...microsoftKeys, "tui.editor.undo": "alt+z" },
  other: {},
};

/** All actions with the defaults of a platform. */
export const getKeybindingDefinitions = (platform: KeyPlatform): KeybindingDefinitions =>
  Object.fromEntries(
    Object.entries(keybindingDefinitions).map(([id, definition]) => {
      const defaultKeys = platformKeys[platform][id] ?? definition.defaultKeys;
      return [id, { ...definition, defaultKeys }];
    }),
  );

export const createKeybindings = (
  config: KeybindingsConfig = {},
  platform: KeyPlatform = "other",
): KeybindingsManager => new KeybindingsManager(getKeybindingDefinitions(platform), config);

/** The actions that apply while the editor has the focus, in the order in which they are tried. */
export const editorActions: readonly AppKeybinding[] = [
  "app.interrupt",
  "app.clear",
  "app.exit",
  "app.suspend",
  "app.editor.external",
  "app.editor.redo",
  "app.prompts.search",
  "app.clipboard.pasteImage",
  "app.session.new",
  "app.session.tree",
  "app.session.fork",
  "app.session.resume",
  "app.model.select",
  "app.model.cycleForward",
  "app.model.cycleBackward",
  "app.role.cycle",
  "app.permissions.cycle",
  "app.plan.toggle",
  "app.agents.open",
  "app.thinking.cycle",
  "app.thinking.save",
  "app.thinking.toggle",
  "app.tools.expand",
  "app.message.copy",
  "app.message.followUp",
  "app.message.dequeue",
];
