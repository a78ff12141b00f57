/** Logs of older versions in today's form. The old file is kept beside the new one. */
import type { FileSystem } from "@tau/tools/platform";
import type { Ids } from "@tau/ai";
import { writeWhole } from "../whole-file.ts";
import { sessionVersion } from "./entry.ts";
import { encodeLine } from "./line.ts";
import { createMigration, migrateHeader, type RawEntry, versionOf } from "./migrate.ts";

export const isOld = (header: { version?: unknown }): boolean => versionOf(header) < sessionVersion;

/** The bytes of an older log as today's. What cannot be read stays as it is. Pure. */
export function upgradeBytes(bytes: Buffer): Buffer {
  const lines = bytes
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .split("\n");
  const version = versionOf((parse(lines[0] ?? "") ?? {}) as { version?: unknown });
  const migrate = createMigration(version);
  return Buffer.concat(
    lines.flatMap((line, at) => {
      if (line.trim() === "") return [];
      const value = parse(line);
      if (!value) return [Buffer.from(`${line}\n`)];
      return [encodeLine(value.type === "session" ? migrateHeader(value) : migrate(value, at + 1))];
    }),
  );
}

function parse(line: string): RawEntry | undefined {
  try {
    const value = JSON.parse(line) as RawEntry | null;
    return typeof value === "object" && typeof value?.type === "string" ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Puts today's form in the place of an older log. Whoever calls it has the right to write. */
export async function upgradeFile(
  path: string,
  { fileSystem, ids, bytes }: { fileSystem: FileSystem; ids: Ids; bytes: Buffer },
): Promise<void> {
  await fileSystem.link(path, `${path}.old-${ids()}`);
  await writeWhole(fileSystem, { path, bytes: upgradeBytes(bytes), ids });
}
