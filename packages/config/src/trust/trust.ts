/**
 * Which projects the user trusts. Trust is bound to the content of the files that a project could use to execute or to
 * redirect something: when one of them changes, the project is untrusted until the user looks at it again. Kept in
 * `trusted-projects.json`: the `trust.json` of a directory that pi uses too belongs to pi.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { homedir } from "node:os";
import { join, relative, resolve } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { type TrustData, type TrustDifference, HarnessError } from "@tau/protocol";
import { type FileSystem, isWithin, lookAt, nodeFileSystem, systemCode, unlessMissing } from "@tau/tools/platform";
import { expandHome } from "../files/agent-dir.ts";
import { readWhole, withFileLease } from "@tau/tools/durable";
import { parseJsonDocument } from "../json/document.ts";
import { isLocalSource } from "../installs/package-source.ts";
import { claudeAgents, claudeCommands, claudeSkills } from "../resources/locations.ts";
import { createPathFilter, resolvePathEntry } from "../resources/path-filter.ts";
import { projectSkillDirectories } from "../resources/skills.ts";
import { claudeSettings, listCommandFiles, listHookCommands } from "./hook-files.ts";
import { describeRecordFile, type RecordFileOptions } from "@tau/policy/internal";

export type TrustOptions = RecordFileOptions;

/** Directories that a project may bring along, relative to its own, besides skills and what its settings name. */
const projectDirectories = [".tau", ".pi"];
const projectPaths = [
  ...projectDirectories,
  ".mcp.json",
  claudeAgents,
  claudeCommands,
  claudeSkills,
  ...claudeSettings,
];

/** The content of installed packages is bound to their lock, which is one of the files, and to what was installed here. */
const packageDirectories = projectDirectories.flatMap((name) => [join(name, "npm"), join(name, "git")]);

/** A project with more files than this cannot be trusted: nobody could have looked at them. */
const maxFiles = 2_000;

export async function readTrust(options: Omit<TrustOptions, "ids">): Promise<TrustData> {
  const { cwd, agentDir, fileSystem: fs = nodeFileSystem } = options;
  const path = await realDirectory(fs, cwd);
  const current = await digestFiles(fs, path, await listProjectFiles(fs, path, agentDir));
  const records = await store.read(options);
  const stored = Object.hasOwn(records, path) ? records[path] : undefined;
  const isSame = stored?.digest === current.digest;
  const difference = stored?.files && !isSame ? compareFiles(stored.files, current.files) : undefined;
  return {
    path,
    trusted: isSame,
    files: Object.keys(current.files),
    changed: stored !== undefined && !isSame,
    digest: current.digest,
    ...(difference && { difference }),
  };
}

/** Compares the files with those that the user trusted. Pure. */
function compareFiles(trusted: FileDigests, current: FileDigests): TrustDifference {
  const names = Object.keys(current);
  return {
    added: names.filter((name) => !Object.hasOwn(trusted, name)),
    changed: names.filter((name) => Object.hasOwn(trusted, name) && trusted[name] !== current[name]),
    removed: Object.keys(trusted).filter((name) => !Object.hasOwn(current, name)),
  };
}

/** Files that hold only text for the model: templates and skills. What lies beside a skill may be a program. */
const textFile =
  /^(?:(?:\.tau|\.pi)[/\\](?:prompts|skills)|\.claude[/\\](?:commands|skills)|(?:\.\.[/\\])*\.agents[/\\]skills)[/\\].*\.md$/;

/** Whether only prompt templates and skills differ, which neither run nor change a setting. Pure. */
export function isAboutTextsOnly({ added, changed, removed }: TrustDifference): boolean {
  const names = [...added, ...changed, ...removed];
  return names.length > 0 && names.every((name) => textFile.test(name));
}

/**
 * Whether the user's stored answer applies: without one nothing of the project is read. While a change of the user's own is
 * made, also by another process, the files are not yet those of the answer: then the end of the change is waited for.
 */
export async function isTrustStored(options: Omit<TrustOptions, "ids">): Promise<boolean> {
  const { fileSystem: fs = nodeFileSystem } = options;
  const isTrusted = async () => (await readStoredTrust(options))?.trusted;
  // Files may be gone before they are read, too, while they are changed.
  const isTrustedNow = await isTrusted().catch(toFalse);
  if (isTrustedNow) return true;
  try {
    if (isTrustedNow === undefined && !(await lookAt(fs, `${await locateChange(options)}.lease`))) return false;
    return (await whileNobodyChanges(options, isTrusted)) ?? false;
  } catch (error) {
    return toFalse(error);
  }
}

