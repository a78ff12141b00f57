/** Lets the user choose from a list, in the place of the editor. */
import type { Terminal, Theme } from "@tau/tui";
import type { DialogStack } from "./dialog-stack.ts";
import { Picker } from "./dialogs/picker.ts";
import type { Interface } from "./interface.ts";

interface ChooseParts {
  dialogs: DialogStack;
  terminal: Terminal;
  theme: Theme;
  requestRender: () => void;
}

export const createChoose =
  ({ dialogs, terminal, theme, requestRender }: ChooseParts): Interface["choose"] =>
  (title, items, { onHighlight, ...options } = {}) =>
    dialogs.ask((finish) => {
      const highlight = onHighlight && {
        onHighlight: (value: string) => {
          onHighlight(value);
          requestRender();
        },
      };
      return new Picker({
        title,
        items,
        theme,
        size: terminal,
        ...options,
        ...highlight,
        onSelect: ({ value }) => finish(value),
        onCancel: () => finish(undefined),
      });
    });
