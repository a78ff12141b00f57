/** Goals: the model works until a check says that what the person wants is reached. */
import type { Feature, FeatureCommand } from "@tau/extensions";

export const goalCommand: FeatureCommand = {
  name: "goal",
  description: 'Work until a goal is reached: /goal [--check "COMMAND"] [--runs N] [--budget USD] TEXT; /goal off',
};

export const goal = (): Feature => ({
  name: "goal",
  summary: "Work that continues, run after run, until a check says that the goal is reached.",
  commands: [goalCommand],
  load: async () => (await import("./goal.ts")).goalExtension,
});
