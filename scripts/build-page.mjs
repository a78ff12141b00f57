/** Builds the page that the gateway serves, to `packages/web/dist`. */
import { join } from "node:path";

const directory = join(import.meta.dirname, "..", "packages", "web");

export async function buildPage() {
  // Loaded here: it takes longer than all the rest of the build.
  const { build } = await import("vite");
  await build({ configFile: join(directory, "vite.config.mjs") });
}
