import { nonEmptyText, optional } from "@tau/config/fields";
import { toModelData } from "@tau/harness/host";
import { here, method, type SomeMethods } from "./method.ts";

export const modelMethods = {
  "models.list": method(here, { cwd: optional(nonEmptyText) }, async ({ parts }, { cwd }) => {
    const open = [...parts.sessions.all].find(({ hosted }) => cwd === undefined || hosted.session.cwd === cwd);
    const models = open ? open.hosted.session.modelRegistry.getAvailable() : await parts.listModels();
    return { models: models.map(toModelData) };
  }),
} satisfies SomeMethods;
