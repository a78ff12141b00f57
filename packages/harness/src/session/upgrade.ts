/** Logs of older versions in today's form. The old file is kept beside the new one. */
import type { Ids } from "@tau/ai";
import type { FileSystem } from "@tau/tools/platform";
import { orUndefined, writeWhole } from "../durable-file.ts";
import { type SessionHeader, sessionVersion } from "./entry.ts";
import { encodeLine } from "./line.ts";
import { createMigration, migrateHeader, type RawEntry, getVersion } from "./migrate.ts";
import { type ScannedPiece, Scanner, type SessionProblem } from "./scan.ts";

/** Whether a log is of an older version. Without a header, entries without ids tell: only version 1 had such. */
export const isOld = (header: SessionHeader | undefined, problems: readonly SessionProblem[]): boolean =>
  header ? getVersion({ ...header }) < sessionVersion : problems.some(({ kind }) => kind === "no_id");

/** The bytes of an older log as today's, with `lost` for a header that cannot be read. What else cannot stays as it is. */
export function upgradeBytes(bytes: Buffer, lost: SessionHeader): Buffer {
  const pieces: ScannedPiece[] = [];
  const scanner = new Scanner({ onPiece: (piece) => pieces.push(piece), onProblem: () => undefined });
  scanner.push(bytes);
  scanner.end();
  const headerAt = pieces.findIndex(({ facts }) => facts?.kind === "header");
  const header = headerAt < 0 ? undefined : parse(bytes, pieces[headerAt]!);
  const migrate = createMigration(header ? getVersion(header) : 1);
  return Buffer.concat([
    encodeLine(header ? migrateHeader(header) : lost),
    ...pieces.flatMap((piece, at) => {
      if (piece.facts?.kind === "header") return [];
      const { offset, length } = piece;
      if (!piece.facts) return [bytes.subarray(offset, offset + length), Buffer.from("\n")];
      // Entries without ids are known by where they stand, and not by their lines, since two may share one.
      return [encodeLine(migrate(parse(bytes, piece), at + 1))];
    }),
  ]);
}

const parse = (bytes: Buffer, { offset, length }: ScannedPiece) =>
  JSON.parse(bytes.toString("utf8", offset, offset + length)) as RawEntry;

/** Puts today's form in the place of an older log. Whoever calls it has the right to write. */
export async function upgradeFile(
  path: string,
  { fileSystem, ids, bytes }: { fileSystem: FileSystem; ids: Ids; bytes: Buffer },
): Promise<void> {
  const kept = `${path}.old-${ids()}`;
  await fileSystem.link(path, kept);
  try {
    await writeWhole(fileSystem, { path, bytes, ids });
  } catch (error) {
    await orUndefined(fileSystem.unlink(kept));
    throw error;
  }
}
