/** Applies the changes of a branch to the files of a repository. */
import { git, tryGit } from "./git.ts";

type Application = { kind: "applied" } | { kind: "conflicts"; conflicts: string[] };

const maxConflicts = 20;

/** Formats the changes between two commits, so that they can be applied elsewhere. */
export const formatPatch = (top: string, base: string, tip: string): Promise<Buffer> =>
  git(["diff", "--binary", "--full-index", "--no-renames", "--no-color", base, tip], { cwd: top });

/** Changes all files or none. The index stays as it is. */
export async function applyChanges(top: string, base: string, tip: string): Promise<Application> {
  const input = await formatPatch(top, base, tip);
  // In English, so that messages for models and records are alike everywhere.
  const options = { cwd: top, input, env: { LC_ALL: "C" } };
  const apply = ["apply", "--whitespace=nowarn"];
  const checked = await tryGit([...apply, "--check", "-"], options);
  if (checked.code !== 0) return { kind: "conflicts", conflicts: listConflicts(checked.stderr) };
  await git([...apply, "-"], options);
  return { kind: "applied" };
}

/** Pure. */
function listConflicts(stderr: string): string[] {
  const lines = [...new Set(stderr.split("\n").flatMap((line) => /^error: (.+)$/.exec(line)?.[1] ?? []))];
  const shown = lines.slice(0, maxConflicts);
  return lines.length > shown.length ? [...shown, `and ${lines.length - shown.length} more`] : shown;
}
