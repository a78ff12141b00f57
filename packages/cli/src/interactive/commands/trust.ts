import type { Interface } from "../interface.ts";

/** `/trust` */
export const changeTrust = (ui: Interface): Promise<void> => ui.settle(() => askAndChange(ui));

async function askAndChange(ui: Interface): Promise<void> {
  const { trusted, path, files } = await ui.client.execute({ type: "get_trust" });
  const hint = files.length === 0 ? "It has no files that need trust." : `It is about ${files.join(", ")}`;
  const items = [
    { value: "no", label: trusted ? "Do not trust it any more" : "Do not trust it" },
    { value: "yes", label: "Trust it until one of these files changes" },
  ];
  const answer = await ui.choose(path, items, { selected: trusted ? "yes" : "no", hint });
  if (answer === undefined) return;
  const after = await ui.client.execute({ type: "set_trust", trusted: answer === "yes" });
  ui.say(after.trusted ? "This project is trusted now." : "This project is not trusted.");
  // The project may have themes.
  for (const problem of await ui.reloadTerminal()) ui.say(problem, "warning");
}
