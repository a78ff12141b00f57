/** Opens the extensions of a session. Loaded late, since most sessions have none. */
export { createModelAccess } from "../providers/model-access.ts";
export { openExtensions } from "./open-extensions.ts";
