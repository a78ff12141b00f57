/** Where clients may create sessions. */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { GatewayError } from "../errors.ts";

/** The real path of a directory below one of the roots. Throws for any other. */
export async function resolveDirectory(cwd: string, roots: readonly string[]): Promise<string> {
  if (!isAbsolute(cwd) || cwd.includes("\0")) {
    throw new GatewayError("invalid_parameters", `cwd has to be the absolute path of a directory.`);
  }
  const path = await findDirectory(cwd);
  const realRoots = await Promise.all(roots.map(findDirectory));
  // Whether a directory elsewhere exists is nobody's business.
  if (path !== undefined && realRoots.some((root) => root !== undefined && isWithin(root, path))) return path;
  const where = roots.map((root) => JSON.stringify(root)).join(", ");
  throw new GatewayError(
    "forbidden",
    `Sessions can be created only in directories that exist below ${where}. The setting gateway.roots says so.`,
  );
}

async function findDirectory(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  const stats = real === undefined ? undefined : await stat(real).catch(() => undefined);
  return stats?.isDirectory() ? real : undefined;
}
