/** Commands that write a session to a file, or read one. */
import type { Interface } from "../interface.ts";
import { openSession } from "./sessions.ts";

/** `/export PATH`: lines of JSON or a page, by the extension. Without a path, a page in `exports` of the agent directory. */
export async function exportSession(ui: Interface, argument: string): Promise<void> {
  const outputPath = unquote(argument);
  const type = /\.jsonl$/i.test(outputPath) ? "export_jsonl" : "export_html";
  const { path } = await ui.client.execute({ type, ...(outputPath === "" ? { inExports: true } : { outputPath }) });
  ui.say(`Written to ${path}`);
}

const keepFlag = "--keep-directory";

/** `/import PATH`. With `--keep-directory` the session continues in the directory that its file names. */
export async function importFile(ui: Interface, argument: string): Promise<void> {
  const keepsDirectory = argument.split(/\s/, 1)[0] === keepFlag;
  const named = keepsDirectory ? argument.slice(keepFlag.length).trim() : argument;
  const path = unquote(named === "" ? await ui.ask("Which session file?") : named);
  if (path === "") return;
  const { sessionId, elsewhere } = await ui.client.execute({ type: "import_session", path, keepsDirectory });
  if (elsewhere) await openSession(ui, elsewhere);
  else await ui.show(sessionId);
}

/** Completion puts quotes around a path with blanks. */
export const unquote = (path = ""): string => /^(["'])([^]*)\1$/.exec(path)?.[2] ?? path;

export async function writeBugReport(ui: Interface, argument: string): Promise<void> {
  const description = argument === "" ? await ui.ask("What went wrong?") : argument;
  if (description === undefined) return;
  const { version } = ui.program;
  const { path } = await ui.client.execute({ type: "write_bug_report", description, version, inExports: true });
  ui.say(`Written to ${path}, without keys. Nothing was sent: look at it before you do.`);
}
