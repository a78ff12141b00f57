import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.on("session_before_switch", async (_event, { hasUI, ui, cwd }) => {
    const { stdout } = await tau.exec("git", ["status", "--porcelain"], { cwd });
    if (stdout === "" || !hasUI) return undefined;
    const isSure = await ui.confirm("Leave this session?", "There are changes that are not committed.");
    return { cancel: !isSure };
  });
}
