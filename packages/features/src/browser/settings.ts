/** The settings of the feature. */
import { list, nonEmptyText } from "@tau/config/fields";
import { group, setting } from "@tau/config/settings";

const none: string[] = [];

export const browserSettings = {
  browser: group("The browser of the tool `browser`.", {
    path: setting(nonEmptyText, {
      default: undefined,
      description: "The program of the browser: an absolute path. Default: the first Chromium or Chrome that is found.",
      project: "never",
    }),
    cdpUrl: setting(nonEmptyText, {
      default: undefined,
      description:
        "The address of a running Chromium, Chrome or Electron program to attach to, such as `http://127.0.0.1:9222`, instead of starting one. Its pages have your logins, so you are asked in every session.",
      project: "never",
    }),
    allowedHosts: setting(list(nonEmptyText), {
      default: none,
      description:
        "Hosts that the browser may reach without a question, also where nobody can be asked: `docs.example.org`, `*.example.org` for all below it, with a port or without.",
      project: "never",
    }),
  }),
};
