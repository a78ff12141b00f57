import { wholeNumber } from "@tau/config/fields";
import { group, setting } from "@tau/config/settings";

export const undoSettings = {
  undo: group("Undo of what a prompt did to the files. `features.undo: false` turns it off.", {
    maxFileMb: setting(wholeNumber({ min: 1, unit: "megabytes" }), {
      default: 10,
      description: "Larger files are not kept, and stay as they are when a prompt is taken back.",
    }),
  }),
};
