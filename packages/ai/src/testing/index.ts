export { createFakeClock, type FakeClock } from "./fake-clock.ts";
export { wireDialects } from "./dialects/index.ts";
export type { WireDialect } from "./dialects/dialect.ts";
export { assertGrammar, type ContractCase, providerContract, type ProviderContractSetup } from "./provider-contract.ts";
export { call, type ScriptedAnswer, text, thinking } from "./script.ts";
export { type ScriptedModel, scriptedModel, type ScriptedModelOptions, type ScriptedTurn } from "./scripted-model.ts";
export { type RecordedRequest, startWireServer, type WireReply, type WireServer } from "./wire-server.ts";
