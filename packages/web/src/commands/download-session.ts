/** The shown conversation as a file in the browser, in the format that `tau` imports. */
import type { SessionEntry } from "@tau/protocol";
import type { RemoteSession } from "@tau/protocol/client";

/** The gateway gives at most one megabyte at a time, however many it is asked for. */
const pageSize = 1_000;

export async function downloadSession(session: RemoteSession): Promise<void> {
  const [{ header }, entries] = await Promise.all([session.call("get_state"), loadBranch(session)]);
  const lines = [header, ...entries].map((line) => `${JSON.stringify(line)}\n`);
  saveFile(`tau-session-${session.id}.jsonl`, new Blob(lines, { type: "application/jsonl" }));
}

/** Page by page: a whole session may be larger than a frame should be. */
async function loadBranch(session: RemoteSession): Promise<SessionEntry[]> {
  const pages: (readonly SessionEntry[])[] = [];
  let { entries } = await session.call("get_entries", { limit: pageSize });
  while (entries.length > 0) {
    pages.push(entries);
    const first = entries[0]!;
    if (first.parentId === null) break;
    entries = (await session.call("get_entries", { before: first.id, limit: pageSize })).entries;
  }
  return pages.toReversed().flat();
}

function saveFile(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
