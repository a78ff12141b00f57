/** Reports that a command reached a limit of memory, with the setting that raises it. Pure. */
import { resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { findPathsInLine } from "./evidence.ts";
import { listMemoryFiles, type Mount } from "./mounts.ts";
import type { SandboxSettings } from "./settings.ts";

interface PrintedOutput {
  /** The end of what the command printed. */
  readonly output: string;
  readonly cwd: string;
  readonly mounts: readonly Mount[];
  /** Whether a disk that commands write to is full. Asked only if it matters. */
  readonly isDiskFull: () => boolean;
}

const fullMessage = /no space left on device|\bENOSPC\b/i;
/** The system uses the same error for too many watched files. */
const watchMessage = /watch/i;
const memoryMessage =
  /cannot allocate memory|out of memory|memory exhausted|\bENOMEM\b|\bMemoryError\b|\bbad_alloc\b|heap limit/i;

export function describeMemoryLimits(
  printed: PrintedOutput,
  { maxMemoryMb, maxMemoryFilesMb }: Pick<SandboxSettings, "maxMemoryFilesMb"> & { maxMemoryMb: number | undefined },
): string[] {
  const sentences: string[] = [];
  if (hasFilledMemory(printed)) {
    const names = listMemoryFiles(printed.mounts).join(", ");
    sentences.push(
      `[In the sandbox, the file systems in memory (${names}) hold at most ${maxMemoryFilesMb} MB each. Only the user can allow more, with the setting sandbox.maxMemoryFilesMb.]`,
    );
  }
  if (maxMemoryMb !== undefined && memoryMessage.test(printed.output))
    sentences.push(
      `[Commands may use at most ${maxMemoryMb} MB of memory, and a process may reserve twice as much. Only the user can allow more, with the setting sandbox.maxMemoryMb.]`,
    );
  return sentences;
}

/** By a path in the message, or because no disk is full. */
function hasFilledMemory({ output, cwd, mounts, isDiskFull }: PrintedOutput): boolean {
  const lines = output.split("\n").filter((line) => fullMessage.test(line) && !watchMessage.test(line));
  if (lines.length === 0) return false;
  const directories = listMemoryFiles(mounts);
  const paths = lines.flatMap((line) => findPathsInLine(line).map((path) => resolve(cwd, path)));
  return paths.some((path) => directories.some((directory) => isWithin(directory, path))) || !isDiskFull();
}
