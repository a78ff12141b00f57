/** The whole schema library: each of its modules by its name. Most runs do without, so it is loaded by itself. */
import * as typebox from "typebox";
import * as compile from "typebox/compile";
import * as value from "typebox/value";

export const modules = { typebox, "typebox/compile": compile, "typebox/value": value };
