/** Says why an extension could not be loaded, beginning with the file and the line where there is one. Pure. */
import { getErrorMessage } from "@tau/ai/internal";
import { isWithin } from "@tau/tools/platform";

export function describeLoadError(error: unknown, { path, files }: { path: string; files: readonly string[] }): string {
  const message = getErrorMessage(error);
  if ([path, ...files].some((file) => message.startsWith(file))) return message;
  const position = findPosition(error, (file) => files.includes(file));
  return `${position ?? path}: ${message}`;
}

/** Describes an error of a factory. `root` is the directory of the extension, or its only file. */
export function describeFactoryError(error: unknown, { path, root }: { path: string; root: string }): string {
  const position = findPosition(error, (file) => isWithin(root, file));
  return `${position ?? path}: ${getErrorMessage(error)}`;
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
