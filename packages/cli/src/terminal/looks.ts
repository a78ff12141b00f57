/** The theme and the keys of this terminal, from the files of this machine. */
import { join, resolve } from "node:path";
import { systemClock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { findPackagePaths, joinLists } from "@tau/config/internal";
import { readTextFile, type SettingsManager, watchFiles } from "@tau/config/settings";
import { nodeFileSystem } from "@tau/tools/platform";
import type { KeybindingsManager } from "@tau/tui";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import type * as Interactive from "../interactive/index.ts";
import type { ThemeFile, Themes } from "../interactive/themes.ts";
import { getKeyPlatform, resolveCapabilities } from "./environment.ts";
import { loadThemes } from "./load-themes.ts";

export interface LooksOptions {
  options: Pick<SessionOptions, "themes" | "useTheme" | "noThemes">;
  io: Io;
  agentDir: string;
  cwd: string;
  settingsManager: SettingsManager;
  /** After settings, or the file of the theme in use, have changed. `problems` are new ones. */
  onChange: (problems: readonly string[]) => void;
  askForColors: () => void;
}

interface Looks {
  themes: Themes;
  keybindings: KeybindingsManager;
  /** The problems of the start. */
  problems: readonly string[];
  /** Reads all files again; resolves to what is wrong. */
  reload: () => Promise<readonly string[]>;
  /** Adds files or directories of themes; resolves to what is wrong. */
  addThemes: (paths: readonly string[]) => Promise<readonly string[]>;
  close: () => void;
}

async function findPackageThemes({
  agentDir,
  cwd,
  settingsManager,
  options,
}: LooksOptions): Promise<readonly string[]> {
  if (options.noThemes) return [];
  return (await findPackagePaths({ agentDir, cwd, settings: settingsManager })).themes;
}

export async function openLooks(ui: typeof Interactive, parts: LooksOptions): Promise<Looks> {
  const { options, io, agentDir, cwd, settingsManager, onChange } = parts;
  let ofExtensions: readonly string[] = [];
  const read = async () =>
    loadThemes({
      agentDir,
      cwd,
      isProjectTrusted: settingsManager.isProjectTrusted,
      listed: joinLists(settingsManager, "themes"),
      ofPackages: [...(await findPackageThemes(parts)), ...ofExtensions],
      named: options.themes.map((path) => resolve(io.cwd, path)),
      onlyNamed: options.noThemes,
      builtIn: ui.builtInThemes.map(({ name }) => name),
      parse: ui.parseTheme,
    });
  const keysFile = join(agentDir, "keybindings.json");
  const definitions = ui.getKeybindingDefinitions(getKeyPlatform(process.platform, io.env));
  const readKeys = async () => {
    const file = await readTextFile(nodeFileSystem, keysFile);
    if (file.kind === "text") return ui.parseKeybindings(file.text, keysFile, definitions);
    return { config: {}, problems: file.kind === "absent" ? [] : [`${keysFile}: ${file.message}`] };
  };

  ui.setCapabilityOverrides(resolveCapabilities(settingsManager.get().terminal, io.env));
  const [first, keys] = await Promise.all([read(), readKeys()]);
  /** `--use-theme` is for this run, until the user chooses another one. */
  let lastSetting = settingsManager.get().theme;
  const themes = new ui.Themes({
    mode: ui.decideColorMode(io.env, { hasTrueColor: ui.getCapabilities().trueColor }),
    setting: options.useTheme ?? lastSetting,
    files: first.files,
    colorFgBg: io.env["COLORFGBG"],
    ask: parts.askForColors,
  });
  const keybindings = new ui.KeybindingsManager(definitions, keys.config);
  const listProblems = (problems: readonly string[]) => [
    ...problems,
    ...(themes.problem === undefined ? [] : [themes.problem]),
  ];

  let closeWatch = () => {};
  // Not only the one in use: of a pair that is one, then the other.
  const watchThemes = (files: readonly ThemeFile[]) => {
    closeWatch();
    if (files.length === 0) return;
    const paths = files.map(({ path }) => path);
    const onError = (message: string) => onChange([message]);
    const onFileChange = () => void refresh().catch((error: unknown) => onError(getErrorMessage(error)));
    closeWatch = watchFiles(paths, { clock: systemClock, onChange: onFileChange, onError }).close;
  };
  const refresh = async () => {
    const { files, problems } = await read();
    const active = themes.activeFile;
    // While the file is wrong, its last valid state stays.
    if (active === undefined || files.some(({ path }) => path === active)) {
      themes.setFiles(files);
      onChange([]);
    } else onChange(problems.filter((problem) => problem.includes(active)));
  };
  const unsubscribe = settingsManager.subscribe(({ settings }) => {
    ui.setCapabilityOverrides(resolveCapabilities(settings.terminal, io.env));
    if (settings.theme !== lastSetting) themes.setSetting(settings.theme);
    lastSetting = settings.theme;
    onChange([]);
  });
  watchThemes(first.files);
  const reload = async () => {
    const [loaded, { config, problems }] = await Promise.all([read(), readKeys()]);
    themes.setFiles(loaded.files);
    keybindings.setUserBindings(config);
    watchThemes(loaded.files);
    onChange([]);
    return listProblems([...loaded.problems, ...problems]);
  };
  return {
    themes,
    keybindings,
    problems: listProblems([...first.problems, ...keys.problems]),
    reload,
    addThemes: async (paths) => {
      ofExtensions = [...new Set([...ofExtensions, ...paths.map((path) => resolve(cwd, path))])];
      return await reload();
    },
    close: () => {
      closeWatch();
      unsubscribe();
    },
  };
}
