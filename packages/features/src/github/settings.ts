/** The settings of the feature. */
import { nonEmptyText } from "@tau/config/fields";
import { group, setting } from "@tau/config/settings";

export const defaultApiUrl = "https://api.github.com";

export const githubSettings = {
  github: group("The tool `github`.", {
    apiUrl: setting(nonEmptyText, {
      default: defaultApiUrl,
      description:
        "The address of the REST API. For GitHub Enterprise it is `https://HOST/api/v3`; your token is sent there, and `gh` is not used.",
      project: "never",
    }),
  }),
};
