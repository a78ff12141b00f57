/**
 * Packages with extensions that `npm install --global` or `npm link` put into npm's directory. npm itself is not started. What
 * was found is remembered by the time at which a directory changed, because every start looks.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRecord, platform, tryParseJson } from "@tau/ai/internal";
import { listGlobalDirectories } from "./find-package.ts";
import { listEntries, orUndefinedSync } from "./read-directory.ts";

export interface GlobalPackage {
  name: string;
  /** May be a link. */
  path: string;
}

/** The content of a directory when it last changed. Those of scopes are directories of their own. */
interface ScannedDirectory {
  changedAtMs: number;
  names: string[];
  scopes: string[];
}

type Scans = Record<string, ScannedDirectory>;

/** In the order of npm's directories; the first of several with one name applies. */
export function findGlobalPackages(
  agentDir: string,
  directories: readonly string[] = listGlobalDirectories(),
): GlobalPackage[] {
  const file = join(agentDir, "cache", "global-packages.json");
  const known = readScans(file);
  const scans: Scans = {};
  const packages = new Map<string, GlobalPackage>();
  const add = (directory: string, prefix: string): void => {
    const scan = scanOnce(directory, known[directory]);
    if (!scan) return;
    scans[directory] = scan;
    for (const name of scan.names.map((each) => `${prefix}${each}`)) {
      if (!packages.has(name)) packages.set(name, { name, path: join(directory, name.slice(prefix.length)) });
    }
    for (const scope of scan.scopes) add(join(directory, scope), `${scope}/`);
  };
  for (const directory of new Set(directories)) add(directory, "");
  if (JSON.stringify(scans) !== JSON.stringify(known)) writeScans(agentDir, file, scans);
  return [...packages.values()];
}

function scanOnce(directory: string, known: ScannedDirectory | undefined): ScannedDirectory | undefined {
  const changedAtMs = orUndefinedSync(() => statSync(directory, { throwIfNoEntry: false })?.mtimeMs);
  if (changedAtMs === undefined) return undefined;
  if (known?.changedAtMs === changedAtMs) return known;
  const entries = orUndefinedSync(() => listEntries(directory)) ?? [];
  const names = entries.map(({ name }) => name).sort();
  return {
    changedAtMs,
    names: names.filter((name) => !/^[.@]/.test(name) && isExtensionPackage(join(directory, name))),
    scopes: names.filter((name) => name.startsWith("@")),
  };
}

/** Whether its `package.json` says that it is for pi or tau. */
function isExtensionPackage(directory: string): boolean {
  const text = orUndefinedSync(() => readFileSync(join(directory, "package.json"), "utf8"));
  const manifest = text === undefined ? undefined : tryParseJson(text);
  if (!isRecord(manifest)) return false;
  const { pi, tau, keywords } = manifest;
  return isRecord(pi) || isRecord(tau) || (Array.isArray(keywords) && keywords.includes("pi-package"));
}

function readScans(file: string): Scans {
  const text = orUndefinedSync(() => readFileSync(file, "utf8"));
  const value = text === undefined ? undefined : tryParseJson(text);
  const isScan = (scan: unknown): scan is ScannedDirectory =>
    isRecord(scan) && typeof scan["changedAtMs"] === "number" && isTexts(scan["names"]) && isTexts(scan["scopes"]);
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, ScannedDirectory] => isScan(entry[1])),
  );
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** A directory of tau that does not exist is not created for this. What cannot be written is found again. */
function writeScans(agentDir: string, file: string, scans: Scans): void {
  if (!existsSync(agentDir)) return;
  const draft = `${file}.${platform.uuid()}`;
  orUndefinedSync(() => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, JSON.stringify(scans), { mode: 0o600 });
    renameSync(draft, file);
  });
}
