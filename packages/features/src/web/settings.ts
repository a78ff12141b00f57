/** The settings of the feature. */
import { list, nonEmptyText } from "@tau/config/fields";
import { group, setting } from "@tau/config/settings";

const none: string[] = [];

export const webSettings = {
  web: group("Reading pages of the web.", {
    allowedHosts: setting(list(nonEmptyText), {
      default: none,
      description:
        "Hosts that `web_fetch` reads without a question, also where nobody can be asked: `docs.example.org`, or `*.example.org` for all below it.",
      project: "never",
    }),
    allowedPrivateHosts: setting(list(nonEmptyText), {
      default: none,
      description:
        "Hosts in this machine or its own network that `web_fetch` may connect to, such as `localhost:3000` or `wiki.internal`. Without a port all ports.",
      project: "never",
    }),
  }),
};
