/** Bringing over what other programs have. Their sessions are in `@tau/harness/imports`. */
export { applySteps, type AppliedStep, type ApplyOptions } from "./apply.ts";
export { readExisting, type ReadExistingOptions } from "./existing-items.ts";
export { findItems, type FoundItems, findUsedTools } from "./find-items.ts";
export {
  type FoundItem,
  type ImportAction,
  type ImportKind,
  importKinds,
  type ImportTool,
  importTools,
} from "./found-item.ts";
export {
  type ExistingItems,
  type ImportPlan,
  type ImportStep,
  type LeftItem,
  planImport,
  type PlanOptions,
} from "./plan.ts";
export type { UnreadPath } from "./tool-files.ts";
export { locateTools, type ToolLocation, toolTitles } from "./tool-locations.ts";
