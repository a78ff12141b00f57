import type { ExtensionAPI } from "@tau/extensions";
import { Box, type KeybindingsManager, SelectList, getSelectListTheme, Text, type Theme, type TUI } from "@tau/tui";

const colors = ["red", "green", "blue"];

export default function (tau: ExtensionAPI) {
  tau.registerCommand("colour", {
    description: "Pick a colour",
    async handler(_args, { ui }) {
      const picked = await ui.custom<string>(
        (_tui: TUI, theme: Theme, _keys: KeybindingsManager, done: (value: string | undefined) => void) => {
          const list = new SelectList(
            colors.map((value) => ({ value, label: value })),
            5,
            getSelectListTheme(theme),
          );
          list.onSelect = ({ value }) => done(value);
          list.onCancel = () => done(undefined);
          const box = new Box(2, 1);
          box.children = [new Text(theme.bold("Which colour?"), 0, 0), list];
          // The component that is shown gets the keys, and passes them on.
          return Object.assign(box, { handleInput: (data: string) => list.handleInput(data) });
        },
        // Without `overlay` the component takes the place of the editor.
        { overlay: true, overlayOptions: { anchor: "center", width: 30 } },
      );
      ui.notify(`You picked ${picked ?? "nothing"}.`);
    },
  });
}
