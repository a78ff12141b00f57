/** Commands about the program itself. */
import type { Interface } from "../interface.ts";

const maxChangelogLines = 40;

export async function showChangelog(ui: Interface): Promise<void> {
  const text = await ui.program.readChangelog();
  if (text === undefined) return ui.say("The changelog is not installed.", "warning");
  const lines = text.trim().split("\n");
  const more =
    lines.length > maxChangelogLines ? ["", `… ${lines.length - maxChangelogLines} more lines in CHANGELOG.md`] : [];
  const shown = [...lines.slice(0, maxChangelogLines), ...more].join("\n");
  // The lines of the file are as long as its editors like them.
  ui.sayMarkdown(shown.replaceAll(/(?<=\S)\n {2}(?=[^\s-])/g, " "));
}

export async function runDoctor(ui: Interface): Promise<void> {
  const { cwd } = await ui.client.execute({ type: "get_state" });
  ui.say((await ui.program.runDoctor(cwd)).trimEnd());
}
