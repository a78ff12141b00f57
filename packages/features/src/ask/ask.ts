/** The code of the feature `ask`. */
import type { ExtensionFactory } from "@tau/extensions";
import { askPerson, formatAnswer, parseQuestion } from "./ask-person.ts";
import { askTool } from "./feature.ts";

const nobody = "No person is there to answer. Decide yourself, and say in your answer what you decided and why.";

export const askExtension: ExtensionFactory = (tau) => {
  tau.registerTool({
    ...askTool,
    async execute(_id, args: unknown, signal, _onUpdate, { hasUI, ui }) {
      const { asked, problem } = parseQuestion(args);
      if (!asked) throw new Error(problem);
      if (!hasUI) return { content: [{ type: "text", text: nobody }], details: { kind: "unattended" } };
      const answer = await askPerson(ui, asked, signal ? { signal } : {});
      signal?.throwIfAborted();
      return { content: [{ type: "text", text: formatAnswer(answer) }], details: answer };
    },
  });
};
