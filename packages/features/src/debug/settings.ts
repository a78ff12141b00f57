/** The settings of the feature. */
import { flag, jsonObject, list, nonEmptyText, oneOf, text } from "@tau/config/fields";
import { group, mapSetting, setting } from "@tau/config/settings";

const project = "when trusted";

export const debugSettings = {
  debug: group("The debugger.", {
    adapters: mapSetting(
      group("One adapter: those that tau knows by their name, or one of your own.", {
        command: setting(nonEmptyText, {
          default: undefined,
          description: "The program: a name in `PATH` or a path.",
          project,
        }),
        args: setting(list(text), { default: undefined, description: "Its arguments.", project }),
        fileTypes: setting(list(nonEmptyText), {
          default: undefined,
          description: "The endings of programs that it debugs, such as `.py`.",
          project,
        }),
        rootMarkers: setting(list(nonEmptyText), {
          default: undefined,
          description: "Files that a project has for which `tau doctor` lists it.",
          project,
        }),
        connectMode: setting(oneOf("stdio", "socket"), {
          default: undefined,
          description: "Whether it is talked to over its pipes, or over a socket at which it listens.",
          project,
        }),
        socketArgs: setting(list(text), {
          default: undefined,
          description: "The arguments with which it listens at a socket, whose path is `$path` in them.",
          project,
        }),
        launch: setting(jsonObject, {
          default: undefined,
          description: "What a launch sends besides `program`, `args` and `cwd`.",
          project,
        }),
        disabled: setting(flag, { default: undefined, description: "Do not use it.", project }),
      }),
      {
        by: "name of an adapter",
        description: "Debug adapters, besides those that tau knows or instead of them.",
        project,
      },
    ),
  }),
};
