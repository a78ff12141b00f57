/** Packages that pi has installed for the user, which tau does not have yet. */
import { join } from "node:path";
import type { Ids } from "@tau/ai";
import { nodeFileSystem, systemCode } from "@tau/tools/platform";
import { orUndefined, readWhole } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
import { parseJsonDocument } from "../json/document.ts";
import { describeRecordFile } from "@tau/policy/internal";
import { getRealPath } from "../settings/locate.ts";
import { getEntryId } from "./locate-source.ts";
import { type PackageEntry, packageEntries, toDetailed } from "./package-entry.ts";

export interface PiPackagesOptions {
  home: string;
  agentDir: string;
  /** The user's own packages, with absolute paths. */
  entries: readonly PackageEntry[];
}

/** With absolute paths. Empty if tau uses pi's own directory: its settings are read as they are. */
export async function findPiPackages({ home, agentDir, entries }: PiPackagesOptions): Promise<PackageEntry[]> {
  const directory = join(home, ".pi", "agent");
  if (getRealPath(directory) === getRealPath(agentDir)) return [];
  const bytes = await orUndefined(readWhole(nodeFileSystem, join(directory, "settings.json"), 1_000_000));
  const parsed = bytes && (await parseJsonDocument(bytes.toString("utf8")));
  if (parsed?.kind !== "document") return [];
  // What is wrong in pi's settings is not ours to report.
  const listed = packageEntries.read(parsed.value["packages"] ?? [], { path: [], report: () => {} }) ?? [];
  const resolved = packageEntries.resolve!(listed, { directory, cwd: directory, home });
  const own = new Set(entries.map(getEntryId));
  return resolved.filter((entry) => getEntryId(entry) !== undefined && !own.has(getEntryId(entry)));
}

const store = describeRecordFile("pi-packages.json", "named", (value): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [],
);

/**
 * A sentence about packages of pi that were not named before, or undefined. It is given once for each; where that cannot be
 * written down, not at all.
 */
export async function takePiPackagesNotice(options: PiPackagesOptions & { ids: Ids }): Promise<string | undefined> {
  const { agentDir, ids } = options;
  const sources = (await findPiPackages(options)).map((entry) => toDetailed(entry).source);
  if (sources.length === 0) return undefined;
  const place = { agentDir, cwd: agentDir };
  const listFresh = (named: readonly string[]) => sources.filter((source) => !named.includes(source));
  let fresh = listFresh(await store.read(place));
  if (fresh.length === 0) return undefined;
  try {
    await store.change({ ...place, ids }, (named) => {
      // Another program that starts now may have named them.
      fresh = listFresh(named);
      return [...named, ...fresh];
    });
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof HarnessError)) throw error;
    return undefined;
  }
  if (fresh.length === 0) return undefined;
  return `pi has packages that tau does not use: ${fresh.join(", ")}. To look at them and install them: tau install --from-pi`;
}
