/** Finds what has changed in packages with extensions since the last start. */
import { mkdir, readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { getPackageEntries, inspectPackages, readManifest } from "@tau/config/installs";
import type { SettingsManager } from "@tau/config/settings";
import { systemCode } from "@tau/tools/platform";
import { toPlainText } from "@tau/tui";
import { isLater, listChanges } from "./list-changes.ts";

export interface PackageNewsOptions {
  agentDir: string;
  cwd: string;
  settings: SettingsManager;
}

/** An installed package that loads extensions. */
interface Installed {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly root: string;
  /** From the root. Empty if it shows none. */
  readonly changelogPath: string;
}

const maxChangelogBytes = 1_000_000;
const maxLines = 30;
const maxKept = 500;

/**
 * A notice for each package that is newer than at the last start and has a changelog. The versions are kept: what is reported once is not
 * reported again, and a package that is seen for the first time is not reported.
 */
export async function describePackageNews(options: PackageNewsOptions): Promise<string[]> {
  const { agentDir, settings } = options;
  const installed = await listInstalled(options);
  const before = await takeVersions(agentDir, installed);
  const { quietStartup, collapseChangelog } = settings.get();
  if (quietStartup !== false) return [];
  const notices: string[] = [];
  for (const each of installed) {
    const last = before.get(each.id);
    if (last === undefined || !isLater(each.version, last)) continue;
    const changes = listChanges(await readChangelog(each), last, each.version);
    if (changes.length > 0) notices.push(describe(each, last, collapseChangelog ? [] : changes));
  }
  return notices;
}

function describe(
  { name, version, root, changelogPath }: Installed,
  before: string,
  changes: readonly string[],
): string {
  const rest = changes.length > maxLines ? [`… more in ${join(root, changelogPath)}`] : [];
  return toPlainText(
    [`${name} was updated from ${before} to ${version}.`, ...changes.slice(0, maxLines), ...rest].join("\n"),
  );
}

async function listInstalled({ agentDir, cwd, settings }: PackageNewsOptions): Promise<Installed[]> {
  const { packages } = await inspectPackages({ cwd, agentDir, entries: getPackageEntries(settings) });
  return packages.flatMap(({ resources: { id, root, extensions } }) => {
    const { name = id, version, changelogPath = "CHANGELOG.md" } = (extensions.length > 0 && readManifest(root)) || {};
    return version === undefined ? [] : [{ id, name, version, root, changelogPath }];
  });
}

/** Empty if there is none inside the package. */
async function readChangelog({ root, changelogPath }: Installed): Promise<string> {
  if (changelogPath === "") return "";
  try {
    const path = await realpath(resolve(root, changelogPath));
    const status = await stat(path);
    const isInside = path.startsWith((await realpath(root)) + sep);
    return isInside && status.isFile() && status.size <= maxChangelogBytes ? await readFile(path, "utf8") : "";
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return "";
  }
}

/** The versions of the last start, by the ids of packages. Those of now are kept. */
async function takeVersions(agentDir: string, installed: readonly Installed[]): Promise<ReadonlyMap<string, string>> {
  const file = join(agentDir, "package-versions.json");
  try {
    const before = await readVersions(file);
    const isSame = installed.every(({ id, version }) => before.get(id) === version);
    if (isSame) return before;
    // The latest at the end: packages of projects that nobody opens any more are forgotten.
    const after = new Map(before);
    for (const { id, version } of installed) {
      after.delete(id);
      after.set(id, version);
    }
    await mkdir(agentDir, { recursive: true });
    const text = JSON.stringify(Object.fromEntries([...after].slice(-maxKept)), undefined, 2);
    await writeFile(`${file}.new`, `${text}\n`);
    await rename(`${file}.new`, file);
    return before;
  } catch (error) {
    // A directory that cannot be written is no reason to complain, and an update would be reported at each start.
    if (systemCode(error) === undefined) throw error;
    return new Map();
  }
}

/** Empty if there is no such file, or if it is damaged. */
async function readVersions(file: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return "";
    throw error;
  });
  const value = tryParseJson(text);
  const entries = isRecord(value) ? Object.entries(value) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
