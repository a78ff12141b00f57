/** Texts of surfaces about the directories of a workspace. Pure. */
import type { AddedDirectoryData } from "../command-data.ts";

export function describeDirectories(cwd: string, directories: readonly string[]): string {
  const first = `Tools read and write in ${cwd} and in the directory for temporary files.`;
  const others = directories.length === 0 ? "" : ` Also in:\n${directories.map((path) => `- ${path}`).join("\n")}`;
  return `${first}${others}\n/add-dir PATH adds a directory until this session is closed.`;
}

export function describeAddedDirectory({ path, instructions }: AddedDirectoryData): string {
  const added = `${path} belongs to the workspace until this session is closed. /undo and /diff leave it out.`;
  if (!instructions || instructions.trusted) return added;
  return `${added} The model gets ${instructions.path} only if you trust that directory.`;
}
