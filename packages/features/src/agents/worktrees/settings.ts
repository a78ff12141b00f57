/** The settings of worktrees. */
import { flag, nonEmptyText } from "@tau/config/fields";
import { group, type SettingGroup, type SettingOf, setting } from "@tau/config/settings";

export const fanoutSettings: {
  fanout: SettingGroup<{ directory: SettingOf<string, undefined>; uncommitted: SettingOf<boolean, boolean> }>;
} = {
  fanout: group("Tasks that work side by side.", {
    directory: setting(nonEmptyText, {
      default: undefined,
      description:
        "Where the worktrees of tasks are. The variable `PI_FANOUT_DIR` has precedence. Default: `pi-fanout` in the temporary directory.",
    }),
    uncommitted: setting(flag, {
      default: false,
      description:
        "Whether isolated copies of a repository begin with your uncommitted work too. Otherwise they have what is committed.",
    }),
  }),
};
