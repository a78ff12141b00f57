import type { Readable } from "node:stream";

interface AnswerReader {
  /** In UTF-16 code units. */
  maxLength: number;
  onLine: (line: string) => void;
  /** Called when a line is longer, with each chunk of it. */
  onTooLong: () => void;
}

/**
 * Reads the lines that a program writes. A line that comes in many chunks is joined once. `readLines` of `@tau/tools` notices a line
 * that is too long only at its end; here its program is to be ended.
 */
export function readAnswers(stdout: Readable, { maxLength, onLine, onTooLong }: AnswerReader): void {
  const pieces: string[] = [];
  let length = 0;
  stdout.setEncoding("utf8");
  stdout.on("data", (chunk: string) => {
    let from = 0;
    for (let feed = chunk.indexOf("\n"); feed >= 0; feed = chunk.indexOf("\n", from)) {
      const line = pieces.splice(0).join("") + chunk.slice(from, feed);
      from = feed + 1;
      length = 0;
      onLine(line);
    }
    pieces.push(chunk.slice(from));
    length += chunk.length - from;
    if (length > maxLength) onTooLong();
  });
}
