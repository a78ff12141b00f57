/** Opens settings with the user's decision about the project: no setting that needs trust applies before that. */
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { nodeFileSystem, unlessMissing } from "@tau/tools/platform";
import { readWhole } from "@tau/tools/durable";
import { listExisting, locateResources } from "../resources/locations.ts";
import { SettingsManager, type SettingsManagerOptions } from "../settings/settings-manager.ts";
import { createTrustCheck, isTrustStored, listHookSources } from "./trust.ts";

export interface OpenSettingsOptions extends Omit<SettingsManagerOptions, "projectTrusted"> {
  cwd: string;
  agentDir: string;
  /** Trusts the project or not, whatever is stored or set. Nothing is stored. */
  projectTrusted?: boolean;
  /** Asks extensions of the user; undefined: they do not decide. Default: none are asked. */
  askExtensions?: (settings: SettingsManager) => Promise<boolean | undefined>;
  /** Asks the user, with the names of what needs trust. Storing the answer is up to the caller. Default: nobody is there. */
  askTrust?: (waiting: readonly string[]) => Promise<boolean>;
}

/** In order of precedence: `projectTrusted`, the setting `defaultProjectTrust`, the stored answer, extensions, the user. */
export async function openSettings(options: OpenSettingsOptions): Promise<SettingsManager> {
  const { cwd, agentDir, projectTrusted, askTrust: _askTrust, askExtensions: _askExtensions, ...rest } = options;
  const settings = await SettingsManager.create(cwd, agentDir, rest);
  if (!(projectTrusted ?? (await isTrusted(settings, options)))) return settings;
  const isBound = projectTrusted === undefined && settings.get().defaultProjectTrust === "ask";
  const check = isBound && (await isTrustStored(options)) ? createTrustCheck(options) : undefined;
  await settings.setProjectTrusted(true, check);
  return settings;
}

async function isTrusted(settings: SettingsManager, options: OpenSettingsOptions): Promise<boolean> {
  const { defaultProjectTrust } = settings.get();
  if (defaultProjectTrust !== "ask") return defaultProjectTrust === "always";
  if (await isTrustStored(options)) return true;
  if (!options.askTrust && !options.askExtensions) return false;
  const waiting = await listWaiting(settings, options);
  if (waiting.length === 0 || (await isRefusedInPi(options))) return false;
  return (await options.askExtensions?.(settings)) ?? (await options.askTrust?.(waiting)) ?? false;
}

/** Lists what has no effect without trust. Settings are named one by one, since most of them need none. */
async function listWaiting(settings: SettingsManager, options: OpenSettingsOptions): Promise<string[]> {
  const { fileSystem: fs = nodeFileSystem } = options;
  const [cwd, agentDir] = [resolve(options.cwd), resolve(options.agentDir)];
  const all = { includeHome: true, includeProject: true, discoverSkills: true, discoverPrompts: true };
  const { project } = await locateResources(fs, { cwd, agentDir, home: homedir(), ...all }, undefined);
  const waiting = settings.problems.filter(({ kind }) => kind === "untrusted").map(({ key }) => `the setting ${key}`);
  const extensions = project.systemFiles.map((path) => join(dirname(path), "extensions"));
  const hooks = await listHookSources(fs, cwd, agentDir);
  return [...waiting, ...(await listExisting(fs, cwd, { ...project, extensions, hooks }))];
}

/**
 * Whether the user said no in pi: its `trust.json` has true or false by directory, and the nearest one applies. A yes there
 * is not bound to the content of the files, so it is none here.
 */
async function isRefusedInPi({ cwd, agentDir, fileSystem: fs = nodeFileSystem }: OpenSettingsOptions) {
  const text = (await readWhole(fs, join(agentDir, "trust.json")))?.toString("utf8");
  const decisions = text === undefined ? undefined : tryParseJson(text.replace(/^\uFEFF/, ""));
  if (!isRecord(decisions)) return false;
  let directory = (await unlessMissing(fs.realpath(resolve(cwd)))) ?? resolve(cwd);
  while (typeof decisions[directory] !== "boolean" && dirname(directory) !== directory) directory = dirname(directory);
  return decisions[directory] === false;
}
