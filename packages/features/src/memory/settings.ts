/** The settings of memory. */
import { oneOf } from "@tau/config/fields";
import { group, setting } from "@tau/config/settings";

export const memorySettings = {
  memory: group("Facts of a project that stay between sessions.", {
    backend: setting(oneOf("off", "local"), {
      default: "off",
      description:
        "Where facts are kept: `local` is a Markdown file for each project in tau's directory, which the model searches and adds to. `off`: nothing is remembered.",
      project: "when trusted",
    }),
  }),
};
