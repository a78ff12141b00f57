import type { ExtensionAPI } from "@tau/extensions";
import { Container, Text, type Theme, truncateToWidth, type TUI } from "@tau/tui";

/** The data that a footer is given. */
interface FooterData {
  getGitBranch(): string | null;
  getExtensionStatuses(): ReadonlyMap<string, string>;
}

export default function (tau: ExtensionAPI) {
  tau.on("session_start", (_event, { ui }) => {
    ui.setStatus("build", "build: green"); // a text in the line below the editor; undefined removes it
    ui.setWidget("hint", ["Remember the change log."]); // lines above the editor
    ui.setHeader((_tui: TUI, theme: Theme) => new Text(theme.bold("Our project"), 1, 0));
    ui.setTitle("our project");
    const opened = Date.now();
    const createClock = (tui: TUI, theme: Theme) => {
      // `requestRender` draws again, so that the text is new. `dispose` is called when the widget goes.
      const timer = setInterval(() => tui.requestRender(), 60_000);
      return {
        render: () => [theme.fg("dim", `open for ${Math.floor((Date.now() - opened) / 60_000)} min`)],
        dispose: () => clearInterval(timer),
      };
    };
    ui.setWidget("clock", createClock, { placement: "belowEditor" });
  });
  tau.registerCommand("footer", {
    description: "A footer of our own",
    handler(_args, ctx) {
      ctx.ui.setFooter((_tui: TUI, theme: Theme, data: FooterData) => {
        const footer = new Container();
        const draw = (width: number) => {
          const left = `${ctx.model?.id ?? "no model"} on ${data.getGitBranch() ?? "no branch"}`;
          return [
            truncateToWidth(theme.fg("accent", [left, ...data.getExtensionStatuses().values()].join(" | ")), width),
          ];
        };
        footer.addChild({ render: draw, invalidate: () => {} });
        return footer;
      });
    },
  });
}
