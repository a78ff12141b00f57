/** Lines that programs mark as the beginning of a prompt: OSC 133. */
import type { LineSource } from "../line-source.ts";

const mark = "\x1b]133;A";
/** Lines that are read at a time. */
const blockSize = 500;

/** The nearest marked line before or after `line`. */
export function findPrompt(lines: LineSource, line: number, direction: -1 | 1): number | undefined {
  const isMarked = (text: string) => text.includes(mark);
  if (direction === 1) {
    for (let start = line + 1; start < lines.count; start += blockSize) {
      const index = lines.slice(start, start + blockSize).findIndex(isMarked);
      if (index !== -1) return start + index;
    }
    return undefined;
  }
  for (let end = line; end > 0; end -= blockSize) {
    const start = Math.max(0, end - blockSize);
    const index = lines.slice(start, end).findLastIndex(isMarked);
    if (index !== -1) return start + index;
  }
  return undefined;
}