/** An answer that cannot be read is none. Files that cannot be, or too many of them, are not those that were trusted. */
function toFalse(error: unknown): false {
  if (!(error instanceof HarnessError) && systemCode(error) === undefined) throw error;
  return false;
}

/** Undefined without an answer. */
async function readStoredTrust(options: Omit<TrustOptions, "ids">): Promise<TrustData | undefined> {
  const { cwd, fileSystem: fs = nodeFileSystem } = options;
  const stored = await store.read(options);
  return Object.hasOwn(stored, await realDirectory(fs, cwd)) ? await readTrust(options) : undefined;
}

/**
 * The file whose lease a process has that changes the project. It is not in the project, whose files would change by it. Not a
 * hash of the path: every start would load node:crypto for it. Projects whose paths give the same name wait for each other.
 */
async function locateChange({ cwd, agentDir, fileSystem = nodeFileSystem }: Omit<TrustOptions, "ids">) {
  const path = await realDirectory(fileSystem, cwd);
  return join(agentDir, `project-change${path.replaceAll(/[^\w.]+/g, "-").slice(-150)}`);
}

async function whileNobodyChanges<T>(options: Omit<TrustOptions, "ids">, work: () => Promise<T>): Promise<T> {
  const { fileSystem = nodeFileSystem } = options;
  const ports = { fileSystem, clock: systemClock, ids: systemIds };
  return await withFileLease(await locateChange(options), ports, work);
}

/** For `SettingsManager.setProjectTrusted`: trust that lasts until a file changes. */
export const createTrustCheck = (options: Omit<TrustOptions, "ids">) => () => isTrustStored(options);

/**
 * Makes a change of the user's own in the project, one at a time: trust that was stored before applies after it too. With
 * `trustsNew`, a project that had no files of its own, and so nothing to distrust, is trusted too.
 */
export async function keepTrust(
  options: TrustOptions,
  change: () => Promise<void>,
  { trustsNew = false }: { trustsNew?: boolean } = {},
): Promise<void> {
  await whileNobodyChanges(options, async () => {
    const isKept =
      (await readStoredTrust(options))?.trusted || (trustsNew && (await readTrust(options)).files.length === 0);
    await change();
    if (isKept) await writeTrust(options, true);
  });
}

/**
 * Stores the user's answer. With `digest`, the one of the files that the user was shown, nothing is stored if the files
 * have changed since: the user has to look again.
 */
export async function writeTrust(options: TrustOptions, trusted: boolean, digest?: string): Promise<TrustData> {
  const { cwd, agentDir, fileSystem: fs = nodeFileSystem } = options;
  const path = await realDirectory(fs, cwd);
  const record = trusted ? await digestFiles(fs, path, await listProjectFiles(fs, path, agentDir)) : undefined;
  if (record && digest !== undefined && digest !== record.digest)
    throw new HarnessError(
      "invalid_input",
      `The files of ${path} have changed since you were asked, so your answer does not count. Look at them again.`,
    );
  await store.change(options, ({ [path]: _before, ...others }) =>
    record === undefined ? others : { ...others, [path]: record },
  );
  return await readTrust(options);
}

const realDirectory = (fs: FileSystem, cwd: string): Promise<string> =>
  unlessMissing(fs.realpath(resolve(cwd))).then((path) => path ?? resolve(cwd));

/** A digest of each file, by its path in the project. */
type FileDigests = Readonly<Record<string, string>>;

interface TrustRecord {
  /** The digest of all files. It alone decides whether they are the same. */
  digest: string;
  /** For the difference. Records that were written before there was one do not have it. */
  files?: FileDigests;
}

/** By the path of the project. A store that cannot be read trusts nothing. */
const store = describeRecordFile("trusted-projects.json", "projects", (projects) => {
  const entries = Object.entries(isRecord(projects) ? projects : {}).flatMap(([path, stored]) => {
    const { digest, files } = isRecord(stored) ? stored : {};
    const record = { digest, ...(isDigests(files) && { files }) };
    return typeof digest === "string" ? [[path, record as TrustRecord] as const] : [];
  });
  return Object.fromEntries(entries);
});

const isDigests = (value: unknown): value is FileDigests =>
  isRecord(value) && Object.values(value).every((digest) => typeof digest === "string");

