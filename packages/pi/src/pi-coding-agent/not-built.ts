/** What tau does not have. */
import { notThere } from "../not-there.ts";

export const AgentSession = notThere("AgentSession", "it is not built yet.");
export const AgentSessionRuntime = notThere("AgentSessionRuntime", "it is not built yet.");
export const ArminComponent = notThere("ArminComponent", "it is not built yet.");
export const BashExecutionComponent = notThere("BashExecutionComponent", "it is not built yet.");
export const convertToPng = notThere("convertToPng", "it is not built yet.");
export const copyToClipboard = notThere("copyToClipboard", "it is not built yet.");
export const createAgentSession = notThere("createAgentSession", "it is not built yet.");
export const createAgentSessionFromServices = notThere("createAgentSessionFromServices", "it is not built yet.");
export const createAgentSessionRuntime = notThere("createAgentSessionRuntime", "it is not built yet.");
export const createAgentSessionServices = notThere("createAgentSessionServices", "it is not built yet.");
export const createCodemodeExtension = notThere("createCodemodeExtension", "it is not built yet.");
export const createLocalPowerShellOperations = notThere("createLocalPowerShellOperations", "it is not built yet.");
export const createMcpExtension = notThere("createMcpExtension", "it is not built yet.");
export const createPowerShellTool = notThere("createPowerShellTool", "it is not built yet.");
export const createPowerShellToolDefinition = notThere("createPowerShellToolDefinition", "it is not built yet.");
export const createToolSearchExtension = notThere("createToolSearchExtension", "it is not built yet.");
export const CredentialSynchronizationError = notThere("CredentialSynchronizationError", "it is not built yet.");
export const detectSupportedImageMimeTypeFromFile = notThere(
  "detectSupportedImageMimeTypeFromFile",
  "it is not built yet.",
);
export const ExtensionEditorComponent = notThere("ExtensionEditorComponent", "it is not built yet.");
export const ExtensionInputComponent = notThere("ExtensionInputComponent", "it is not built yet.");
export const ExtensionSelectorComponent = notThere("ExtensionSelectorComponent", "it is not built yet.");
export const FooterComponent = notThere("FooterComponent", "it is not built yet.");
export const formatDimensionNote = notThere("formatDimensionNote", "it is not built yet.");
export const getPowerShellConfig = notThere("getPowerShellConfig", "it is not built yet.");
export const hasTrustRequiringProjectResources = notThere("hasTrustRequiringProjectResources", "it is not built yet.");
export const InteractiveMode = notThere("InteractiveMode", "it is not built yet.");
export const LoginDialogComponent = notThere("LoginDialogComponent", "it is not built yet.");
export const main = notThere("main", "it is not built yet.");
export const ModelRuntime = notThere("ModelRuntime", "it is not built yet.");
export const ModelSelectorComponent = notThere("ModelSelectorComponent", "it is not built yet.");
export const OAuthSelectorComponent = notThere("OAuthSelectorComponent", "it is not built yet.");
export const parseArgs = notThere("parseArgs", "it is not built yet.");
export const ProjectTrustStore = notThere("ProjectTrustStore", "it is not built yet.");
export const resizeImage = notThere("resizeImage", "it is not built yet.");
export const resolveCliModel = notThere("resolveCliModel", "it is not built yet.");
export const resolveModelScopeWithDiagnostics = notThere("resolveModelScopeWithDiagnostics", "it is not built yet.");
export const RpcClient = notThere("RpcClient", "it is not built yet.");
export const runPrintMode = notThere("runPrintMode", "it is not built yet.");
export const runRpcMode = notThere("runRpcMode", "it is not built yet.");
export const SessionSelectorComponent = notThere("SessionSelectorComponent", "it is not built yet.");
export const SettingsSelectorComponent = notThere("SettingsSelectorComponent", "it is not built yet.");
export const ShowImagesSelectorComponent = notThere("ShowImagesSelectorComponent", "it is not built yet.");
export const ThemeSelectorComponent = notThere("ThemeSelectorComponent", "it is not built yet.");
export const ThinkingSelectorComponent = notThere("ThinkingSelectorComponent", "it is not built yet.");
export const ToolExecutionComponent = notThere("ToolExecutionComponent", "it is not built yet.");
export const TreeSelectorComponent = notThere("TreeSelectorComponent", "it is not built yet.");
export const UserMessageSelectorComponent = notThere("UserMessageSelectorComponent", "it is not built yet.");
export const VIRTUAL_MODEL_STATE_ENTRY = notThere("VIRTUAL_MODEL_STATE_ENTRY", "it is not built yet.");
