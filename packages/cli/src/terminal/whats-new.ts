/** Finds what has changed since the user last started the program. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "@tau/tools/platform";

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

/** The sections of the versions after `before`, up to `version`; the newest is first in the file. */
function listChanges(changelog: string, before: string, version: string): string[] {
  const isHeadOf = (line: string, name: string) => line.startsWith("## ") && line.includes(name);
  const lines = changelog.split("\n");
  const start = lines.findIndex((line) => isHeadOf(line, version));
  if (start === -1) return [];
  const end = lines.findIndex((line, index) => index > start && isHeadOf(line, before));
  return lines
    .slice(start, end === -1 ? undefined : end)
    .join("\n")
    .trim()
    .split("\n");
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
