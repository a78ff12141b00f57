import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Replaces a file whole or not at all, so that no reader sees half of it. For a link, the file that it leads to is
 * replaced. `mode` is that of the new file; default: that of the old one, else 0644.
 */
export function replaceFile(path: string, text: string, mode?: number): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const target = existsSync(path) ? realpathSync(path) : path;
  const kept = mode ?? (existsSync(target) ? statSync(target).mode & 0o777 : 0o644);
  const temporary = `${target}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: kept });
    chmodSync(temporary, kept);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
