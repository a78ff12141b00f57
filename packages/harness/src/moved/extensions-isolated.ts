/** The former place of these names, kept for one version. New code imports them from the packages below. */
export {
  type ChildParts,
  type HostNetwork,
  type HostcallJudge,
  type IsolatedPorts,
  type JudgedHostcall,
  StreamBatch,
  createHostcallJudge,
  loadIsolated,
  runExtensionChild,
  systemNetwork,
} from "@tau/extensions/isolated";
export { loadTypeboxModule } from "@tau/extensions";
