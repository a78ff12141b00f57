/** The stack of an error, with the lines of the sources where the build has a source map beside the file. */
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";

/** An error may be its own cause, directly or not. */
const maxCauses = 10;

export function formatStack(error: unknown, causes = 0): string {
  if (!(error instanceof Error)) return String(error);
  const stack = toSources(error.stack ?? error.message);
  if (error.cause === undefined || causes === maxCauses) return stack;
  return `${stack}\nCaused by: ${formatStack(error.cause, causes + 1)}`;
}

function toSources(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return stack.replaceAll(
    /(?<=\(|at (?:async )?)(?!async )([^\s():][^():]*\.cjs):(\d+):(\d+)/g,
    (frame, file, line, column) => {
      if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
      const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
      return entry && "originalSource" in entry ? `${entry.originalSource}:${entry.originalLine + 1}` : frame;
    },
  );
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // The stack is still true without it.
    return undefined;
  }
}
