import type { ExtensionAPI } from "@tau/extensions";
import { Text, type Theme } from "@tau/tui";

export default function (tau: ExtensionAPI) {
  // A message is part of the conversation: the model reads its content.
  tau.registerMessageRenderer(
    "weather",
    (message: { details?: { celsius: number } }, { expanded }: { expanded: boolean }, theme: Theme) =>
      new Text(theme.fg("accent", `☀ ${message.details?.celsius} °C`) + (expanded ? "\nmeasured just now" : ""), 1, 0),
  );
  // An entry is in the log only: the model never sees it.
  tau.registerEntryRenderer(
    "bookmark",
    (entry: { data?: { title: string } }, _options: object, theme: Theme) =>
      new Text(theme.fg("dim", `★ ${entry.data?.title}`), 1, 0),
  );
  // Other tools can be drawn too. What is left out of the answer is drawn as usual.
  tau.registerToolRenderer((name, next) =>
    name === "ls"
      ? {
          ...next(),
          renderCall: ({ path }: { path?: string }, theme: Theme) => new Text(theme.bold(`📁 ${path ?? "."}`), 0, 0),
        }
      : next(),
  );
  tau.registerMarkdownTransformer((markdown) => markdown.replaceAll("(c)", "©"));
  tau.registerCommand("weather", {
    handler() {
      tau.sendMessage({ customType: "weather", content: "It is 21 °C.", display: true, details: { celsius: 21 } });
      tau.appendEntry("bookmark", { title: "asked for the weather" });
    },
  });
}
