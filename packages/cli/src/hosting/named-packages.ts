/**
 * Packages that `-e npm:NAME` or `-e git:HOST/PATH` names. They are fetched for this run, and removed when the program
 * ends.
 */
import { rmSync } from "node:fs";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NamedPackage } from "@tau/extensions";
import { type FetchedPackage, fetchPackage, type PackageSource, parseSource } from "@tau/config/installs";
import { openSettings } from "./open-settings.ts";
import { readRunSettings } from "./run-settings.ts";
import { getAgentDir } from "./agent-dir.ts";
import type { SessionOptions } from "../start/session-options.ts";
import { isInteractive } from "../process/ask.ts";
import type { Io } from "../commands/command.ts";
import { askToEnable, describePackage } from "../commands/enable-packages.ts";
import { getFetchPorts } from "../commands/package-context.ts";
import { UsageError } from "../process/errors.ts";

/** Neither `--yes` nor `--trust` nor `--any-age`. */
const noFlags = { has: () => false };

/**
 * The options with what the packages bring, and without the packages among the extensions. The rules are those of
 * `tau install`: no scripts, no release that is too young, a hash of the registry. Throws if one cannot be fetched, or if
 * the user does not agree. Where nobody can be asked, the extensions run isolated.
 */
export async function fetchNamedPackages(options: SessionOptions, io: Io): Promise<SessionOptions> {
  const sources = options.extensions.flatMap((text): NamedSource[] => {
    const source = parseSource(text, io.cwd);
    if (source.kind === "invalid" && /^(npm|git):/.test(text)) throw new UsageError("invalid_input", source.message);
    return source.kind === "npm" || source.kind === "git" ? [{ text, source }] : [];
  });
  if (sources.length === 0) return options;
  const directory = await openDirectory();
  try {
    const fetched = await fetchAll(sources, directory, { options, io });
    const canAnswer = options.mode === "text" && isInteractive(io);
    if (canAnswer) for (const { text, ...each } of fetched) io.err(describePackage(each, text));
    const state = canAnswer ? await askToEnable(fetched, noFlags, io) : "acknowledged";
    return await useAll(fetched, state, options);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

interface NamedSource {
  text: string;
  source: PackageSource;
}

type FetchedSource = FetchedPackage & Pick<NamedSource, "text">;

async function fetchAll(
  sources: readonly NamedSource[],
  directory: string,
  { options, io }: { options: SessionOptions; io: Io },
): Promise<FetchedSource[]> {
  const runSettings = await readRunSettings(options, io);
  const place = { cwd: io.cwd, agentDir: getAgentDir(io) };
  // Only what the user has set applies: a project must not say how young a release may be.
  const settings = await openSettings({ ...place, watch: false, projectTrusted: false, runSettings });
  const ports = getFetchPorts({ cwd: io.cwd, agentDir: directory, settings, scope: "user" }, noFlags, io);
  await settings.close();
  const fetched: FetchedSource[] = [];
  for (const { text, source } of sources) fetched.push({ ...(await fetchPackage(source, { ...ports, text })), text });
  return fetched;
}

async function useAll(
  fetched: readonly FetchedSource[],
  state: NamedPackage["state"],
  options: SessionOptions,
): Promise<SessionOptions> {
  const namedPackages: NamedPackage[] = [];
  const paths = { skills: [...options.skills], prompts: [...options.promptTemplates], themes: [...options.themes] };
  for (const { text, source, names, enable } of fetched) {
    const root = await enable();
    const toPaths = (list: readonly string[]) => list.map((name) => join(root, name));
    namedPackages.push({ id: source.id, root, source: text, extensions: toPaths(names.extensions), state });
    for (const kind of ["skills", "prompts", "themes"] as const) paths[kind].push(...toPaths(names[kind]));
  }
  const { skills, prompts: promptTemplates, themes } = paths;
  const texts = new Set(fetched.map(({ text }) => text));
  const extensions = options.extensions.filter((text) => !texts.has(text));
  return { ...options, extensions, namedPackages, skills, promptTemplates, themes };
}

/** Removed however the program ends, except by a signal that cannot be handled. */
async function openDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "tau-packages-")));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
