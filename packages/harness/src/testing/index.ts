/** The testing kit: tests of agents without a network. */
export {
  call,
  createFakeClock,
  type FakeClock,
  type ScriptedModel,
  scriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
  text,
  thinking,
} from "@tau/ai/testing";
export { type ContractHost, openContractHost } from "./contract-host.ts";
export { type CrashFileSystem, type CrashLuck, createCrashFileSystem } from "./crash-file-system.ts";
export {
  evaluate,
  type EvaluatedCase,
  type EvaluateOptions,
  type Evaluation,
  type EvaluationCase,
  formatEvaluation,
  type Scored,
  type Scorer,
} from "./evaluate.ts";
export { createSequentialIds } from "./ids.ts";
export type { ExpectedTurn, TestModel, TestTurn } from "./script.ts";
export { storageContract, type StorageContractCase, type StorageUnderTest } from "./storage-contract.ts";
export {
  type ContractReport,
  type ContractStep,
  type ContractSurface,
  surfaceContract,
  type SurfaceContractCase,
} from "./surface-contract.ts";
export { createTestSession, type TestSession, type TestSessionParams } from "./test-session.ts";
export { transcript, type TranscriptOptions } from "./transcript.ts";
