import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  let attempts = 0;
  tau.on("agent_start", () => void (attempts = 0));
  // The model thinks that it is done. If the tests fail, it reads that, and gets another turn, up to three times.
  tau.on("agent_before_settle", async ({ outcome }) => {
    if (outcome !== "completed" || attempts === 3) return undefined;
    const { code, stdout } = await tau.exec("sh", ["test.sh"], { timeout: 60_000 });
    if (code === 0) return undefined;
    attempts++;
    const content = `The tests fail:\n${stdout}`;
    return { entries: [{ type: "custom_message", customType: "tests", content, display: true }], continue: true };
  });
}
