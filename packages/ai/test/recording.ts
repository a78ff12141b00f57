import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The frames of a recorded stream, as text: one JSON document each. */
export function readRecording(api: string, name: string): string[] {
  const path = join(import.meta.dirname, "recordings", api, `${name}.jsonl`);
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}
