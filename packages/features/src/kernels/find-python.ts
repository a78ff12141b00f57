/** Finds the Python that kernels run. */
import { join, resolve } from "node:path";
import { isProgram, listPathDirectories } from "../kit/programs.ts";

interface PythonPlace {
  /** The setting `kernels.python`. */
  setting: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Whether programs of the project may be used. */
  isProjectTrusted: boolean;
  /** Default: whether there is a file that can be executed. */
  exists?: (path: string) => boolean;
}

/** From the setting, `VIRTUAL_ENV`, `.venv`, `venv` or `PATH`, in this order; undefined if there is none. */
export function findPython(place: PythonPlace): string | undefined {
  const { setting, env, cwd, isProjectTrusted, exists = isProgram } = place;
  const paths = listPathDirectories(env["PATH"]);
  const named = setting === undefined ? [] : toCandidates(setting, cwd, paths);
  // A setting that names nothing is not replaced by another Python: its packages would be missing.
  if (setting !== undefined) return named.find(exists);
  const ofProject = isProjectTrusted ? [join(cwd, ".venv"), join(cwd, "venv")] : [];
  const environments = [env["VIRTUAL_ENV"], ...ofProject].filter(
    (path): path is string => path !== undefined && path !== "",
  );
  const inEnvironments = environments.flatMap((path) =>
    ["python3", "python"].map((name) => resolve(cwd, path, "bin", name)),
  );
  return [...inEnvironments, ...paths.map((path) => join(path, "python3"))].find(exists);
}

function toCandidates(setting: string, cwd: string, paths: readonly string[]): string[] {
  return setting.includes("/") ? [resolve(cwd, setting)] : paths.map((path) => join(path, setting));
}
