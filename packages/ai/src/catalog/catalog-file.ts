/** The type of the catalogue's files. `#catalog/*` names it, so that checking types does not read a megabyte of models. */
import type { CatalogModel } from "./builtin-models.ts";

declare const models: readonly CatalogModel[];
export default models;
