/** The types of extensions that are objects, by the names that their authors import. */
export type { InputSchemaTool as Tool } from "../pipeline/layer.ts";
export type {
  ExtensionHooksObject as LifecycleHooks,
  ExtensionObject as Extension,
  LifecycleHook,
} from "./object-form.ts";
export type { ToolContext } from "@tau/tools";
