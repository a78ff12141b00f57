/** Says why an extension could not be loaded, beginning with the file and the line where there is one. Pure. */
import { getErrorMessage } from "@tau/ai/internal";

export function describeLoadError(error: unknown, { path, files }: { path: string; files: readonly string[] }): string {
  const message = getErrorMessage(error);
  if ([path, ...files].some((file) => message.startsWith(file))) return message;
  const position = findPosition(error, (file) => files.includes(file));
  return `${position ?? path}: ${message}`;
}

/** `file:line` of the innermost call in the stack of an error that is in a file of the extension. */
export function findPosition(error: unknown, isOwn: (file: string) => boolean): string | undefined {
  if (!(error instanceof Error)) return undefined;
  for (const line of (error.stack ?? "").split("\n")) {
    const [, file, number] = /^\s+at (?:.*\()?(\S.*?):(\d+):\d+\)?$/.exec(line) ?? [];
    if (file !== undefined && isOwn(file)) return `${file}:${number}`;
  }
  return undefined;
}
