/** Upgrades logs of older versions. The old file is kept beside the new one. */
import type { Ids } from "@tau/ai";
import { type FileSystem, systemCode } from "@tau/tools/platform";
import { keepAs, orUndefined, writeWhole } from "@tau/tools/durable";
import { type SessionHeader, sessionVersion } from "./entry.ts";
import { encodeLine } from "./line.ts";
import { createMigration, migrateHeader, type RawEntry, getVersion } from "./migrate.ts";
import { type ScannedPiece, Scanner } from "./scan.ts";

/** Whether a log has an older version. That is not known of a log without a header. */
export const isOld = (header: SessionHeader | undefined): boolean =>
  header !== undefined && getVersion({ ...header }) < sessionVersion;

/** Lines that cannot be read are kept as they are. */
export function upgradeBytes(bytes: Buffer): Buffer {
  const pieces: ScannedPiece[] = [];
  const scanner = new Scanner({ onPiece: (piece) => pieces.push(piece), onProblem: () => undefined });
  scanner.push(bytes);
  scanner.end();
  const header = parse(
    bytes,
    pieces.find(({ facts }) => facts?.kind === "header")!,
  );
  const migrate = createMigration(getVersion(header));
  return Buffer.concat([
    encodeLine(migrateHeader(header)),
    ...pieces.flatMap((piece, index) => {
      if (piece.facts?.kind === "header") return [];
      const { offset, length } = piece;
      if (!piece.facts) return [bytes.subarray(offset, offset + length), Buffer.from("\n")];
      // Ids are made from positions, not from line numbers, because two entries may share a line.
      return [encodeLine(migrate(parse(bytes, piece), index + 1))];
    }),
  ]);
}

const parse = (bytes: Buffer, { offset, length }: ScannedPiece) =>
  JSON.parse(bytes.toString("utf8", offset, offset + length)) as RawEntry;

/** Replaces the file and keeps the old one. Returns false if the disk refuses. The caller must hold the lease. */
export async function upgradeFile(
  path: string,
  { fileSystem, ids, bytes }: { fileSystem: FileSystem; ids: Ids; bytes: Buffer },
): Promise<boolean> {
  const oldPath = `${path}.old-${ids()}`;
  try {
    await keepAs(fileSystem, path, { path: oldPath, ids });
    await writeWhole(fileSystem, { path, bytes, ids });
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    await orUndefined(fileSystem.unlink(oldPath));
    return false;
  }
}
