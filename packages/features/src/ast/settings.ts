/** The settings of the feature `ast`. */
import { flag } from "@tau/config/fields";
import { group, setting } from "@tau/config/settings";

export const astSettings = {
  read: group("The tool `read`.", {
    outline: setting(flag, {
      default: false,
      description: "Add an outline to the beginning of a source file that is too long to be shown whole.",
      project: "always",
    }),
  }),
};
