/** What a test of an agent needs, offline. */
export {
  call,
  createFakeClock,
  type FakeClock,
  type ScriptedModel,
  scriptedModel,
  type ScriptedTurn,
  text,
  thinking,
} from "@tau/ai/testing";
export { type CrashFileSystem, type CrashLuck, createCrashFileSystem } from "./crash-file-system.ts";
export { storeContract, type StoreContractCase } from "./store-contract.ts";
