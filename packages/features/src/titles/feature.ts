/** Titles: sessions get a name after their first answer, from a small model. */
import type { Feature } from "@tau/extensions";

/** The feature `titles`. Off as long as the role `smol` has no model of its own: the default model is too dear for it. */
export const titles = (): Feature => ({
  name: "titles",
  summary: "Names for sessions, which the model of the role smol writes after the first answer.",
  loadsForPrompt: (_prompt, place) => place.hasRole("smol"),
  load: async () => (await import("./titles.ts")).createTitlesExtension(),
});
