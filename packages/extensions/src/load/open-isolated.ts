/** Loads extensions that the user has looked at but not vouched for, each in a sandbox of its own. */
import { homedir } from "node:os";
import type { Ids } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { ExtensionPolicy, PathRules, Audit } from "@tau/policy";
import { type JudgeParts, createRememberedRules } from "@tau/policy/internal";
import type { Extension, ExtensionProblem, ExtensionSource } from "../api/extension.ts";
import type { ChildProgram } from "./has-extensions.ts";
import { createEarlyJudge } from "../isolated/early-judge.ts";
import { createHostcallJudge } from "../isolated/hostcall-judge.ts";
import { systemNetwork } from "../isolated/hostcalls/http.ts";
import { loadIsolated } from "../isolated/load-isolated.ts";
import type { HostcallJudge, IsolatedPorts } from "../isolated/ports.ts";
import { StreamBatch } from "../isolated/stream-batch.ts";
import type { InProcessPorts } from "./load-in-process.ts";

/** Judges the calls of isolated extensions. The functions are called once there is a session. */
export interface Judging {
  getPolicy: () => ExtensionPolicy;
  getJudgeParts: () => JudgeParts;
  getPathRules: () => PathRules;
}

interface OpenIsolatedParts {
  child: ChildProgram;
  cwd: string;
  agentDir: string;
  ids: Ids;
  ports: Pick<
    InProcessPorts,
    "getSession" | "flagValues" | "findFlag" | "events" | "log" | "report" | "clock" | "onVirtualModelsChange"
  >;
  judging: Judging;
  onInputChanged: IsolatedPorts["onInputChanged"];
  providers: IsolatedPorts["providers"];
  /** Also for decisions before there is a session. */
  audit: Audit;
}

/** All at once, since one may take long. What goes wrong with one is a problem, and the others are loaded. */
export async function openIsolated(
  sources: readonly ExtensionSource[],
  parts: OpenIsolatedParts,
): Promise<(Extension | ExtensionProblem)[]> {
  const stream = new StreamBatch(parts.ports.clock);
  return await Promise.all(sources.map((source) => open(source, { ...parts, stream })));
}

async function open(
  source: ExtensionSource,
  { child, ports, judging, ...parts }: OpenIsolatedParts & { stream: StreamBatch },
): Promise<Extension | ExtensionProblem> {
  const { getPolicy, getJudgeParts, getPathRules } = judging;
  const { agentDir, cwd, ids, audit } = parts;
  const remembered = createRememberedRules({ agentDir, cwd, ids });
  try {
    return await loadIsolated(source, {
      ...parts,
      ...ports,
      program: child,
      home: homedir(),
      env: process.env,
      getPolicy,
      createJudge: (extension) =>
        createLateJudge(
          () => createHostcallJudge(getJudgeParts(), { extension, pathRules: getPathRules(), getPolicy }),
          createEarlyJudge({ extension, getPolicy, remembered, audit }),
          ports.getSession,
        ),
      log: (level, message) => ports.log(source.name, level, message),
      network: systemNetwork,
    });
  } catch (error) {
    return { extension: source.name, message: getErrorMessage(error) };
  }
}

/** An extension is loaded before there is a session whose judge could be asked. */
function createLateJudge(
  create: () => HostcallJudge,
  judgeEarly: HostcallJudge["judge"],
  getSession: () => unknown,
): HostcallJudge {
  let judge: HostcallJudge | undefined;
  const get = () => (judge ??= create());
  return {
    judge: (call, signal) => (getSession() ? get().judge(call, signal) : judgeEarly(call, signal)),
    createFiles: (id) => get().createFiles(id),
    endCall: (id) => judge?.endCall(id),
  };
}
