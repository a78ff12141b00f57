/** Names the directory of a project within the agent directory. Pure. */
import { createHash } from "node:crypto";
import { resolve } from "node:path";

/** File systems take at most 255 bytes. */
const maxNameBytes = 200;

/** Returns the path with dashes as separators; of a long one, its end with a checksum. */
export function getProjectName(cwd: string): string {
  const name = resolve(cwd)
    .replace(/^[/\\]/, "")
    .replaceAll(/[/\\:]/g, "-");
  if (Buffer.byteLength(name) <= maxNameBytes) return name;
  const end = Buffer.from(name)
    .subarray(-maxNameBytes + 20)
    .toString("utf8")
    .replaceAll("\uFFFD", "");
  return `${createHash("sha256").update(name).digest("hex").slice(0, 12)}-${end}`;
}
