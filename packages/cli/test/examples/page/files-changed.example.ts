import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.on("files_changed", async ({ paths }) => {
    const scripts = paths.filter((path) => path.endsWith(".sh"));
    if (scripts.length === 0) return undefined;
    const { code, stderr } = await tau.exec("sh", ["-n", ...scripts]);
    return code === 0 ? undefined : { content: [{ type: "text", text: `These do not parse:\n${stderr}` }] };
  });
}
