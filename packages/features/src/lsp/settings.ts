/** The settings of language servers. */
import { anyJson, flag, jsonObject, list, nonEmptyText } from "@tau/config/fields";
import { group, mapSetting, setting } from "@tau/config/settings";

const project = "when trusted";

const server = group("Settings of one language server.", {
  command: setting(nonEmptyText, { default: undefined, description: "The program.", project }),
  args: setting(list(nonEmptyText), { default: undefined, description: "Its arguments.", project }),
  fileTypes: setting(list(nonEmptyText), {
    default: undefined,
    description: "Ends of the names of its files, such as `.ts`, or whole names.",
    project,
  }),
  rootMarkers: setting(list(nonEmptyText), {
    default: undefined,
    description: "Files in the directory of a project of its kind.",
    project,
  }),
  initOptions: setting(anyJson, {
    default: undefined,
    description: "Its `initializationOptions`.",
    project,
  }),
  settings: setting(jsonObject, {
    default: undefined,
    description: "Its configuration, by section.",
    project,
  }),
  disabled: setting(flag, { default: undefined, description: "Never use it.", project }),
  isLinter: setting(flag, {
    default: undefined,
    description: "It reports problems beside another server for the same files.",
    project,
  }),
});

export const lspSettings = {
  lsp: group("Language servers.", {
    diagnosticsOnWrite: setting(flag, {
      default: true,
      description:
        "Add the problems that a change of a file has caused to the result of `write` and `edit`, if a server for the file is running.",
    }),
    formatOnWrite: setting(flag, {
      default: false,
      description: "Let a running server format what `write` writes, before it is written.",
    }),
    servers: mapSetting(server, {
      by: "name of a server",
      description:
        "Language servers, and changes of those that tau knows. `lsp.json` and `lsp.yml` in the agent directory and in `.tau` of a trusted project hold the same.",
      project,
    }),
  }),
};
