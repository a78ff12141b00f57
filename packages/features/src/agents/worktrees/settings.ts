/** The settings of worktrees. */
import { nonEmptyText } from "@tau/config/fields";
import { group, type SettingGroup, type SettingOf, setting } from "@tau/config/settings";

export const fanoutSettings: { fanout: SettingGroup<{ directory: SettingOf<string, undefined> }> } = {
  fanout: group("Tasks that work side by side.", {
    directory: setting(nonEmptyText, {
      default: undefined,
      description:
        "Where the worktrees of tasks are. The variable `PI_FANOUT_DIR` has precedence. Default: `pi-fanout` in the temporary directory.",
    }),
  }),
};
