/** Says why an extension could not be loaded, beginning with the file and the line where there is one. Pure. */
import { getErrorMessage } from "@tau/ai/internal";

export function describeLoadError(error: unknown, { path, files }: { path: string; files: readonly string[] }): string {
  const message = getErrorMessage(error);
  if ([path, ...files].some((file) => message.startsWith(file))) return message;
  const position = error instanceof Error ? findPosition(error.stack ?? "", files) : undefined;
  return `${position ?? path}: ${message}`;
}

/** `file:line` of the first line in a stack that is in one of the files. */
export function findPosition(stack: string, files: readonly string[]): string | undefined {
  for (const line of stack.split("\n")) {
    const file = files.find((name) => line.includes(`${name}:`));
    if (file === undefined) continue;
    const number = /^:(\d+)/.exec(line.slice(line.indexOf(`${file}:`) + file.length))?.[1];
    if (number !== undefined) return `${file}:${number}`;
  }
  return undefined;
}
