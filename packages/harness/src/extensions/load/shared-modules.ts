/** The schema library, under its names of both generations: extensions get the copy that the program has. */
import type { LoadSharedModule } from "./loaded-module.ts";

type Load = () => Promise<Record<string, unknown>>;

const modules: ReadonlyMap<string, Load> = new Map(
  ["typebox", "@sinclair/typebox"].flatMap((name): [string, Load][] => [
    [name, () => import("typebox")],
    [`${name}/compile`, () => import("typebox/compile")],
    [`${name}/value`, () => import("typebox/value")],
  ]),
);

export const loadTypeboxModule: LoadSharedModule = (name) => modules.get(name)?.();