async function listProjectFiles(fs: FileSystem, directory: string, agentDir: string): Promise<string[]> {
  const files = new Set<string>();
  const skills = await projectSkillDirectories(fs, { cwd: directory, home: homedir() });
  const named = await Promise.all(projectDirectories.map((name) => listNamedPaths(fs, directory, name)));
  const run = await listHookFiles(fs, directory, agentDir);
  const pending = [...projectPaths.map((name) => join(directory, name)), ...skills, ...named.flat(), ...run];
  const seen = new Set<string>();
  for (let path = pending.shift(); path !== undefined; path = pending.shift()) {
    const stats = await unlessMissing(fs.lstat(path));
    if (stats?.isDirectory() && packageDirectories.includes(relative(directory, path))) continue;
    if (stats && !stats.isDirectory()) files.add(path);
    // Settings and resources are also read through links to directories.
    if (stats && (await lookAt(fs, path))?.isDirectory()) {
      const realPath = await fs.realpath(path);
      if (!seen.has(realPath)) pending.push(...(await fs.readdir(path)).map(({ name }) => join(path!, name)));
      seen.add(realPath);
    }
    if (files.size + pending.length <= maxFiles) continue;
    throw new HarnessError("invalid_input", `${directory} has more than ${maxFiles} files of its own settings.`);
  }
  return [...files].toSorted();
}

/** Nothing of a damaged file applies. */
async function readSettings(fs: FileSystem, file: string): Promise<Readonly<Record<string, unknown>>> {
  if (!(await lookAt(fs, file))?.isFile()) return {};
  const text = await readWhole(fs, file);
  const parsed = text && (await parseJsonDocument(text.toString("utf8")));
  return parsed?.kind === "document" ? parsed.value : {};
}

/** Lists the files of a project in which Claude Code has hooks, and those that hooks run. */
export async function listHookSources(fs: FileSystem, project: string, agentDir: string): Promise<string[]> {
  const files = claudeSettings.map((name) => join(project, name));
  const settings = await Promise.all(files.map((file) => readSettings(fs, file)));
  const withHooks = files.filter((_file, index) => listHookCommands(settings[index]!["hooks"]).length > 0);
  return [...withHooks, ...(await listHookFiles(fs, project, agentDir))];
}

/** The files of the project that hooks name, also those of the user: they run what the project has there. */
async function listHookFiles(fs: FileSystem, project: string, agentDir: string): Promise<string[]> {
  const own = projectDirectories.map((name) => join(name, "settings.json"));
  const files = [join(agentDir, "settings.json"), ...[...own, ...claudeSettings].map((name) => join(project, name))];
  const settings = await Promise.all(files.map((file) => readSettings(fs, file)));
  const commands = [...new Set(settings.flatMap((values) => listHookCommands(values["hooks"])))];
  return (await Promise.all(commands.map((command) => listCommandFiles(command, project, fs)))).flat();
}

/** The files and directories of the project that its settings add as extensions, packages, skills, templates and themes. */
async function listNamedPaths(fs: FileSystem, project: string, name: string): Promise<string[]> {
  const directory = join(project, name);
  const { extensions, packages, skills, prompts, themes } = await readSettings(fs, join(directory, "settings.json"));
  const sources = [packages].flat().map((entry) => (isRecord(entry) ? entry["source"] : entry));
  const localSources = sources.filter((source) => typeof source === "string" && isLocalSource(source));
  const entries = [extensions, localSources, skills, prompts, themes]
    .flat()
    .filter((entry) => typeof entry === "string");
  const paths = entries.map((entry) => resolvePathEntry(entry, directory, (path) => expandHome(path, homedir())));
  const inside = createPathFilter(paths).roots.map(async (path) => {
    // A link in the project is taken with the content behind it, wherever that is.
    const real = isWithin(project, path) ? path : await unlessMissing(fs.realpath(path));
    return real !== undefined && isWithin(project, real) ? [real] : [];
  });
  return (await Promise.all(inside)).flat();
}

/** Names and contents; of a link also where it leads. Of what is no file only the kind. */
async function digestFiles(
  fs: FileSystem,
  directory: string,
  files: readonly string[],
): Promise<Required<TrustRecord>> {
  const all = createHash("sha256");
  const digests: [string, string][] = [];
  for (const file of files) {
    const isLink = (await fs.lstat(file)).isSymbolicLink();
    const stats = await lookAt(fs, file);
    const content = stats?.isFile()
      ? ((await readWhole(fs, file)) ?? Buffer.alloc(0))
      : Buffer.from(String((stats?.mode ?? 0) & constants.S_IFMT));
    const link = isLink ? await fs.readlink(file) : "";
    const head = `${relative(directory, file)}\0${link}\0${content.length}\0`;
    all.update(head).update(content);
    digests.push([relative(directory, file), createHash("sha256").update(head).update(content).digest("hex")]);
  }
  return { digest: all.digest("hex"), files: Object.fromEntries(digests) };
}
