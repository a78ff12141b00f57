/** `/share`: as a secret gist, as a file, or as a link of the gateway. */
import type { ExportPart } from "@tau/protocol";
import type { Interface } from "../interface.ts";
import { unquote } from "./files.ts";

/** `/share` makes a secret gist, `/share file [PATH]` a page, `/share link` an address of the gateway. */
export async function share(ui: Interface, argument: string): Promise<void> {
  const [, kind = "", path = ""] = /^(\S*)\s*([^]*)$/.exec(argument.trim()) ?? [];
  if (kind === "") return await shareAsGist(ui);
  if (kind === "file") return await shareAsFile(ui, unquote(path));
  if (kind === "link" && path === "") return await shareAsLink(ui);
  ui.say("It is /share for a secret gist, /share file [PATH], or /share link.", "warning");
}

async function shareAsGist(ui: Interface): Promise<void> {
  const sharing = await ui.program.findSharing("gist");
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

async function shareAsFile(ui: Interface, outputPath: string): Promise<void> {
  const leaveOut = await chooseParts(ui);
  if (!leaveOut) return;
  const target = outputPath === "" ? { inExports: true } : { outputPath };
  const { path } = await ui.client.execute({ type: "export_html", redact: true, leaveOut, ...target });
  ui.say(`Written to ${path}, without keys and what looks like one. Look at it before you send it.`);
}

async function shareAsLink(ui: Interface): Promise<void> {
  const sharing = await ui.program.findSharing("link");
  if (typeof sharing === "string") return ui.say(sharing, "warning");
  try {
    const leaveOut = await chooseParts(ui, "Whoever has the link can read all branches for 7 days.");
    if (!leaveOut) return;
    await ui.client.execute({ type: "export_html", outputPath: sharing.path, redact: true, leaveOut });
    const { sessionId, sessionName } = await ui.client.execute({ type: "get_state" });
    ui.say(`Shared: ${await sharing.send({ sessionId, title: sessionName ?? sessionId })}`);
  } finally {
    await sharing.close();
  }
}

const contents: readonly { label: string; leaveOut: ExportPart[]; description?: string }[] = [
  { label: "Everything", leaveOut: [], description: "The prompt of the session and its tools too" },
  { label: "Without thinking", leaveOut: ["thinking"] },
  { label: "Without what tools have answered", leaveOut: ["output"] },
  { label: "The conversation alone", leaveOut: ["thinking", "images", "output"], description: "With the calls" },
];

/** Undefined if nothing is to be shared. */
async function chooseParts(
  ui: Interface,
  hint = "Keys and what looks like one are left out.",
): Promise<ExportPart[] | undefined> {
  const items = contents.map(({ label, description }, index) => ({
    value: String(index),
    label,
    ...(description !== undefined && { description }),
  }));
  const choice = await ui.choose("What should be in the page?", items, { hint });
  return choice === undefined ? undefined : contents[Number(choice)]!.leaveOut;
}
