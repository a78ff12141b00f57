/** Errors in files that people write: settings, models. The rest of such a file applies. */

/** Never holds a key or the value of a header. */
export interface FileProblem {
  readonly file: string;
  /** From 1; absent when the file as a whole is meant. */
  readonly line?: number;
  /** From 1; absent when the file as a whole is meant. */
  readonly column?: number;
  /** Such as `providers.ollama.models[0].id`; absent or empty when the file as a whole is meant. */
  readonly key?: string;
  /** Says what is wrong, and what to do. For people. */
  readonly message: string;
}

/** `file:line:column: message`, which editors and terminals can jump to. */
export const formatFileProblem = ({ file, line, column, message }: FileProblem): string =>
  `${[file, line, column].filter((part) => part !== undefined).join(":")}: ${message}`;
