/** A loaded extension, by the name that it has outside: `Extension` is what authors write. */
export type { Extension as LoadedExtension } from "./extension.ts";
