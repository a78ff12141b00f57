/** Takes back what a run did, or keeps a state, and kills itself before the nth call of the file system. */
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { carryOut, prepareUndo } from "../../src/undo/prepare-undo.ts";
import { openProject } from "../../src/undo/project.ts";

interface Order {
  work: "undo" | "keep";
  cwd: string;
  agentDir: string;
  sessionId: string;
  killAt: number;
}

const { work, cwd, agentDir, sessionId, killAt } = JSON.parse(process.argv[2]!) as Order;
let calls = 0;
let isCounting = false;

function watch(owner: object, names: readonly string[]): void {
  const functions = owner as Record<string, (...args: unknown[]) => unknown>;
  for (const name of names) {
    const original = functions[name]!;
    functions[name] = function (this: unknown, ...args: unknown[]) {
      if (isCounting && ++calls === killAt) process.kill(process.pid, "SIGKILL");
      return original.apply(this, args);
    };
  }
}

watch(promises, ["open", "rename", "unlink", "rmdir", "mkdir", "symlink", "link", "readdir", "writeFile"]);
const handle = await promises.open(join(agentDir, "handle"), "w");
watch(Object.getPrototypeOf(handle) as object, ["writeFile", "write", "sync", "chmod"]);
await handle.close();
syncBuiltinESMExports();

const project = await openProject({ cwd, agentDir, maxFileBytes: 1_000_000 });
await project.alone(async () => {
  if (work === "keep") {
    isCounting = true;
    await project.store.keep();
    return;
  }
  const prepared = await prepareUndo(project, sessionId, { kind: "last" });
  isCounting = true;
  await carryOut(project, sessionId, prepared);
});
process.stdout.write(`${calls}\n`);
