/** What is wrong with a file that somebody wrote for us. Never thrown: the rest keeps working. */

export type ResourceProblemKind =
  /** It is there and cannot be read: no permission, a pipe, no text. */
  | "unreadable"
  /** Only its beginning is used. */
  | "too_large"
  /** What it says is against the rules; the message says which. */
  | "invalid"
  /** Another one of that name was found first. */
  | "collision";

export interface ResourceProblem {
  kind: ResourceProblemKind;
  path: string;
  /** 1-based, where it is known. */
  line?: number;
  /** The key it is about, where there is one. */
  key?: string;
  /** Whole sentences for a person: what is wrong, where, and what to do. They begin with the path and the line. */
  message: string;
}

/** `path:line: text`, as editors and terminals make links of it. */
export function problemAt(
  kind: ResourceProblemKind,
  { path, line, key }: { path: string; line?: number | undefined; key?: string | undefined },
  text: string,
): ResourceProblem {
  const place = line === undefined ? path : `${path}:${line}`;
  return {
    kind,
    path,
    ...(line !== undefined && { line }),
    ...(key !== undefined && { key }),
    message: `${place}: ${text}`,
  };
}
