/** The commands and the keys. */
import { formatUsage, listCommandsHere } from "@tau/protocol/surface";
import { Dialog } from "../app/dialog.tsx";
import { formatShortcut, type Shortcut } from "../app/shortcuts.ts";
import { pageCommands } from "../commands/slash-commands.ts";

/** Keys of a session, and of the field where messages are written. */
const others: readonly [string, string][] = [
  ["t", "Tree of the session"],
  ["m", "Model and thinking"],
  ["c", "Cost and context"],
  ["Ctrl .", "Stop the run"],
  ["Enter", "Send; while a run is in progress, say it now"],
  ["Ctrl Enter", "Say it after the run"],
  ["Shift Enter", "New line"],
  ["Escape", "Leave the field or the dialog"],
];

export function HelpPanel({ shortcuts, onClose }: { shortcuts: readonly Shortcut[]; onClose: () => void }) {
  const rows = [...shortcuts.map((shortcut) => [formatShortcut(shortcut), shortcut.label] as const), ...others];
  return (
    <Dialog title="Keys and commands" onClose={onClose}>
      <dl class="figures">
        {rows.map(([keys, label]) => (
          <div key={keys}>
            <dt>{label}</dt>
            <dd>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
        {listCommandsHere(pageCommands).map((command) => (
          <div key={command.name}>
            <dt>{command.description}</dt>
            <dd>
              <code>{formatUsage(command)}</code>
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
