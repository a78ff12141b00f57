/** Where things are. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultAgentDir } from "@tau/harness/settings";

/** The version of pi whose names these modules have. */
export const VERSION = "1.5.0";

/** What pi's extensions keep in a project is in this directory. tau reads it too. */
export const CONFIG_DIR_NAME = ".pi";

export const getAgentDir = (): string => defaultAgentDir();

/** The directory of this package. It has no documents or examples of pi's. */
export const getPackageDir = (): string => fileURLToPath(new URL("../..", import.meta.url));
export const getReadmePath = (): string => join(getPackageDir(), "README.md");
export const getDocsPath = (): string => join(getPackageDir(), "docs");
export const getExamplesPath = (): string => join(getPackageDir(), "examples");
