/** Finds files of a project that hold secrets, by their names. */
import { join } from "node:path";
import { isNamedFor, isProjectSecret } from "./credentials/project-secrets.ts";
import { listEntries } from "./look.ts";
import type { FoundPath } from "./mounts.ts";

/** Nobody keeps secrets in there, and they have most of the files. */
const skipped: ReadonlySet<string> = new Set(["node_modules", ".git", ".venv", "site-packages", "target", ".cache"]);
const maxDirectories = 20_000;
const maxFiles = 2_000;

/** The nearest first. Links are not followed: what they lead to in the project is found by its own name. */
export function findProjectSecrets(workspace: string, allowed: readonly string[] = []): FoundPath[] {
  const found: FoundPath[] = [];
  const waiting = [workspace];
  for (let looked = 0; looked < waiting.length && looked < maxDirectories && found.length < maxFiles; looked++) {
    for (const entry of listEntries(waiting[looked]!)) {
      const path = join(waiting[looked]!, entry.name);
      if (entry.isDirectory() && !skipped.has(entry.name)) waiting.push(path);
      else if (entry.isFile() && isProjectSecret(path) && !isNamedFor(path, allowed))
        found.push({ path, isDirectory: false });
    }
  }
  return found;
}
