/** Programs that people choose to show text, to edit it, or to connect with. */
import { baseName } from "../paths.ts";

const names = new Set(
  "cat less more most bat delta diff-so-fancy vi vim nvim nano emacs code hx micro subl true false : firefox chromium ssh".split(
    " ",
  ),
);

/** Whether it is harmless as such; its arguments are not looked at. */
export const isViewerOrEditor = (program: string): boolean => names.has(baseName(program));
