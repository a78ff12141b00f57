/** A branch of a session as a file of its own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { SessionManager } from "@tau/pi/internal";

export function writeJsonl(session: SessionManager, outputPath?: string): string {
  const time = new Date().toISOString().replace(/[:.]/g, "-");
  const path = resolve(outputPath ?? `session-${time}.jsonl`);
  const lines = [session.getHeader(), ...session.getBranch()].filter((line) => line !== null);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}
