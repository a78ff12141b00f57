/** Which models there are, and which one a name means. */
export type { ChangedModel, CatalogueDifference, RenewalPlan } from "./catalogue/renew-catalogue.ts";
export { planRenewal } from "./catalogue/renew-catalogue.ts";
export { StoredCatalogue } from "./catalogue/stored-catalogue.ts";
export {
  chooseDefault,
  compareProviders,
  type DefaultChoice,
  type DefaultModel,
  defaultModels,
  defaultProviderOrder,
} from "./defaults.ts";
export type { FallbackChains } from "./fallbacks.ts";
export type { ModelsYml, PathRole } from "./models-yml.ts";
export type { Preference } from "./match.ts";
export {
  type CreateModelRegistryOptions,
  type HasKey,
  type InMemoryModelRegistryOptions,
  ModelRegistry,
  type ModelRegistryOptions,
  type RequestHeaders,
  type ResolveValue,
} from "./model-registry.ts";
export { type ModelResolution, resolveModel, type ResolvePreference } from "./resolve.ts";
export { knownRoles, listRoleNames, type ModelSettings, type RoleModels, type RoleTarget } from "./roles.ts";
export { type ModelScope, type ScopedModel, scopeModels, type ScopeProblem } from "./scope.ts";
