/** pi's module `pi-ai/providers/all`. */
import { notThere } from "../not-there.ts";

export {
  builtinModels,
  builtinProviders,
  getAllBuiltinModels,
  getBuiltinClassifierModel,
  getBuiltinClassifierModels,
  getBuiltinImageModel,
  getBuiltinImageModels,
  getBuiltinModel,
  getBuiltinModelDataGeneratedAt,
  getBuiltinModels,
  getBuiltinProviders,
} from "./catalog.ts";

export const radiusProvider = notThere("radiusProvider", "tau does not speak the protocol of pi's own gateway.");
