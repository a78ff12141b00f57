/** Runs the command of a hook to its end, within limits. */
import { getErrorMessage } from "@tau/ai/internal";
import type { ExtensionAPI, FeaturePlace } from "@tau/extensions";
import { listCommandFiles } from "@tau/config/internal";
import type { Hook } from "./hook.ts";
import type { HookEnd } from "./hook-answer.ts";

/** Bytes of both outputs. A hook that writes more is ended. */
const maxOutputBytes = 1024 * 1024;

interface RunHookParts {
  readonly tau: Pick<ExtensionAPI, "exec" | "audit">;
  readonly place: Pick<FeaturePlace, "cwd" | "settings">;
  /** Its end ends the hook, except at the end of a session. */
  readonly signal: AbortSignal | undefined;
}

/** Never rejects. It is written into the audit first: one that cannot be is not run. */
export async function runHook(
  hook: Hook,
  input: Readonly<Record<string, unknown>>,
  { tau, place, signal }: RunHookParts,
): Promise<HookEnd> {
  const { command, isSandboxed, timeoutMs } = hook;
  const { cwd, settings } = place;
  try {
    // Outside of the sandbox a file of the project runs only as it was when the person trusted it.
    const isChecked = isSandboxed || (await listCommandFiles(command, cwd)).length === 0;
    if (!isChecked && !(await settings.checkProjectTrust()))
      return failed("was not run: a file of the project that it runs was changed since you trusted the project.");
    await tau.audit({ kind: "command", name: "hook", command, isSandboxed });
    const result = await tau.exec("bash", ["-c", command], {
      cwd,
      input: JSON.stringify(input),
      env: { CLAUDE_PROJECT_DIR: cwd, TAU_PROJECT_DIR: cwd },
      sandbox: isSandboxed ? "session" : false,
      timeout: timeoutMs,
      maxBuffer: maxOutputBytes,
      ...(signal && { signal }),
    });
    const { stdout, stderr, code } = result;
    if (result.truncated) return failed(`wrote more than ${maxOutputBytes / 1024 / 1024} MB, and was ended.`);
    if (result.killed && signal?.aborted) return failed("was ended with the run.");
    if (result.killed) return failed(`took more than ${timeoutMs / 1_000} seconds, and was ended.`);
    return { kind: "exited", code, stdout, stderr };
  } catch (error) {
    return failed(`could not be run: ${getErrorMessage(error)}`);
  }
}

const failed = (reason: string): HookEnd => ({ kind: "failed", reason });
