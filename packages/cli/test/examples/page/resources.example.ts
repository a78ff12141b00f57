import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI } from "@tau/extensions";

const here = fileURLToPath(new URL(".", import.meta.url));

export default function (tau: ExtensionAPI) {
  // Files or directories beside the extension.
  tau.on("resources_discover", () => ({
    skillPaths: [join(here, "skills")],
    promptPaths: [join(here, "prompts")],
  }));
}
