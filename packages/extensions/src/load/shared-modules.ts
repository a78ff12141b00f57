/** The schema library, under its names of both generations: extensions get the copy that the program has. */
import type { LoadSharedModule } from "./loaded-module.ts";

const names = ["typebox", "typebox/compile", "typebox/value"] as const;

export const loadTypeboxModule: LoadSharedModule = (wanted) => {
  const name = names.find((known) => wanted === known || wanted === `@sinclair/${known}`);
  return name && import("./typebox.ts").then(({ modules }) => modules[name]);
};
