/** Finds what has changed since the user last started the program. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "@tau/tools/platform";
import { listChanges } from "./list-changes.ts";

interface UpdateOptions {
  /** The version of the last start. */
  before: string;
  version: string;
  changelog: string | undefined;
  /** Only that there is something new. */
  isCollapsed: boolean;
}

const maxLines = 30;

/** Describes an update. Pure. */
export function describeUpdate({ before, version, changelog, isCollapsed }: UpdateOptions): string {
  const title = `tau was updated from ${before} to ${version}.`;
  const lines = isCollapsed ? [] : listChanges(changelog ?? "", before, version);
  if (lines.length === 0) return `${title} /changelog shows what has changed.`;
  const rest = lines.length > maxLines ? ["… /changelog shows more"] : [];
  return [title, ...lines.slice(0, maxLines), ...rest].join("\n");
}

/** The version of the last start, and this one is kept. Undefined at the first start, and after one of the same version. */
export async function takeLastVersion(agentDir: string, version: string): Promise<string | undefined> {
  const file = join(agentDir, "last-version");
  try {
    const before = await readVersion(file);
    if (before === version) return undefined;
    await mkdir(dirname(file), { recursive: true });
    // A disk that becomes full leaves the old one as it is.
    await writeFile(`${file}.new`, `${version}\n`);
    await rename(`${file}.new`, file);
    return before;
  } catch (error) {
    // A directory that cannot be written is no reason not to start, and an update would be reported at each start.
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

async function readVersion(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim().slice(0, 50) || undefined;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
