/** Dialogs with one list. */
import type { ThinkingLevel } from "@tau/agent";
import { builtInThemes, Container, type SelectItem, SelectList, Spacer, Text } from "@tau/tui";
import { getSelectListTheme, theme } from "../theme/theme.ts";
import { DynamicBorder } from "./dynamic-border.ts";

interface ListOptions {
  items: SelectItem[];
  selected: string | undefined;
  onSelect: (value: string) => void;
  onCancel: () => void;
  onPreview?: (value: string) => void;
  title?: string;
}

/** A list between two lines. */
class ListDialog extends Container {
  readonly #list: SelectList;

  constructor({ items, selected, onSelect, onCancel, onPreview, title }: ListOptions) {
    super();
    this.#list = new SelectList(items, Math.min(10, Math.max(1, items.length)), getSelectListTheme());
    const index = items.findIndex(({ value }) => value === selected);
    if (index >= 0) this.#list.setSelectedIndex(index);
    this.#list.onSelect = ({ value }) => onSelect(value);
    this.#list.onCancel = onCancel;
    if (onPreview) this.#list.onSelectionChange = ({ value }) => onPreview(value);
    this.addChild(new DynamicBorder());
    if (title !== undefined) {
      this.addChild(new Text(theme.fg("accent", theme.bold(title)), 1, 0));
      this.addChild(new Spacer(1));
    }
    this.addChild(this.#list);
    this.addChild(new DynamicBorder());
  }

  getSelectList(): SelectList {
    return this.#list;
  }

  handleInput(data: string): void {
    this.#list.handleInput(data);
  }
}

const thinkingDescriptions: Readonly<Record<string, string>> = {
  off: "No thinking",
  minimal: "As little as possible",
  low: "Little",
  medium: "Some",
  high: "Much",
  xhigh: "Very much",
  max: "As much as possible",
};

export class ThinkingSelectorComponent extends ListDialog {
  constructor(
    currentLevel: ThinkingLevel,
    availableLevels: readonly ThinkingLevel[],
    onSelect: (level: ThinkingLevel) => void,
    onCancel: () => void,
  ) {
    const items = availableLevels.map((level) => ({
      value: level,
      label: level,
      description: thinkingDescriptions[level] ?? "",
    }));
    super({ items, selected: currentLevel, onSelect: (value) => onSelect(value as ThinkingLevel), onCancel });
  }
}

export class ThemeSelectorComponent extends ListDialog {
  constructor(
    currentTheme: string,
    onSelect: (name: string) => void,
    onCancel: () => void,
    onPreview: (name: string) => void,
  ) {
    const items = builtInThemes.map(({ name }) => ({
      value: name,
      label: name,
      ...(name === currentTheme && { description: "(current)" }),
    }));
    super({ items, selected: currentTheme, onSelect, onCancel, onPreview });
  }
}

export class ShowImagesSelectorComponent extends ListDialog {
  constructor(currentValue: boolean, onSelect: (show: boolean) => void, onCancel: () => void) {
    const items = [
      { value: "yes", label: "Yes", description: "Show images in the terminal" },
      { value: "no", label: "No", description: "Show a line of text instead" },
    ];
    const selected = currentValue ? "yes" : "no";
    super({ items, selected, onSelect: (value) => onSelect(value === "yes"), onCancel });
  }
}

/** Asks for one of several texts. */
export class ExtensionSelectorComponent extends ListDialog {
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(
    title: string,
    options: readonly string[],
    onSelect: (option: string) => void,
    onCancel: () => void,
    { timeout }: { timeout?: number } = {},
  ) {
    const items = options.map((option) => ({ value: option, label: option }));
    super({ items, selected: undefined, onSelect, onCancel, title });
    this.#timer = timeout === undefined ? undefined : setTimeout(onCancel, timeout);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}

/** Asks for a message of the user. The last one is selected at first. */
export class UserMessageSelectorComponent extends ListDialog {
  constructor(
    messages: readonly { id: string; text: string }[],
    onSelect: (entryId: string) => void,
    onCancel: () => void,
    initialSelectedId: string | undefined = messages.at(-1)?.id,
  ) {
    const items = messages.map(({ id, text }) => ({ value: id, label: text.replace(/\s+/g, " ").trim() }));
    super({ items, selected: initialSelectedId, onSelect, onCancel, title: "Messages" });
  }

  getMessageList(): SelectList {
    return this.getSelectList();
  }
}
