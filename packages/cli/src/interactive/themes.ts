/** The theme in use: chosen by name or as a pair, made from the terminal's colors, and changed while it is shown. */
import {
  addColorReport,
  builtInThemes,
  chooseTheme,
  type ColorMode,
  createSystemTheme,
  createTheme,
  decideAppearance,
  parseColorReport,
  systemThemeName,
  type TerminalColors,
  type Theme,
  type ThemeAppearance,
  type ThemeDefinition,
} from "@tau/tui";

/** A theme from a file. */
export interface ThemeFile {
  definition: ThemeDefinition;
  path: string;
}

interface ThemesOptions {
  /** How many colors the terminal shows. */
  mode: ColorMode;
  /** The setting `theme`. Default `system`. */
  setting?: string;
  files?: readonly ThemeFile[];
  /** The variable `COLORFGBG`. */
  colorFgBg?: string | undefined;
  /** Asks the terminal for its colors again. */
  ask?: () => void;
}

const ask = (subject: string) => `\x1b]${subject};?\x1b\\`;

/** The default colors, the first 16 of the palette, and a report when the terminal becomes light or dark. */
export const colorQuestions = [
  ask("10"),
  ask("11"),
  ...Array.from({ length: 16 }, (_unused, index) => ask(`4;${index}`)),
].join("");
export const followAppearance = "\x1b[?2031h";
export const unfollowAppearance = "\x1b[?2031l";

export class Themes {
  /** Stays the same object; `update` changes what it is. */
  readonly theme: Theme;
  readonly #options: ThemesOptions;
  #files: readonly ThemeFile[];
  #setting: string;
  #preview: string | undefined;
  #override: Theme | undefined;
  #terminal: { colors: TerminalColors; scheme?: ThemeAppearance } = { colors: {} };
  #isOutdated = false;

  constructor(options: ThemesOptions) {
    this.#options = options;
    this.#files = options.files ?? [];
    this.#setting = options.setting ?? systemThemeName;
    this.theme = this.#create();
  }

  /** A name or a pair, as the setting has it. */
  get setting(): string {
    return this.#setting;
  }

  get names(): readonly string[] {
    return [systemThemeName, ...this.#known().map(({ name }) => name)];
  }

  /** Why the theme is not the one of the setting. */
  get problem(): string | undefined {
    return this.#choose(this.#setting).problem;
  }

  /** The file of the theme in use. */
  get activeFile(): string | undefined {
    const { name } = this.#choose(this.#setting);
    return this.#files.find(({ definition }) => definition.name === name)?.path;
  }

  /** Also `system`, which is made from the terminal's colors. */
  list(): { name: string; path: string | undefined }[] {
    return this.names.map((name) => ({
      name,
      path: this.#files.find(({ definition }) => definition.name === name)?.path,
    }));
  }

  /** A theme that is not shown. Undefined if there is none of that name. */
  load(name: string): Theme | undefined {
    return this.names.includes(name) ? this.#create(name) : undefined;
  }

  /** Draws with a theme of an extension, whatever the setting is; undefined ends that. */
  override(theme: Theme | undefined): void {
    this.#override = theme;
    this.#isOutdated = true;
  }

  setSetting(setting: string): void {
    this.#setting = setting;
    this.#isOutdated = true;
  }

  /** Shows a theme without choosing it; undefined ends that. */
  preview(name: string | undefined): void {
    this.#preview = name;
    this.#isOutdated = true;
  }

  setFiles(files: readonly ThemeFile[]): void {
    this.#files = files;
    this.#isOutdated = true;
  }

  /** Whether the input was an answer of the terminal about its colors, however late. */
  takeAnswer(data: string): boolean {
    const report = parseColorReport(data);
    if (!report) return false;
    this.#terminal = { ...this.#terminal, colors: addColorReport(this.#terminal.colors, report) };
    this.#isOutdated = true;
    return true;
  }

  /** The terminal says that it has become light or dark: its colors are asked for again. */
  setScheme(scheme: ThemeAppearance): void {
    this.#terminal = { ...this.#terminal, scheme };
    this.#isOutdated = true;
    this.#options.ask?.();
  }

  /** Before each frame: whether the theme has changed, so that everything has to be drawn again. */
  update(): boolean {
    if (!this.#isOutdated) return false;
    this.#isOutdated = false;
    this.theme.become(this.#override ?? this.#create());
    return true;
  }

  #create(setting = this.#preview ?? this.#setting): Theme {
    const { colors } = this.#terminal;
    const { mode } = this.#options;
    const { name } = this.#choose(setting);
    const path = this.#files.find(({ definition }) => definition.name === name)?.path;
    const definition = this.#known().find((one) => one.name === name) ?? createSystemTheme(colors, mode);
    const { foreground, background } = colors;
    const terminal = {
      ...(foreground && { foreground }),
      ...(background && { background }),
      appearance: this.#appearance,
    };
    return createTheme(definition, mode, { terminal, ...(path !== undefined && { sourcePath: path }) });
  }

  #choose(setting: string) {
    const names = this.#known().map(({ name }) => name);
    return chooseTheme(setting, names, this.#appearance);
  }

  get #appearance(): ThemeAppearance {
    return decideAppearance({ ...this.#terminal, colorFgBg: this.#options.colorFgBg });
  }

  #known(): ThemeDefinition[] {
    return [...builtInThemes, ...this.#files.map(({ definition }) => definition)];
  }
}
