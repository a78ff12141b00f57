/** Reads the files of themes of this machine. */
import { join } from "node:path";
import { createPathFilter, readTextFile } from "@tau/config/settings";
import { lookAt, nodeFileSystem } from "@tau/tools/platform";
import type { ParsedTheme, ThemeProblem } from "@tau/tui";
import type { ThemeFile } from "../interactive/themes.ts";

export interface ThemePlaces {
  agentDir: string;
  cwd: string;
  /** Whether the user trusts the project, so that its themes are used. */
  isProjectTrusted: boolean;
  /** The setting `themes`, with absolute paths. */
  listed: readonly string[];
  /** The files of installed packages. */
  ofPackages: readonly string[];
  /** Absolute paths of `--theme`. */
  named: readonly string[];
  /** Whether only those of `--theme` are used. */
  onlyNamed: boolean;
  builtIn: readonly string[];
  parse: (text: string, source: string) => ParsedTheme;
}

interface LoadedThemes {
  files: ThemeFile[];
  /** Sentences. */
  problems: string[];
}

/**
 * Loads themes. If several have one name, the first applies: those of `--theme`, the user's own, the project's, the listed
 * ones, those of packages.
 */
export async function loadThemes(places: ThemePlaces): Promise<LoadedThemes> {
  const loaded: LoadedThemes = { files: [], problems: [] };
  const filter = createPathFilter(places.onlyNamed ? [] : places.listed, places.named);
  const own = [
    join(places.agentDir, "themes"),
    ...(places.isProjectTrusted ? [".tau", ".pi"].map((name) => join(places.cwd, name, "themes")) : []),
  ];
  const roots = [...places.named, ...(places.onlyNamed ? [] : own), ...filter.roots, ...places.ofPackages];
  const paths: string[] = [];
  for (const root of roots) {
    const isOptional = own.includes(root);
    const files = await listThemes(root);
    if (!files && !isOptional) loaded.problems.push(`There is no theme ${root}.`);
    paths.push(...(files ?? []).filter((path) => filter.includes(path)));
  }
  for (const path of new Set(paths)) await loadTheme(path, places, loaded);
  return loaded;
}

async function loadTheme(path: string, { builtIn, parse }: ThemePlaces, loaded: LoadedThemes): Promise<void> {
  const file = await readTextFile(nodeFileSystem, path);
  if (file.kind === "absent") return void loaded.problems.push(`The theme ${path} cannot be read.`);
  if (file.kind === "unreadable") return void loaded.problems.push(`${path}: ${file.message}`);
  const { theme, problems } = parse(file.text, path);
  if (!theme) return void loaded.problems.push(formatProblems(problems));
  const other = loaded.files.find(({ definition }) => definition.name === theme.name)?.path;
  if (other === undefined && !builtIn.includes(theme.name)) return void loaded.files.push({ definition: theme, path });
  const winner = other ?? "the built-in one";
  loaded.problems.push(`${path} is not used: there is another theme ${JSON.stringify(theme.name)}, ${winner}.`);
}

/** The files of a directory, or the file itself; undefined if there is neither. */
async function listThemes(path: string): Promise<string[] | undefined> {
  const stats = await lookAt(nodeFileSystem, path).catch(() => undefined);
  if (!stats?.isDirectory()) return stats && [path];
  const entries = await nodeFileSystem.readdir(path).catch(() => []);
  const names = entries.map(({ name }) => name).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => join(path, name));
}

/** The first says enough: a file for another program has dozens. */
function formatProblems(problems: readonly ThemeProblem[]): string {
  const [{ message, allowed } = { message: "", allowed: "" }, ...others] = problems;
  const rest = others.length === 0 ? "" : ` (${others.length} more: ${others.map(({ key }) => key).join(", ")})`;
  return `${message} Allowed: ${allowed}.${rest.length > 200 ? ` (${others.length} more problems)` : rest}`;
}
