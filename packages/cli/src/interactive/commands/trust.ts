import type { TrustData } from "@tau/protocol";
import type { Interface } from "../interface.ts";

export const changeTrust = (ui: Interface): Promise<void> => ui.settle(() => askAndChange(ui));

/** Asks whether a directory of the workspace is trusted, since its instructions have no effect without that. */
export async function askForTrust(ui: Interface, directory: string, instructions: string): Promise<void> {
  const trust = await ui.client.execute({ type: "get_trust", directory });
  const items = [
    { value: "no", label: "Do not trust it: its instructions are left out" },
    { value: "yes", label: "Trust it until one of these files changes" },
  ];
  const about = [instructions, ...trust.files].join(", ");
  const answer = await ui.choose(directory, items, { selected: "no", hint: `It is about ${about}` });
  if (answer !== "yes") return ui.say(`Without trust ${instructions} is left out.`);
  await ui.client.execute({ type: "set_trust", trusted: true, digest: trust.digest, directory });
  ui.say("This directory is trusted now.");
}

async function askAndChange(ui: Interface): Promise<void> {
  const trust = await ui.client.execute({ type: "get_trust" });
  const { trusted, path, digest } = trust;
  const items = [
    { value: "no", label: trusted ? "Do not trust it any more" : "Do not trust it" },
    { value: "yes", label: "Trust it until one of these files changes" },
  ];
  const answer = await ui.choose(path, items, { selected: trusted ? "yes" : "no", hint: describeFiles(trust) });
  if (answer === undefined) return;
  const after = await ui.client.execute({ type: "set_trust", trusted: answer === "yes", digest });
  ui.say(after.trusted ? "This project is trusted now." : "This project is not trusted.");
  // The project may have themes.
  for (const problem of await ui.reloadTerminal()) ui.say(problem, "warning");
}

/** Describes which files trust is about, and what has changed since the project was trusted. */
function describeFiles({ files, changed, difference }: TrustData): string {
  const about = files.length === 0 ? "It has no files that need trust." : `It is about ${files.join(", ")}`;
  if (!changed) return about;
  const parts = (["added", "changed", "removed"] as const).flatMap((kind) => {
    const names = difference?.[kind] ?? [];
    return names.length === 0 ? [] : [`${kind} ${names.join(", ")}`];
  });
  const detail = parts.length === 0 ? "its files have changed" : parts.join("; ");
  return `Since you trusted it: ${detail}. ${about}`;
}
