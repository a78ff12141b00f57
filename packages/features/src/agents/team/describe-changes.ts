/** Says what became of the changes that an agent made in a copy of the repository. Pure. */
import { assertNever } from "@tau/ai/internal";
import type { IsolatedWork } from "../worktrees/work-isolated.ts";
import type { TaskReport } from "./reports.ts";

export function describeChanges(
  result: IsolatedWork<unknown>["changes"],
): Pick<TaskReport, "filesChanged" | "changes"> {
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
    case "left":
      return { filesChanged: [], changes: result.message };
    default:
      return assertNever(result);
  }
}

const maxListed = 10;
const list = (files: readonly string[]): string =>
  files.length > maxListed
    ? `${files.slice(0, maxListed).join(", ")} and ${files.length - maxListed} more files`
    : files.join(", ");
