/** `/add-dir`: a directory of the workspace beside the working directory. */
import { describeAddedDirectory, describeDirectories } from "@tau/protocol/surface";
import type { Interface } from "../interface.ts";
import { askForTrust } from "./trust.ts";

export async function addDirectory(ui: Interface, argument: string): Promise<void> {
  if (argument === "") {
    const { cwd, directories } = await ui.client.execute({ type: "get_state" });
    return ui.say(describeDirectories(cwd, directories));
  }
  const added = await ui.client.execute({ type: "add_directory", path: argument });
  const { path, instructions } = added;
  ui.say(describeAddedDirectory(added));
  // Its instructions are somebody's text for the model, so the question is that about a project.
  if (instructions && !instructions.trusted) await askForTrust(ui, path, instructions.path);
}
