/** Lets an agent work in a copy of the repository, and says what became of its changes. */
import { getErrorMessage } from "@tau/ai/internal";
import type { ExtensionAPI } from "@tau/extensions";
import type { ChildPlace } from "../isolate-task.ts";
import type { IsolatedResult } from "../worktrees/isolated.ts";
import type { TaskReport } from "./reports.ts";

interface IsolatedTask {
  tau: Pick<ExtensionAPI, "getSettings" | "requestAccess">;
  cwd: string;
  id: string;
  description: string;
  signal: AbortSignal;
}

/** Does the work there. Changes of work that did not succeed become a branch; others are applied if they fit. */
export async function workIsolated<E extends Pick<TaskReport, "status">>(
  task: IsolatedTask,
  work: (place: ChildPlace) => Promise<E>,
): Promise<E & Pick<TaskReport, "filesChanged" | "changes">> {
  const { openIsolated } = await import("../worktrees/isolated.ts");
  const isolated = await openIsolated(task);
  let ended: E;
  try {
    ended = await work(isolated.child);
  } catch (error) {
    await isolated.discard();
    throw error;
  }
  try {
    const result = await isolated.finish(ended.status === "done" ? {} : { result: "branch" });
    return { ...ended, ...describeChanges(result) };
  } catch (error) {
    const changes = `Its changes could not be brought back and are still in ${isolated.cwd}: ${getErrorMessage(error)}`;
    return { ...ended, filesChanged: [], changes };
  }
}

/** Pure. */
export function describeChanges(result: IsolatedResult): Pick<TaskReport, "filesChanged" | "changes"> {
  switch (result.kind) {
    case "unchanged":
      return { filesChanged: [] };
    case "applied":
      return { filesChanged: result.files };
    case "branch": {
      const { branch, files, reason } = result;
      const why = reason === undefined ? "" : ` (${reason})`;
      return {
        filesChanged: [],
        changes: `Its changes of ${list(files)} are in the branch ${branch}, not here${why}.`,
      };
    }
    case "conflicts": {
      const { branch, path, conflicts } = result;
      const changes = `Its changes do not fit the files here (${list(conflicts)}). They are in the branch ${branch}, and its copy is ${path}.`;
      return { filesChanged: [], changes };
    }
  }
}

const maxListed = 10;
const list = (files: readonly string[]): string =>
  files.length > maxListed
    ? `${files.slice(0, maxListed).join(", ")} and ${files.length - maxListed} more files`
    : files.join(", ");
