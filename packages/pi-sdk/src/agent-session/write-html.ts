/** A session as a page. */
import { writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { exportHtml, type ExportSource } from "@tau/harness/export";
import type { SessionManager } from "@tau/pi/internal";

export async function writeHtml(session: SessionManager, outputPath?: string): Promise<string> {
  const header = session.getHeader();
  if (!header) throw new Error("The session has no header, so it cannot be exported.");
  const name = basename(session.getSessionFile() ?? session.getSessionId(), ".jsonl");
  const path = resolve(session.getCwd(), outputPath ?? `pi-session-${name}.html`);
  const source = { header, entries: session.getEntries(), leafId: session.getLeafId() } as unknown as ExportSource;
  writeFileSync(path, await exportHtml(source));
  return path;
}
