/** All settings: what each means, what it is, and where that comes from. */
import type { SettingData } from "@tau/protocol";
import { getKeybindings, type Theme, toPlainLine, toPlainText, truncateToWidth, wrapTextWithAnsi } from "@tau/tui";
import { commonSettings, describeOrigin, formatValue, orderSettings, searchSettings } from "../setting-values.ts";
import { reservedRows, SearchDialog } from "./search-dialog.ts";

interface SettingsDialogOptions {
  settings: readonly SettingData[];
  theme: Theme;
  /** Rows of the terminal. */
  getRows: () => number;
  /** Enter was pressed on a setting. */
  onChange: (setting: SettingData) => void;
  onCancel: () => void;
}

/** The empty line, the title, the search, the footer, and the two lines of the status. */
const rowsBesides = 6;
const maxKeyWidth = 34;

export class SettingsDialog extends SearchDialog {
  readonly #options: SettingsDialogOptions;
  #settings: readonly SettingData[];
  #selected: string | undefined;
  /** Whether all settings are listed, and not only the common ones. */
  #isWhole = false;
  #message: string | undefined;

  constructor(options: SettingsDialogOptions) {
    const getMaxRows = () => options.getRows() - getRowsBesides(options.getRows());
    super({ theme: options.theme, getMaxRows, placeholder: "Type to search names and descriptions" });
    this.#options = options;
    this.#settings = options.settings;
  }

  /** After a change. */
  setSettings(settings: readonly SettingData[]): void {
    this.#settings = settings;
    this.#message = undefined;
  }

  /** Says something in the place of the footer. */
  say(message: string): void {
    this.#message = message;
  }

  override render(width: number): string[] {
    const { theme } = this.#options;
    const settings = this.#list();
    const position = this.#getPosition(settings);
    const { start, end } = this.getVisible(settings.length, position);
    const rows = settings
      .slice(start, end)
      .map((setting, offset) => this.#drawRow(setting, start + offset === position, width));
    if (rows.length === 0) rows.push(theme.fg("muted", "  No setting matches"));
    const count = `${settings.length === 0 ? 0 : position + 1}/${settings.length}`;
    const footer =
      this.#message === undefined
        ? theme.fg("dim", ` ${count} · enter changes it · escape closes`)
        : theme.fg("warning", ` ${toPlainLine(this.#message)}`);
    return this.frame("Settings", [...rows, ...this.#explain(settings[position], width)], footer, width);
  }

  override handleInput(data: string): void {
    const keys = getKeybindings();
    const is = (id: Parameters<typeof keys.matches>[1]) => keys.matches(data, id);
    const settings = this.#list();
    const position = this.#getPosition(settings);
    const setting = settings[position];
    this.#message = undefined;
    if (is("tui.select.cancel")) this.#options.onCancel();
    else if (is("tui.select.up")) this.#select(settings.at(position - 1));
    else if (is("tui.select.down")) this.#select(settings[(position + 1) % settings.length]);
    else if (is("tui.select.pageUp")) this.#select(settings[Math.max(0, position - this.pageRows)]);
    else if (is("tui.select.pageDown")) this.#select(settings[Math.min(settings.length - 1, position + this.pageRows)]);
    else if (is("tui.select.confirm")) {
      if (!setting) return;
      if (setting === all) return this.#showAll();
      this.#select(setting);
      this.#options.onChange(setting);
    } else if (this.type(data)) this.#selected = undefined;
  }

  #showAll(): void {
    this.#isWhole = true;
    this.#select(orderSettings(this.#settings).others[0]);
  }

  #select(setting: SettingData | undefined): void {
    this.#selected = setting?.key;
  }

  #drawRow(setting: SettingData, isSelected: boolean, width: number): string {
    const { key, value, origin } = setting;
    const { theme } = this.#options;
    const name = this.search.getValue() === "" ? (commonSettings.get(key) ?? key) : key;
    const title = name.padEnd(Math.min(maxKeyWidth, Math.max(10, width - 16)));
    const shown = setting === all ? `${this.#settings.length} settings` : toPlainLine(formatValue(setting, value));
    const mark = isSelected ? theme.fg("accent", "→ ") : "  ";
    // What the user or the project has chosen stands out.
    const text = origin === "default" ? theme.fg("dim", shown) : theme.fg("accent", shown);
    return truncateToWidth(`${mark}${isSelected ? theme.bold(title) : title} ${text}`, width, "…");
  }

  /** Always the same number of rows, so that the list does not jump. */
  #explain(setting: SettingData | undefined, width: number): string[] {
    const { theme, getRows } = this.#options;
    const rows = getExplanationRows(getRows());
    const key = setting && this.search.getValue() === "" && commonSettings.has(setting.key) ? `${setting.key}: ` : "";
    const origin = setting && setting !== all ? ` ${describeOrigin(setting)}` : "";
    const text = setting ? `${key}${setting.description}${origin}` : "";
    const lines = wrapTextWithAnsi(toPlainText(text), Math.max(1, width - 4)).map((line) =>
      theme.fg("muted", `  ${line}`),
    );
    const blank = Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => "");
    return ["", ...lines.slice(0, rows - 1), ...blank].slice(0, rows);
  }

  #list(): readonly SettingData[] {
    const query = this.search.getValue();
    if (query !== "") return searchSettings(this.#settings, query);
    const { common, others } = orderSettings(this.#settings);
    return this.#isWhole ? [...common, ...others] : [...common, all];
  }

  #getPosition(settings: readonly SettingData[]): number {
    return Math.max(
      0,
      settings.findIndex(({ key }) => key === this.#selected),
    );
  }
}

/** The row below the common settings. No setting has this name. */
const all: SettingData = { key: "All settings", description: "Lists the others too.", type: "", origin: "default" };

/** With the empty line above. A small screen has no room for it. */
const getExplanationRows = (rows: number): number => (rows >= 20 ? 6 : rows >= 14 ? 4 : isSmall(rows) ? 0 : 2);

const getRowsBesides = (rows: number): number =>
  isSmall(rows) ? reservedRows : rowsBesides + getExplanationRows(rows);

const isSmall = (rows: number): boolean => rows < 10;
