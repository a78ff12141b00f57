/** Resolves conflicts between the shortcuts of extensions and of the program. */
import type { ResourceDiagnostic } from "@tau/pi/internal";
import type { PiExtension, RegisteredShortcut } from "./extension.ts";

/** Keys that no extension takes, by the action that has them, now and in earlier versions. */
const reservedActions: ReadonlySet<string> = new Set([
  ..."app.interrupt app.clear app.exit app.suspend app.thinking.cycle app.thinking.toggle app.model.select".split(" "),
  ..."app.model.cycleForward app.model.cycleBackward app.tools.expand app.editor.external".split(" "),
  ..."app.message.copy app.message.followUp tui.input.submit tui.input.copy tui.select.confirm".split(" "),
  ..."tui.select.cancel tui.editor.deleteToLineEnd".split(" "),
  ..."interrupt clear exit suspend cycleThinkingLevel cycleModelForward cycleModelBackward selectModel".split(" "),
  ..."expandTools toggleThinking externalEditor followUp submit selectConfirm selectCancel copy".split(" "),
  "deleteToLineEnd",
]);

export type EffectiveKeybindings = Readonly<Record<string, string | readonly string[] | undefined>>;

interface Binding {
  action: string;
  isReserved: boolean;
}

/** The last extension wins, also over a key of the program that is not reserved. Every conflict is reported. */
export function resolveShortcuts(
  extensions: readonly PiExtension[],
  keybindings: EffectiveKeybindings,
): { shortcuts: Map<string, RegisteredShortcut>; diagnostics: ResourceDiagnostic[] } {
  const builtIn = listBindings(keybindings);
  const shortcuts = new Map<string, RegisteredShortcut>();
  const diagnostics: ResourceDiagnostic[] = [];
  for (const { key, shortcut } of extensions.flatMap(listShortcuts)) {
    const path = shortcut.extensionPath;
    const warn = (message: string) => diagnostics.push({ type: "warning", message, path });
    const binding = builtIn.get(key);
    if (binding?.isReserved) {
      warn(`Extension shortcut '${key}' from ${path} conflicts with built-in shortcut (${binding.action}). Skipping.`);
      continue;
    }
    if (binding) {
      warn(
        `Extension shortcut conflict: '${key}' is built-in shortcut for ${binding.action} and ${path}. Using ${path}.`,
      );
    }
    const other = shortcuts.get(key);
    if (other) {
      warn(
        `Extension shortcut conflict: '${key}' registered by both ${other.extensionPath} and ${path}. Using ${path}.`,
      );
    }
    shortcuts.set(key, shortcut);
  }
  return { shortcuts, diagnostics };
}

const listShortcuts = ({ shortcuts }: PiExtension) =>
  [...shortcuts].map(([key, shortcut]) => ({ key: key.toLowerCase(), shortcut }));

/** A key that several actions have is reserved if one of them is. */
function listBindings(keybindings: EffectiveKeybindings): Map<string, Binding> {
  const bindings = new Map<string, Binding>();
  for (const [action, keys] of Object.entries(keybindings)) {
    const isReserved = reservedActions.has(action);
    for (const key of [keys ?? []].flat()) {
      const name = key.toLowerCase();
      if (!bindings.get(name)?.isReserved) bindings.set(name, { action, isReserved });
    }
  }
  return bindings;
}
