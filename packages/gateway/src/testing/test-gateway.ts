/** A gateway on a free port of this machine, with a model that follows a script and a directory of its own. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ScriptedModel, scriptedModel } from "@tau/ai/testing";
import { createHost, type HostOptions } from "@tau/harness/host";
import { SettingsManager, type SettingsInput } from "@tau/config/settings";
import { type Gateway, type GatewayOptions, startGateway } from "../gateway.ts";

export interface TestGateway {
  gateway: Gateway;
  token: string;
  /** A directory for sessions. */
  workspace: string;
  agentDir: string;
  model: ScriptedModel;
  /** Lines that the gateway wrote to its log. */
  logged: string[];
  /** Stops the gateway and removes its files. */
  close: () => Promise<void>;
}

export interface TestGatewayOptions {
  /** The script of the model; see `scriptedModel`. Default: empty. */
  model?: ScriptedModel;
  settings?: SettingsInput;
  /** Further parameters of each session. */
  params?: Partial<HostOptions["params"]>;
  /** Further options of the gateway. */
  options?: Partial<GatewayOptions>;
}

export async function openTestGateway(given: TestGatewayOptions = {}): Promise<TestGateway> {
  const directory = await mkdtemp(join(tmpdir(), "tau-gateway-"));
  const [workspace, agentDir] = [join(directory, "workspace"), join(directory, "agent")];
  await mkdir(workspace);
  const { model = scriptedModel([]) } = given;
  const settings = { ...given.settings, gateway: { port: 0, ...given.settings?.gateway } };
  const settingsManager = SettingsManager.inMemory(settings);
  const logged: string[] = [];
  const gateway = await startGateway({
    agentDir,
    settings: settingsManager,
    startDirectory: workspace,
    openDirectory: async (cwd, own) =>
      createHost({
        agentDir,
        params: { cwd, agentDir, model, settingsManager, ...own, ...given.params },
      }),
    version: "1.2.3",
    log: (line) => void logged.push(line),
    ...given.options,
  });
  return {
    gateway,
    token: gateway.parts.devices.getOwnToken()!,
    workspace,
    agentDir,
    model,
    logged,
    close: async () => {
      await gateway.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
