/** Problems of files that a user wrote, such as skills. They are never thrown: the other files are used. */
import type { FileProblem } from "../files/file-problem.ts";

type ResourceProblemKind =
  /** The file cannot be read: no permission, not a regular file, not text. */
  | "unreadable"
  /** Only the beginning of the file is used. */
  | "too_large"
  /** The content is not valid; the message says why. */
  | "invalid"
  /** It is ignored until the user trusts the project. */
  | "untrusted"
  /** Changes are not noticed. */
  | "unwatched"
  /** Another file with the same name has precedence. */
  | "collision";

export interface ResourceProblem extends FileProblem {
  readonly kind: ResourceProblemKind;
}

export function createProblem(
  kind: ResourceProblemKind,
  { path, line, key }: { path: string; line?: number | undefined; key?: string | undefined },
  message: string,
): ResourceProblem {
  return { kind, file: path, ...(line !== undefined && { line }), ...(key !== undefined && { key }), message };
}
