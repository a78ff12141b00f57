/** Exports of pi that tau does not have, or has only as a program. */
import { notThere } from "../not-there.ts";

const program = "it is part of the program. Run `tau`, or use the session of @tau/harness.";
export const InteractiveMode = notThere("InteractiveMode", program);
export const main = notThere("main", program);
export const parseArgs = notThere("parseArgs", program);
export const runRpcMode = notThere("runRpcMode", "run `tau --mode rpc`.");
export const RpcClient = notThere("RpcClient", "use the client of @tau/protocol/node.");

export const VIRTUAL_MODEL_STATE_ENTRY = "virtual_model_state";

const trust = "tau asks for trust itself. Handle the event project_trust, or ask context.isProjectTrusted().";
export const hasTrustRequiringProjectResources = notThere("hasTrustRequiringProjectResources", trust);
export const ProjectTrustStore = notThere("ProjectTrustStore", trust);

const powerShell = "tau runs commands with bash. Use createBashTool.";
export const createLocalPowerShellOperations = notThere("createLocalPowerShellOperations", powerShell);
export const createPowerShellTool = notThere("createPowerShellTool", powerShell);
export const createPowerShellToolDefinition = notThere("createPowerShellToolDefinition", powerShell);
export const getPowerShellConfig = notThere("getPowerShellConfig", powerShell);

const dialog = "it is a dialog of the program. Use ctx.ui.select, ctx.ui.input or ctx.ui.custom.";
export const LoginDialogComponent = notThere("LoginDialogComponent", dialog);
export const ModelSelectorComponent = notThere("ModelSelectorComponent", dialog);
export const OAuthSelectorComponent = notThere("OAuthSelectorComponent", dialog);
export const SettingsSelectorComponent = notThere("SettingsSelectorComponent", dialog);
export const ArminComponent = notThere("ArminComponent", "it is a picture of pi's.");
export const convertToPng = notThere("convertToPng", "use resizeImage, which answers in a format that models take.");
