/** Reviews: a child that can only read looks at a change and reports what is wrong with it. */
import type { Feature } from "@tau/extensions";

export const reviewCommand = {
  name: "review",
  description:
    "Review changes: the uncommitted ones, or those of BRANCH, --base BRANCH or --commit COMMIT; more words say what to look at",
};

export const review = (): Feature => ({
  name: "review",
  summary: "Reviews changes with a child that can only read.",
  commands: [reviewCommand],
  programCommands: [
    {
      name: "review",
      summary: "Review changes with a model that can only read",
      usage: [
        "tau review [--uncommitted] [--base BRANCH] [--commit COMMIT] [--model MODEL] [--fail-on critical|high|medium|low] [--json]  The uncommitted changes, all since BRANCH, or a commit; --fail-on: exit code 1 for such a finding, or a worse one",
      ],
      run: async (context) => await (await import("./program.ts")).runReviewProgram(context),
    },
  ],
  load: async () => (await import("./review.ts")).createReviewExtension(),
});
