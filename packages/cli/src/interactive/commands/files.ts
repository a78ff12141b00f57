/** Commands that write a session to a file, read one, or share it. */
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
const unquote = (path = ""): string => /^(["'])([^]*)\1$/.exec(path)?.[2] ?? path;

export async function share(ui: Interface): Promise<void> {
  const sharing = await ui.program.findSharing();
  if (typeof sharing === "string") return ui.say(sharing, "warning");
  try {
    await ui.client.execute({ type: "export_html", outputPath: sharing.path, redact: true });
    const { userMessages, assistantMessages, toolResults } = await ui.client.execute({ type: "get_session_stats" });
    const what = `${userMessages} messages of yours, ${assistantMessages} answers and ${toolResults} results of tools`;
    const hint = `All branches leave this machine: ${what}. Keys and what looks like one are left out. Look first: ${sharing.path}`;
    const items = [
      { value: "no", label: "Do not share" },
      { value: "yes", label: "Make a secret gist", description: "Whoever has its address can read it." },
    ];
    if ((await ui.choose("Share this session?", items, { hint })) !== "yes") return;
    ui.say(`Shared: ${await sharing.send()}`);
  } finally {
    await sharing.close();
  }
}

export async function writeBugReport(ui: Interface, argument: string): Promise<void> {
  const description = argument === "" ? await ui.ask("What went wrong?") : argument;
  if (description === undefined) return;
  const { version } = ui.program;
  const { path } = await ui.client.execute({ type: "write_bug_report", description, version, inExports: true });
  ui.say(`Written to ${path}, without keys. Nothing was sent: look at it before you do.`);
}
