/** A list to choose from, with a search. */
import {
  type Component,
  Container,
  fuzzyFilter,
  getKeybindings,
  getSelectListTheme,
  Input,
  type SelectItem,
  SelectList,
  Spacer,
  Text,
  type Theme,
  toPlainLine,
  toPlainText,
  TruncatedText,
} from "@tau/tui";
import { Excerpt } from "./excerpt.ts";

interface PickerOptions {
  title: string;
  items: readonly SelectItem[];
  theme: Theme;
  /** The size of the terminal. */
  size: { readonly rows: number; readonly columns: number };
  /** The value of the item that is selected at first. */
  selected?: string;
  /** The text that is searched for at first. */
  search?: string;
  /** Shown below the list. Where it does not fit, the keys for pages show the rest. */
  hint?: string;
  /** Whether an item that was found by a part of its name needs a second Enter: what is typed may be meant for the editor. */
  confirmsSearch?: boolean;
  /** Gets keys before the list; returns whether it used them. `item` is the selected one. */
  onKey?: (data: string, item: SelectItem | undefined) => boolean;
  /** Gets the value that is selected, whenever another one is. */
  onHighlight?: (value: string) => void;
  onSelect: (item: SelectItem) => void;
  onCancel: () => void;
}

export class Picker extends Container {
  readonly wantsPageKeys = true;
  readonly #options: PickerOptions;
  readonly #search = new Input();
  readonly #list = new Container();
  readonly #hint: Excerpt | undefined;
  #items: readonly SelectItem[];
  #select: SelectList | undefined;
  /** Whether what was typed is taken as a search: the list was used since, or Enter was pressed. */
  #isSearch = false;
  readonly #question = new Container();

  constructor(options: PickerOptions) {
    super();
    this.#options = options;
    this.#items = options.items;
    const { theme, title, hint } = options;
    if (hint !== undefined) {
      const content = new Text(theme.fg("dim", toPlainText(hint)), 1, 0);
      this.#hint = new Excerpt({ content, theme, getMaxRows: () => getMaxHintRows(options) });
    }
    this.children = [
      new Spacer(1),
      new Text(theme.fg("accent", theme.bold(toPlainText(title))), 1, 0),
      this.#search,
      this.#list,
      this.#question,
      ...(this.#hint ? [this.#hint] : []),
    ];
    // Unlike setting the value, this leaves the cursor at its end.
    if (options.search) this.#search.handleInput(`\x1b[200~${options.search}\x1b[201~`);
    this.#filter(options.selected);
  }

  get focused(): boolean {
    return this.#search.focused;
  }

  set focused(focused: boolean) {
    this.#search.focused = focused;
  }

  /** Other items, such as those of a list that arrives in parts. */
  setItems(items: readonly SelectItem[]): void {
    this.#items = items;
    this.#filter(this.#select?.getSelectedItem()?.value);
  }

  handleInput(data: string): void {
    const keys = getKeybindings();
    if (this.#options.onKey?.(data, this.#select?.getSelectedItem() ?? undefined)) return;
    if (this.#hint?.handleKey(data)) return;
    const isForList = (["up", "down", "pageUp", "pageDown", "confirm", "cancel"] as const).some((action) =>
      keys.matches(data, `tui.select.${action}`),
    );
    if (keys.matches(data, "tui.select.confirm") && this.#needsConfirmation()) return;
    if (isForList) {
      this.#isSearch = true;
      this.#question.children = [];
      return this.#select?.handleInput(data);
    }
    const before = this.#search.getValue();
    this.#search.handleInput(data);
    if (this.#search.getValue() === before) return;
    this.#isSearch = false;
    this.#question.children = [];
    this.#filter(undefined);
    const item = this.#select?.getSelectedItem();
    if (item) this.#options.onHighlight?.(item.value);
  }

  /** Asks for a second Enter, if it needs one. */
  #needsConfirmation(): boolean {
    const { confirmsSearch = false, theme } = this.#options;
    const item = this.#select?.getSelectedItem();
    const query = this.#search.getValue().trim().toLowerCase();
    if (!confirmsSearch || this.#isSearch || query === "" || !item) return false;
    if ([item.label, item.value].some((name) => name.trim().toLowerCase() === query)) return false;
    this.#isSearch = true;
    const question = `Enter again chooses ${toPlainLine(item.label)}. Escape closes the list.`;
    this.#question.children = [new Text(theme.fg("warning", question), 1, 0)];
    return true;
  }

  #filter(selected: string | undefined): void {
    const query = this.#search.getValue();
    const toText = ({ label, value, description }: SelectItem) => `${label} ${value} ${description ?? ""}`;
    this.#show(query === "" ? this.#items : fuzzyFilter([...this.#items], query, toText), selected);
  }

  #show(items: readonly SelectItem[], selected: string | undefined): void {
    const { theme, onHighlight, onSelect, onCancel } = this.#options;
    const list = new SelectList([...items], () => getMaxItems(this.#options), getSelectListTheme(theme));
    const index = items.findIndex(({ value }) => value === selected);
    if (index > 0) list.setSelectedIndex(index);
    list.onSelect = onSelect;
    list.onCancel = onCancel;
    if (onHighlight) list.onSelectionChange = ({ value }) => onHighlight(value);
    this.#select = list;
    const nothing = new TruncatedText(theme.fg("dim", "Nothing matches."), 2, 0);
    this.#list.children = [items.length === 0 ? nothing : (list as Component)];
  }
}

const maxItems = 10;
const minItems = 3;
/** The empty line, the title, the search, the position in the list, and the two lines of the status. */
const rowsBesides = 6;

const getMaxHintRows = ({ size: { rows } }: PickerOptions): number => Math.max(0, rows - rowsBesides - minItems);

/** How many items have room. */
function getMaxItems(options: PickerOptions): number {
  const { size, hint = "" } = options;
  const countRows = (line: string) => Math.ceil(line.length / Math.max(1, size.columns - 2));
  const hintRows = hint.split("\n").reduce((count, line) => count + countRows(line), 0);
  const room = size.rows - rowsBesides - Math.min(hintRows, getMaxHintRows(options));
  // Of a small screen the empty line may leave.
  return Math.max(1, Math.min(minItems, size.rows - rowsBesides + 1), Math.min(maxItems, room));
}
